"""Whether a revision moved a program's utilisation profile, and which stressor's part of it."""

from __future__ import annotations

from typing import Self

import numpy as np

from bot.analysis.machines.hardware import Floats, clusters_of, types_of
from bot.analysis.machines.profile import FEWEST

DEALS = 9_999
DRAWS = 400
INTERVAL = (5.0, 95.0)
ALPHA = 0.01


class ProfileComparison:
    """Paired over hardware: does what changed from machine to machine go with what a stressor takes there?

    A change of the same ratio on every machine is no change of the profile, whatever its size. Of the logs
    of head / base on each type of hardware, the largest correlation with the part of the time that a stressor
    can have there is held against that of logs dealt to other hardware (permutation test, largest statistic
    over all stressors: Westfall and Young 1993), so that testing many stressors costs no false alarm. After
    `fit`: `refusal_`, `types_`, `stressors_`, `clusters_`, `probability_` (p-value), `moved_` (column of the
    stressor, None: nothing moved), `grew_` (rather than shrank), `share_` and `interval_` (what was added of
    it, as a share of base's time, from a bootstrap of hardware), `ratio_` (head / base, geometric mean).
    """

    def __init__(self, *, alpha: float = ALPHA, fewest: int = FEWEST) -> None:
        self.alpha = alpha
        self.fewest = fewest

    def fit(self, rates: Floats, base: Floats, head: Floats, *, rng: np.random.Generator) -> Self:
        """rates: (n, n_stressors), NaN: not known. base, head: seconds on the same machines, (n,)."""
        types = types_of(rates)
        self.types_, self.stressors_ = types.members, types.stressors
        self.probability_, self.moved_, self.grew_ = 1.0, None, False
        self.share_, self.interval_, self.refusal_ = 0.0, (0.0, 0.0), ""
        self.ratio_ = float(np.exp(np.log(head / base).mean())) if len(base) else float("nan")
        if len(types.members) < self.fewest or not len(types.stressors):
            self.refusal_ = (
                f"Both revisions ran on {len(types.members)} types of hardware, {self.fewest} are needed."
            )
            return self
        self.clusters_ = clusters_of(types.rates)
        before, after = types.merged(base), types.merged(head)
        # Of both revisions' times: noise of one alone would go with its own change.
        parts = types.work / np.sqrt(before * after)[:, None]
        change = np.log(after / before)
        strength = _correlations(change[None, :], parts)[0]
        dealt = rng.permuted(np.tile(change, (DEALS, 1)), axis=1)
        largest = np.abs(_correlations(dealt, parts)).max(axis=1)
        # What one gains in share others lose: named is one that went the way the time did, if there is one.
        way = 1.0 if self.ratio_ >= 1 else -1.0
        columns = [int((way * strength).argmax()), int(np.abs(strength).argmax())]
        reached = [int(np.sum(largest >= abs(strength[column]) - 1e-12)) for column in columns]
        chances = [(1 + count) / (1 + DEALS) for count in reached]
        self.probability_ = chances[1]
        if self.probability_ <= self.alpha:
            column = columns[0] if chances[0] <= self.alpha and way * strength[columns[0]] > 0 else columns[1]
            self.moved_, self.grew_ = int(types.stressors[column]), bool(strength[column] > 0)
            self._size(after / before - 1, types.work[:, column] / before, rng)
        return self

    def _size(self, change: Floats, part: Floats, rng: np.random.Generator) -> None:
        """What was added: the slope of the change over the part, with what all machines share set aside."""
        mean = float(part.mean())
        weights = rng.dirichlet(np.ones(len(change)), DRAWS)
        slopes = mean * _slopes(change, part, weights)
        self.share_ = float(mean * _slopes(change, part, np.full((1, len(change)), 1 / len(change)))[0])
        low, high = np.percentile(slopes, INTERVAL)
        self.interval_ = (float(low), float(high))


def _correlations(changes: Floats, parts: Floats) -> Floats:
    """Of each row of changes, (k, n), with each column of parts, (n, p); (k, p). What does not vary has 0."""
    rows, columns = changes - changes.mean(axis=1, keepdims=True), parts - parts.mean(axis=0)
    norms = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(columns, axis=0)
    return np.asarray(rows @ columns / np.where(norms > 1e-12, norms, np.inf))


def _slopes(change: Floats, part: Floats, weights: Floats) -> Floats:
    """Weighted least squares with an intercept, for each row of weights, (k, n), that sum to 1; (k,)."""
    means = weights @ part, weights @ change
    covariance = weights @ (part * change) - means[0] * means[1]
    variance = weights @ part**2 - means[0] ** 2
    return np.asarray(covariance / np.maximum(variance, 1e-12))
