"""Learns a model of every method and of the whole program, and judges each on a held-out random probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn import config_context

from bot.analysis.influences.basis import Basis, Columns
from bot.analysis.influences.costs import CostTable, Floats, Quantity, mape, noise_floor, relative_errors
from bot.analysis.influences.levels import probe_rows
from bot.analysis.influences.models import KINDS
from bot.analysis.influences.screening import FULL, Effort, efforts, main_quantity
from bot.analysis.influences.selection import CAP, GOOD, Chosen, choose, rare
from bot.model.space import Configuration

COUNTED, TIMED = ("constant", "small tree", "few factors", "few terms"), ("constant", "small tree")
"""What methods are worth that cost next to nothing: counts may be exact or steps, time is noise or a step."""
PROBE = 0.2
"""Share of the sample that is held out at random when no probe was measured."""
USELESS = 0.25
"""A model with a larger error on the probe, and more than `NOISY` times the noise floor, is not learnt."""
NOISY = 2.0
WORTHLESS = 0.5
"""Whatever the noise: a model with a larger error is not learnt."""
CHUNKS = 8
"""Pieces of work per worker."""


class Predictor(Protocol):
    """Predicts a cost from columns."""

    def predict(self, columns: Columns) -> Floats:
        """Costs, shape (n,)."""
        ...


@dataclass(frozen=True)
class PerCall:
    """Seconds as calls times seconds per call."""

    calls: Predictor
    each: Predictor

    def predict(self, columns: Columns) -> Floats:
        """Seconds, shape (n,)."""
        return self.calls.predict(columns) * self.each.predict(columns)


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
    `quantity_`), `probe_` and `sample_` (cost tables), `basis_`. Runs in the workers of the surrounding
    `joblib.parallel_config`.
    """

    def __init__(
        self, *, rng: np.random.Generator, most: int = FULL, kinds: Sequence[str] = tuple(KINDS)
    ) -> None:
        """`most`: methods that get the choice among all `kinds` (in this order)."""
        self.rng = rng
        self.most = most
        self.kinds = kinds

    def fit(self, costs: CostTable, probe: CostTable | None = None) -> Self:
        """Learns from a sample; without a random probe of its own, a part of the sample is held out."""
        self.sample_, self.probe_ = (costs, probe) if probe is not None else held_out(costs, rng=self.rng)
        self.quantity_ = main_quantity(costs)
        self.basis_ = Basis(costs.space)
        columns = self.basis_.columns(self.sample_.configurations)
        asked = self.basis_.columns(self.probe_.configurations)
        effort = efforts(self.sample_, most=self.most)
        streams = self.rng.spawn(len(costs.methods) + 1)
        means = {q: self.sample_.means(q) for q in costs.quantities}
        total = means[self.quantity_].sum(axis=1)
        tasks = [
            _Task(
                {q: means[q][:, j] for q in means},
                {q: _floor(self.sample_, q, j) for q in means},
                effort=effort[j],
                rng=streams[j],
                kinds=self.kinds,
            )
            for j in range(len(costs.methods))
        ]
        tasks.append(_Task({self.quantity_: total}, {}, effort="full", rng=streams[-1], kinds=self.kinds))
        found = _work(columns, asked, tasks)
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
        method: str | None, quantity: Quantity, *, effort: Effort, runs: Floats, found: _Found | None
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


@dataclass(frozen=True)
class _Task:
    """Costs of one method, shape (n,) each, their noise floors in the sample, and what they are worth."""

    costs: Mapping[Quantity, Floats]
    floors: Mapping[Quantity, float]
    effort: Effort
    rng: np.random.Generator
    kinds: Sequence[str]


@dataclass(frozen=True)
class _Found:
    """A model, its cross-validated error and predictions, those for the probe, the median; see `rare`."""

    kind: str
    model: Predictor
    error: float
    held_out: Floats
    predicted: Floats
    middle: float
    rare: bool


