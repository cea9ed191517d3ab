"""Which kind of model a method's cost gets: the best of all kinds by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from bot.analysis.influences.basis import Columns
from bot.analysis.influences.costs import Floats, relative_errors
from bot.analysis.influences.models import KINDS, Constant, Model, maker

FOLDS = 5
LEVEL_FOLDS = 3
"""Folds that leave out a whole level of a number: designs have few levels, and programs all between them."""
FEWEST = 10
"""A method that was called in fewer configurations is not learnt: where it was, it costs the median."""
CAP = 3.0
"""Relative error that counts at most, so that one configuration does not choose the model."""
TIE = 1.03
"""A simpler kind wins when its error is at most so many times the best."""
EXACT = 1e-6
GOOD = 1.2
"""Times the noise floor: a model that near it leaves nothing to find for more complex kinds."""
LOOK = 2
HOPELESS = 1.5
"""A kind whose error on the first `LOOK` folds is so many times the best one's is not tried on the others."""


@dataclass(frozen=True)
class Chosen:
    """A fitted model of one cost. kind: its name. error: cross-validated mean relative error.

    held_out: predictions of models that had not seen the configuration, shape (n,); NaN: unknown cost.
    """

    kind: str
    model: Switched
    error: float
    held_out: Floats


class Switched:
    """A model of positive costs behind a tree that tells in which configurations there is a cost at all."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Switched:
        """Costs of shape (n,), 0: not called."""
        active = y > 0
        self._switch: DecisionTreeClassifier | None = None
        if not active.all():
            self._switch = DecisionTreeClassifier(random_state=int(rng.integers(2**31)))
            self._switch.fit(columns.values, active)
        if active.sum() < 3:
            self.model = Constant()
        self.model.fit(rows(columns, np.flatnonzero(active)), y[active], rng=rng)
        return self

    def predict(self, columns: Columns) -> Floats:
        """Costs, shape (n,)."""
        found = self.model.predict(columns)
        if self._switch is not None:
            found = np.where(self._switch.predict(columns.values), found, 0.0)
        return found


def rows(columns: Columns, which: NDArray[np.intp]) -> Columns:
    """The same columns of some configurations."""
    return Columns(columns.values[which], columns.owner, columns.smooth)


def choose(
    columns: Columns,
    y: Floats,
    *,
    kinds: Sequence[str],
    rng: np.random.Generator,
    floor: float = 0.0,
    quick: bool = False,
) -> Chosen | None:
    """The kind with the smallest cross-validated error, fitted to all; None: too little is known.

    y: shape (n,), NaN: unknown, 0: not called. floor: relative error that noise alone makes (NaN: unknown).
    Folds are random parts, and single levels of numbers; quick: one random part only.
    """
    known = np.flatnonzero(np.isfinite(y))
    seen = int((y[known] > 0).sum())
    if len(known) < FEWEST or not seen:
        return None
    kinds = kinds if seen >= FEWEST else ["constant"]
    columns, cost = rows(columns, known), y[known]
    folds = random_folds(len(cost), rng)
    folds = folds[:1] if quick else folds + level_folds(columns, rng)
    best: _Judged | None = None
    for kind in kinds:
        judged = _judge(columns, cost, folds, kind=kind, rng=rng, best=best)
        if judged is not None and (best is None or judged.beats(best)):
            best = judged
        if best is not None and best.error < max(EXACT, GOOD * np.nan_to_num(floor)):
            break
    if best is None:  # all that is known of it was held out
        return None
    everywhere = np.full(len(y), np.nan)
    everywhere[known] = best.held_out
    model = Switched(KINDS[best.kind]()).fit(columns, cost, rng=rng)
    return Chosen(best.kind, model, best.error, everywhere)


@dataclass(frozen=True)
class _Judged:
    """Predictions of the random folds; relative errors of all folds and their weights, shape (n_errors,)."""

    kind: str
    held_out: Floats
    errors: Floats
    weights: Floats

    @property
    def error(self) -> float:
        """Mean relative error, in which both sorts of folds weigh the same."""
        return float(self.weights @ self.errors)

    def beats(self, simpler: _Judged) -> bool:
        """Whether it is better than a simpler kind by more than a tie and than the chance of these folds."""
        gains = simpler.errors - self.errors
        gain = float(self.weights @ gains)
        chance = float(np.sqrt((self.weights**2) @ (gains - gain) ** 2))
        return gain > max((TIE - 1.0) * self.error, chance)


def _judge(
    columns: Columns,
    y: Floats,
    folds: Sequence[NDArray[np.intp]],
    *,
    kind: str,
    rng: np.random.Generator,
    best: _Judged | None,
) -> _Judged | None:
    """Errors of a kind on all folds; None: it is far from the best, or no fold is left to learn from."""
    active = np.flatnonzero(y > 0)
    make = maker(kind, rows(columns, active), y[active], rng=rng)
    held_out = np.full(len(y), np.nan)
    errors: list[list[Floats]] = [[], []]
    for i, held in enumerate(folds):
        train = np.setdiff1d(np.arange(len(y)), held)
        if not (y[train] > 0).any():
            continue
        found = Switched(make()).fit(rows(columns, train), y[train], rng=rng).predict(rows(columns, held))
        if i < FOLDS:
            held_out[held] = found
        errors[i >= FOLDS].append(np.minimum(relative_errors(y[held], found), CAP))
        if i + 1 == LOOK and best is not None:
            seen = np.concatenate(errors[0])
            if seen.mean() > HOPELESS * best.errors[: len(seen)].mean():
                return None
    sorts = [np.concatenate(e) for e in errors if e]
    if not sorts:
        return None
    weights = [np.full(len(e), 1.0 / (len(e) * len(sorts))) for e in sorts]
    return _Judged(kind, held_out, np.concatenate(sorts), np.concatenate(weights))


def random_folds(count: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Rows of `FOLDS` random parts."""
    return list(np.array_split(rng.permutation(count), FOLDS))


def level_folds(columns: Columns, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Rows at one inner level each of some number, at most `LEVEL_FOLDS`, drawn among all of them."""
    found: list[NDArray[np.intp]] = []
    for owner in np.unique(columns.owner):
        column = columns.values[:, np.flatnonzero(columns.owner == owner)[0]]
        levels = np.unique(column)
        if len(levels) < 4 or (columns.owner == owner).sum() == 1:
            continue
        found += [np.flatnonzero(column == level) for level in levels[1:-1]]
    # A level of a random sample is a single row or two: nothing that random folds would not do.
    found = [f for f in found if 3 <= len(f) <= len(columns.values) // 2]
    order = rng.permutation(len(found))[:LEVEL_FOLDS]
    return [found[k] for k in order]
