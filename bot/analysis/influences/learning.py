"""Learns a model of every method and of the whole program, and judges each on a held-out random probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from bot.analysis.influences.basis import Basis
from bot.analysis.influences.costs import CostTable, Floats, Quantity, mape, noise_floor
from bot.analysis.influences.fitting import Found, Left, Predictor, Task, unlimited, work
from bot.analysis.influences.levels import probe_rows
from bot.analysis.influences.models import KINDS
from bot.analysis.influences.screening import FULL, Effort, efforts, main_quantity
from bot.model.space import Configuration

PROBE = 0.2
"""Share of the sample that is held out at random when no probe was measured."""
USELESS = 0.25
"""A model with a larger error on the probe, and more than `NOISY` times the noise floor, is not learnt."""
NOISY = 2.0
WORTHLESS = 0.5
"""Whatever the noise: a model with a larger error is not learnt."""


@dataclass(frozen=True)
class Learnt:
    """What was learnt of one cost of a method (None: the whole program).

    error: mean relative error on the probe, beside the noise floor that a perfect model would show there;
    NaN: not known. cross_validated: the same within the sample, which is optimistic. plain: the probe error
    of the median. rare: it has a cost in so few configurations of the
    sample that the model is no more than a guess; without any there is none (model None). held_out: what
    models predicted that had not seen the configuration, shape (n_sample,), NaN: none did; of few methods.
    """

    method: str | None
    quantity: Quantity
    effort: Effort
    kind: str
    model: Predictor | None
    error: float
    noise_floor: float
    cross_validated: float
    plain: float
    rare: bool
    held_out: Floats | None = None

    @property
    def state(self) -> Literal["learnt", "not learnt", "too rare"]:
        """Whether the model may be used: its probe error is small, or not far above noise, and no guess."""
        if self.model is None or self.rare:
            return "too rare"
        limit = min(max(USELESS, NOISY * np.nan_to_num(self.noise_floor)), WORTHLESS)
        return "learnt" if self.error <= limit else "not learnt"


class InfluenceModels:
    """Influence models of all methods, each of the kind that cross-validation prefers.

    After `fit`: `models_` (quantity -> one `Learnt` per method), `system_` (of the sum over methods of
    `quantity_`), `probe_` and `sample_` (cost tables), `basis_`, `skipped_` (methods that are worth a full
    choice, and there was no time for it). Runs in the workers of the surrounding `joblib.parallel_config`.
    """

    def __init__(
        self,
        *,
        rng: np.random.Generator,
        most: int = FULL,
        kinds: Sequence[str] = tuple(KINDS),
        others: bool = True,
        left: Left = unlimited,
    ) -> None:
        """`most`: methods that get the choice among all `kinds` (in this order); `left`: for all of it.

        `others`: whether all other methods that vary get quick models, else they are taken for constant.
        """
        self.rng = rng
        self.most = most
        self.kinds = kinds
        self.others = others
        self.left = left

    def fit(self, costs: CostTable, probe: CostTable | None = None) -> Self:
        """Learns from a sample; without a random probe of its own, a part of the sample is held out."""
        self.sample_, self.probe_ = (costs, probe) if probe is not None else held_out(costs, rng=self.rng)
        self.quantity_ = main_quantity(costs)
        self.basis_ = Basis(costs.space)
        columns = self.basis_.columns(self.sample_.configurations)
        asked = self.basis_.columns(self.probe_.configurations)
        worth = efforts(self.sample_, most=self.most)
        effort: list[Effort] = [e if self.others or e == "full" else "none" for e in worth]
        streams = self.rng.spawn(len(costs.methods) + 1)
        means = {q: self.sample_.means(q) for q in costs.quantities}
        total = means[self.quantity_].sum(axis=1)
        tasks = [
            Task(
                {q: means[q][:, j] for q in means},
                {q: _floor(self.sample_, q, j) for q in means},
                effort=effort[j],
                rng=streams[j],
                kinds=self.kinds,
            )
            for j in range(len(costs.methods))
        ]
        tasks.append(Task({self.quantity_: total}, {}, effort="full", rng=streams[-1], kinds=self.kinds))
        done = work(columns, asked, tasks, self.left)
        self.skipped_ = tuple(
            m for j, m in enumerate(costs.methods) if done[j] is None and effort[j] == "full"
        )
        effort = ["none" if one is None else e for e, one in zip(effort, done, strict=False)]
        found = [one or {} for one in done]
        self.models_: dict[Quantity, tuple[Learnt, ...]] = {
            q: tuple(
                self._judged(m, q, effort=effort[j], runs=self.probe_.runs(q, j), found=found[j].get(q))
                for j, m in enumerate(costs.methods)
            )
            for q in costs.quantities
        }
        runs = np.sum([self.probe_.runs(self.quantity_, j) for j in range(len(costs.methods))], axis=0)
        self.system_ = self._judged(
            None, self.quantity_, effort="full", runs=runs, found=found[-1].get(self.quantity_)
        )
        return self

    def predict(self, configurations: Sequence[Configuration], quantity: Quantity) -> Floats:
        """Predicted costs, shape (n_configurations, n_methods); NaN: too rare."""
        columns = self.basis_.columns(configurations)
        result = np.full((len(configurations), len(self.models_[quantity])), np.nan)
        for j, learnt in enumerate(self.models_[quantity]):
            if learnt.model is not None:
                result[:, j] = learnt.model.predict(columns)
        return result

    @staticmethod
    def _judged(
        method: str | None, quantity: Quantity, *, effort: Effort, runs: Floats, found: Found | None
    ) -> Learnt:
        floor = noise_floor(runs)
        if found is None:
            nothing = float("nan")
            return Learnt(method, quantity, effort, "none", None, nothing, floor, nothing, nothing, True)
        known = np.isfinite(runs)
        with np.errstate(invalid="ignore"):
            truth = np.nansum(runs, axis=1) / known.sum(axis=1)
        error, plain = mape(truth, found.predicted), mape(truth, np.full(len(truth), found.middle))
        return Learnt(
            method,
            quantity,
            effort,
            found.kind,
            found.model,
            error,
            floor,
            found.error,
            plain,
            found.rare,
            found.held_out if effort == "full" else None,
        )


def _floor(sample: CostTable, quantity: Quantity, method: int) -> float:
    """Counts are exact until repetitions say otherwise; how noisy unrepeated seconds are, nobody knows."""
    found = noise_floor(sample.runs(quantity, method))
    return 0.0 if quantity != "seconds" and np.isnan(found) else found


def held_out(costs: CostTable, *, rng: np.random.Generator) -> tuple[CostTable, CostTable]:
    """A sample and a random probe of `PROBE` of its configurations."""
    everything = np.arange(len(costs.configurations))
    probe = probe_rows(costs.space, costs.configurations, max(1, round(PROBE * len(everything))), rng=rng)
    return costs.select(np.setdiff1d(everything, probe)), costs.select(probe)
