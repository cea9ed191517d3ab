"""Which kind of model a method's cost gets: the best of all kinds by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from bot.analysis.influences.basis import Columns
from bot.analysis.influences.costs import Floats, relative_errors
from bot.analysis.influences.models import Constant, Mean, Model, maker

FOLDS = 5
QUICK_ROWS, QUICK_SAMPLE = 40, 200
"""Configurations held out that are enough to choose a model of a cheap method, and all it learns from."""
ENOUGH_ROWS = 200
"""Configurations held out at random that are enough to choose any model."""
LEVEL_FOLDS = 3
"""Folds that leave out a whole level of a number: designs have few levels, and programs all between them."""
FEWEST, LEAST, SHARE = 10, 5, 0.25
"""A method that was called in fewer configurations than the first gets a model of a simple kind; one in fewer
than the second, or in a smaller share of all, is not learnt: on most of a probe any guess would be right."""
RARE = ("constant", "small tree")
CAP = 3.0
"""Relative error that counts at most, so that one configuration does not choose the model."""
TIE = 1.03
"""A simpler kind wins when its error is at most so many times the best."""
EXACT = 1e-6
GOOD = 1.2
"""Times the noise floor: a model that near it leaves nothing to find for more complex kinds."""
CLOSE = 1.3
"""Kinds whose error is at most so many times the smallest one may be averaged."""
AVERAGED = 4
LOOK, LOOK_ROWS = 2, 50
HOPELESS = 1.5
"""A kind whose error on the first `LOOK` folds, or on one that has `LOOK_ROWS`, is so many times the best
one's is not tried on the others."""


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
            # All kinds agree on where it is called.
            self._switch = DecisionTreeClassifier(criterion="entropy", random_state=0)
            self._switch.fit(columns.values[:, columns.border], active)
        if active.sum() < 3:
            self.model = Constant()
        self.model.fit(columns.rows(np.flatnonzero(active)), y[active], rng=rng)
        return self

    def predict(self, columns: Columns) -> Floats:
        """Costs, shape (n,)."""
        found = self.model.predict(columns)
        if self._switch is not None:
            found = np.where(self._switch.predict(columns.values[:, columns.border]), found, 0.0)
        return found


def rare(y: Floats) -> bool:
    """Whether a method was called in too few configurations to learn from; y: as in `choose`."""
    seen, known = int((y > 0).sum()), int(np.isfinite(y).sum())
    return seen < FEWEST and (seen < LEAST or seen < SHARE * known)


