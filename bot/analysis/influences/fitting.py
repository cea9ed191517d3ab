"""Fits models to the costs of many methods on workers, the costliest first, as far as the time goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn import config_context

from bot.analysis.influences.basis import Columns
from bot.analysis.influences.costs import Floats, Quantity, relative_errors
from bot.analysis.influences.screening import Effort
from bot.analysis.influences.selection import CAP, GOOD, Chosen, choose, rare

COUNTED, TIMED = ("constant", "small tree", "few factors", "few terms"), ("constant", "small tree")
"""What methods are worth that cost next to nothing: counts may be exact or steps, time is noise or a step."""
CHUNKS = 8
"""Pieces of work per worker."""
BATCH = 0.1
"""Of the time that is left, what is learnt before one looks again how much that is. Arbitrary."""
Left: TypeAlias = Callable[[], float]
"""Seconds that are left."""


def unlimited() -> float:
    """There is all the time of the world."""
    return math.inf


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
class Task:
    """Costs of one method, shape (n,) each, their noise floors in the sample, and what they are worth."""

    costs: Mapping[Quantity, Floats]
    floors: Mapping[Quantity, float]
    effort: Effort
    rng: np.random.Generator
    kinds: Sequence[str]


@dataclass(frozen=True)
class Found:
    """A model, its cross-validated error and predictions, those for the probe, the median; see `rare`."""

    kind: str
    model: Predictor
    error: float
    held_out: Floats
    predicted: Floats
    middle: float
    rare: bool


def _kinds(task: Task, quantity: Quantity) -> Sequence[str]:
    if task.effort == "full":
        return task.kinds
    if task.effort == "none":
        return ("constant",)
    return TIMED if quantity == "seconds" else COUNTED


def work(
    columns: Columns, asked: Columns, tasks: Sequence[Task], left: Left
) -> list[dict[Quantity, Found] | None]:
    """What there is time for: the last task (the program), then costly methods; None: there was none.

    The first tasks are done in any case.
    """
    jobs = max(1, int(effective_n_jobs(None)))
    before = left()
    if math.isinf(before):
        return [*_in_pieces(columns, asked, tasks, jobs)]
    rank: tuple[Effort, ...] = ("full", "cheap", "none")
    order = sorted(range(len(tasks)), key=lambda i: (i != len(tasks) - 1, rank.index(tasks[i].effort)))
    found: list[dict[Quantity, Found] | None] = [None] * len(tasks)
    size = jobs
    while order:
        batch, order = order[:size], order[size:]
        for i, one in zip(batch, _in_pieces(columns, asked, [tasks[i] for i in batch], jobs), strict=True):
            found[i] = one
        if not order or (now := left()) <= 0.0:
            break
        size = max(jobs, min(2 * size, int(size * BATCH * now / max(before - now, 1e-3))))
        before = now
    return found


def _in_pieces(
    columns: Columns, asked: Columns, tasks: Sequence[Task], jobs: int
) -> list[dict[Quantity, Found]]:
    """The tasks in pieces, heavy and light ones mixed, on the workers of the surrounding configuration."""
    pieces = max(1, min(len(tasks), CHUNKS * jobs))
    order: list[NDArray[np.intp]] = [np.arange(k, len(tasks), pieces) for k in range(pieces)]
    results = Parallel()(delayed(_piece)(columns, asked, [tasks[i] for i in part]) for part in order)
    found: list[dict[Quantity, Found]] = [{} for _ in tasks]
    for part, result in zip(order, results, strict=True):
        for i, one in zip(part, result, strict=True):
            found[i] = one
    return found


def _piece(columns: Columns, asked: Columns, tasks: Sequence[Task]) -> list[dict[Quantity, Found]]:
    # Thousands of small fits of checked numbers: checking them again takes longer than some fits.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return [_one(columns, asked, task) for task in tasks]


def _one(columns: Columns, asked: Columns, task: Task) -> dict[Quantity, Found]:
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
    found: dict[Quantity, Found] = {}
    for quantity, one in chosen.items():
        y = task.costs[quantity]
        best: tuple[str, Predictor, float, Floats] = (one.kind, one.model, one.error, one.held_out)
        product = None
        if quantity == "seconds" and task.effort == "full" and one.error > GOOD * np.nan_to_num(floor):
            product = _per_call(columns, task, chosen)
        if product is not None:
            best = product
        found[quantity] = Found(*best, best[1].predict(asked), float(np.nanmedian(y)), rare(y))
    return found


def _per_call(
    columns: Columns, task: Task, chosen: Mapping[Quantity, Chosen]
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
