"""Utilisation profile: the shares of a program's time that go with each stressor, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from bot.analysis.machines.hardware import Floats, clusters_of, types_of
from bot.analysis.machines.pursuit import pursue

FEWEST = 9
"""Types of hardware from which on known profiles are found."""
MOST_ERROR = 0.15
"""Mean relative error on hardware that was left out; beyond it there is no profile."""
DRAWS = 200
INTERVAL = (5.0, 95.0)


class UtilisationProfile:
    """Non-negative least squares of relative times on the time of an operation of each stressor.

    Time adds up: a program that spends shares of its time as stressors do takes, on every machine, the sum of
    what these take there. After `fit`: `refusal_` (empty: there is a profile), `fitting_`, `types_` (members
    of each type of hardware), `stressors_` (columns that were used), `clusters_` (code of each of these),
    `shares_` and `selected_` (of each of these: share of the time, and in how many draws it has one),
    `cluster_shares_`, `intervals_` (of each cluster's share, (n_clusters, 2)), `error_` (leave-one-hardware-
    out), `own_error_` (on the hardware it was learnt from) and `flat_error_` (of "as long on every machine").
    """

    def __init__(self, *, fewest: int = FEWEST, draws: int = DRAWS) -> None:
        self.fewest = fewest
        self.draws = draws

    def fit(self, rates: Floats, seconds: Floats, *, rng: np.random.Generator) -> Self:
        """Learns from rates, (n, n_stressors), NaN: not known, and the program's seconds, (n,), positive."""
        types = types_of(rates)
        self.types_: Sequence[NDArray[np.int64]] = types.members
        self.stressors_, self.dropped_ = types.stressors, types.dropped
        count = len(types.stressors)
        self.shares_, self.selected_ = np.zeros(count), np.zeros(count)
        self.clusters_ = np.arange(count)
        self.error_ = self.own_error_ = self.flat_error_ = float("nan")
        self.fitting_: Literal["", "under", "over"] = ""
        self.cluster_shares_, self.intervals_ = np.zeros(count), np.zeros((count, 2))
        self.refusal_ = ""
        if len(types.members) < self.fewest or not count:
            self.refusal_ = (
                f"{len(types.members)} types of hardware are known, {self.fewest} are needed: with fewer,"
                " stressors cannot be told apart."
            )
            return self
        self.clusters_ = clusters_of(types.rates)
        self._learn(types.work, types.merged(seconds), rng)
        return self

    def _learn(self, work: Floats, seconds: Floats, rng: np.random.Generator) -> None:
        coefficients = pursue(work, seconds)
        self.shares_ = _shares(work, coefficients)
        self.own_error_ = float(np.mean(np.abs(work @ coefficients / seconds - 1)))
        self.error_ = _left_out(work, seconds)
        flat = np.exp(np.log(seconds).mean())
        self.flat_error_ = float(np.mean(np.abs(flat / seconds - 1)))
        draws = rng.dirichlet(np.ones(len(seconds)), self.draws) * len(seconds)  # Rubin's bootstrap (1981)
        drawn = np.array([_shares(work, pursue(work, seconds, weights)) for weights in draws])
        self.selected_ = (drawn > 0).mean(axis=0)
        self.cluster_shares_ = summed(self.shares_, self.clusters_)
        self.intervals_ = np.percentile(summed(drawn, self.clusters_), INTERVAL, axis=0).T
        self.refusal_ = self._doubt()

    def _doubt(self) -> str:
        """Why the shares mean nothing; empty: they do."""
        told = f"{100 * self.error_:.0f} %"
        if self.flat_error_ <= min(self.error_, MOST_ERROR):
            self.fitting_ = "under"
            return (
                "That the program takes as long on every machine is a better description than any profile"
                f" (errors of {100 * self.flat_error_:.0f} and {told})."
            )
        if self.error_ > MOST_ERROR:
            self.fitting_ = "under" if self.own_error_ > MOST_ERROR else "over"
            why = (
                "no sum of stressors describes its times"
                if self.fitting_ == "under"
                else f"it fits the machines it was learnt from ({100 * self.own_error_:.0f} %), and no other"
            )
            return f"On hardware that was left out the profile errs by {told}: {why}."
        return ""


def summed(shares: Floats, codes: NDArray[np.int64]) -> Floats:
    """Shares, (..., n_stressors), added up by code, (..., n_codes)."""
    members = codes[:, None] == np.arange(codes.max(initial=-1) + 1)
    return np.asarray(shares @ members)


def _shares(work: Floats, coefficients: Floats) -> Floats:
    spent = coefficients * work.mean(axis=0)
    return np.asarray(spent / max(spent.sum(), 1e-300))


def _left_out(work: Floats, seconds: Floats) -> float:
    """Mean relative error on each type of hardware, of a profile learnt from the others."""
    errors = []
    for out in range(len(seconds)):
        rest = np.arange(len(seconds)) != out
        errors.append(abs(work[out] @ pursue(work[rest], seconds[rest]) / seconds[out] - 1))
    return float(np.mean(errors))