def _kinds(task: _Task, quantity: Quantity) -> Sequence[str]:
    if task.effort == "full":
        return task.kinds
    if task.effort == "none":
        return ("constant",)
    return TIMED if quantity == "seconds" else COUNTED


def _work(columns: Columns, asked: Columns, tasks: Sequence[_Task]) -> list[dict[Quantity, _Found]]:
    """The tasks in pieces, heavy and light ones mixed, on the workers of the surrounding configuration."""
    pieces = max(1, min(len(tasks), CHUNKS * int(effective_n_jobs(None))))
    order: list[NDArray[np.intp]] = [np.arange(k, len(tasks), pieces) for k in range(pieces)]
    results = Parallel()(delayed(_piece)(columns, asked, [tasks[i] for i in part]) for part in order)
    found: list[dict[Quantity, _Found]] = [{} for _ in tasks]
    for part, result in zip(order, results, strict=True):
        for i, one in zip(part, result, strict=True):
            found[i] = one
    return found


def _piece(columns: Columns, asked: Columns, tasks: Sequence[_Task]) -> list[dict[Quantity, _Found]]:
    # Thousands of small fits of checked numbers: checking them again takes longer than some fits.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return [_one(columns, asked, task) for task in tasks]


def _one(columns: Columns, asked: Columns, task: _Task) -> dict[Quantity, _Found]:
    """Models of one method; seconds also as calls times seconds per call, where that predicts better."""
    chosen: dict[Quantity, Chosen] = {}
    for quantity, y in task.costs.items():
        floor = task.floors.get(quantity, float("nan"))
        one = choose(
            columns,
            y,
            kinds=_kinds(task, quantity),
            rng=task.rng,
            floor=floor,
            quick=task.effort != "full",
        )
        if one is not None:
            chosen[quantity] = one
    found: dict[Quantity, _Found] = {}
    for quantity, one in chosen.items():
        y = task.costs[quantity]
        best: tuple[str, Predictor, float, Floats] = (one.kind, one.model, one.error, one.held_out)
        product = None
        if quantity == "seconds" and task.effort == "full" and one.error > GOOD * np.nan_to_num(floor):
            product = _per_call(columns, task, chosen)
        if product is not None:
            best = product
        found[quantity] = _Found(*best, best[1].predict(asked), float(np.nanmedian(y)), rare(y))
    return found


def _per_call(
    columns: Columns, task: _Task, chosen: Mapping[Quantity, Chosen]
) -> tuple[str, Predictor, float, Floats] | None:
    """Kind, model, cross-validated error and predictions of seconds as a product.

    None: there are no calls to build on, or seconds themselves are predicted as well.
    """
    if "calls" not in chosen or chosen["calls"].kind == "constant":
        return None  # then seconds are as hard as seconds per call
    seconds, calls = task.costs["seconds"], task.costs["calls"]
    with np.errstate(invalid="ignore", divide="ignore"):
        each = np.where((calls > 0) & (seconds > 0), seconds / calls, np.nan)
    floor = task.floors.get("seconds", float("nan"))
    one = choose(columns, each, kinds=task.kinds, rng=task.rng, floor=floor)
    if one is None:
        return None
    # Folds differ where a method was not called: there the calls decide alone.
    guess = chosen["calls"].held_out * np.where(np.isfinite(each), one.held_out, 0.0)
    # Both are judged on random folds alone, where both held a configuration out.
    plain = chosen["seconds"].held_out
    both = np.isfinite(seconds) & np.isfinite(guess) & np.isfinite(plain)
    if not both.any():
        return None
    error = _error(seconds[both], guess[both])
    if error >= _error(seconds[both], plain[both]):
        return None
    name = f"calls: {chosen['calls'].kind}; each: {one.kind}"
    return name, PerCall(chosen["calls"].model, one.model), error, guess


def _error(y: Floats, guess: Floats) -> float:
    return float(np.minimum(relative_errors(y, guess), CAP).mean())