def choose(
    columns: Columns,
    y: Floats,
    *,
    kinds: Sequence[str],
    rng: np.random.Generator,
    floor: float = float("nan"),
    quick: bool = False,
) -> Chosen | None:
    """The kind with the smallest cross-validated error, fitted to all; None: too little is known.

    y: shape (n,), NaN: unknown, 0: not called. floor: relative error that noise alone makes (NaN: unknown).
    At 0 the cost is exact: a kind need not be better than chance, and a mean of kinds would only blur it.
    Folds are random parts, and single levels of numbers; quick: as many random parts as `QUICK_ROWS` need.
    """
    known = np.flatnonzero(np.isfinite(y))
    if quick and len(known) > QUICK_SAMPLE:
        known = np.sort(rng.choice(known, QUICK_SAMPLE, replace=False))
    seen = int((y[known] > 0).sum())
    if len(known) < FEWEST or not seen:
        return None
    kinds = kinds if seen >= FEWEST else [kind for kind in RARE if kind in kinds]
    columns, cost = columns.rows(known), y[known]
    folds = random_folds(len(cost), rng)
    some = -(-(QUICK_ROWS if quick else ENOUGH_ROWS) // max(len(folds[0]), 1))
    levels = [] if quick else level_folds(columns, rng)
    best: _Judged | None = None
    tried: list[_Judged] = []
    enough = max(EXACT, GOOD * float(np.nan_to_num(floor)))
    for kind in kinds:
        judged = _judge(columns, cost, (folds[:some], levels), kind=kind, rng=rng, best=best)
        if judged is not None:
            tried.append(judged)
            best = judged if best is None or judged.beats(best, noisy=floor != 0.0) else best
        if best is not None and best.error < enough:
            break
    if best is None:  # all that is known of it was held out
        return None
    if best.error >= enough and floor != 0.0 and not quick:
        best = _averaged(cost, tried, best)
    everywhere = np.full(len(y), np.nan)
    everywhere[known] = best.held_out(len(known))
    made = [make() for make in best.makes]
    model = Switched(made[0] if len(made) == 1 else Mean(made)).fit(columns, cost, rng=rng)
    return Chosen(" + ".join(best.kinds), model, best.error, everywhere)


@dataclass(frozen=True)
class _Judged:
    """Predictions of one or several kinds for all folds; their errors and weights, shape (n_guesses,).

    rows: the row of each prediction. random: how many of them, the first ones, are of random folds.
    """

    kinds: tuple[str, ...]
    makes: tuple[Callable[[], Model], ...]
    rows: NDArray[np.intp]
    guesses: Floats
    random: int
    errors: Floats
    weights: Floats

    @property
    def error(self) -> float:
        """Mean relative error, in which both sorts of folds weigh the same."""
        return float(self.weights @ self.errors)

    def held_out(self, count: int) -> Floats:
        """Predictions of the random folds by row, shape (count,); NaN: in none."""
        found = np.full(count, np.nan)
        found[self.rows[: self.random]] = self.guesses[: self.random]
        return found

    def beats(self, simpler: _Judged, *, noisy: bool) -> bool:
        """Whether it is better than a simpler kind by more than a tie and, of noisy costs, than chance."""
        gains = simpler.errors - self.errors
        gain = float(self.weights @ gains)
        chance = float(np.sqrt((self.weights**2) @ (gains - gain) ** 2))
        return gain > max((TIE - 1.0) * self.error, chance if noisy else 0.0)


def _judge(
    columns: Columns,
    y: Floats,
    folds: tuple[Sequence[NDArray[np.intp]], Sequence[NDArray[np.intp]]],
    *,
    kind: str,
    rng: np.random.Generator,
    best: _Judged | None,
) -> _Judged | None:
    """Errors of a kind on all folds, random ones and levels.

    None: it is far from the best, or no fold is left to learn from.
    """
    active = np.flatnonzero(y > 0)
    make = maker(kind, columns.rows(active), y[active], rng=rng)
    places: list[NDArray[np.intp]] = []
    guesses: list[Floats] = []
    random = 0
    look = 1 if len(folds[0][0]) >= LOOK_ROWS else LOOK
    for i, held in enumerate([*folds[0], *folds[1]]):
        train = np.setdiff1d(np.arange(len(y)), held)
        if not (y[train] > 0).any():
            continue
        places.append(held)
        guesses.append(
            Switched(make()).fit(columns.rows(train), y[train], rng=rng).predict(columns.rows(held))
        )
        random += len(held) if i < len(folds[0]) else 0
        if i + 1 == look and best is not None:
            seen = np.minimum(relative_errors(y[np.concatenate(places)], np.concatenate(guesses)), CAP)
            if seen.mean() > HOPELESS * best.errors[: len(seen)].mean():
                return None
    if not places:
        return None
    return _scored(y, (kind,), (make,), np.concatenate(places), np.concatenate(guesses), random)


def _scored(
    y: Floats,
    kinds: tuple[str, ...],
    makes: tuple[Callable[[], Model], ...],
    places: NDArray[np.intp],
    guesses: Floats,
    random: int,
) -> _Judged:
    """Both sorts of folds weigh the same, if there are both."""
    sizes = [size for size in (random, len(places) - random) if size]
    weights = np.repeat([1.0 / (size * len(sizes)) for size in sizes], sizes)
    errors = [
        np.minimum(relative_errors(y[part], guess), CAP)
        for part, guess in zip(np.split(places, [random]), np.split(guesses, [random]), strict=True)
        if len(part)
    ]
    return _Judged(kinds, makes, places, guesses, random, np.concatenate(errors), weights)


def _averaged(y: Floats, tried: Sequence[_Judged], best: _Judged) -> _Judged:
    """The mean of the kinds that predict about as well, when that predicts better than the best of them.

    Where noise, or too few configurations, leave it open which kind is right, each errs in its own way
    (Breiman, Stacked regressions, 1996; equal weights: a few dozen errors cannot tell better ones).
    """
    order = sorted(tried, key=lambda one: one.error)[:AVERAGED]
    for count in range(len(order), 1, -1):
        members = [one for one in order[:count] if one.error <= CLOSE * order[0].error]
        if len(members) < count:
            continue
        kinds = tuple(one.kinds[0] for one in members)
        makes = tuple(one.makes[0] for one in members)
        guess = np.mean([one.guesses for one in members], axis=0)
        blend = _scored(y, kinds, makes, best.rows, guess, best.random)
        if blend.error * TIE < best.error:
            return blend
    return best


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
