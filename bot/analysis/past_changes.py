"""Changes that earlier runs show: steps over the revisions of a line, and the terms that carry them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.candidates import Candidates
from bot.analysis.hindsight import Condensed, Ints
from bot.analysis.pairs import Floats
from bot.model.space import Term

PROVEN = 8.0
"""Log posterior odds of a step, besides the number of places it could be at."""
SIZE = 0.1
"""Standard deviation of a step's size beforehand (log ratio)."""
MOST = 24
"""Steps looked for at most, the clearest first: so many teach all that a prior can use."""
PLACES = 200
"""Only the newest so many measured revisions are searched."""
UNEVEN, NEAR = 0.4, 1
"""Within so many places of a step a further one is believed from this share of it on: effects are uneven."""
CHUNK = 2000
"""Groups looked at at once, to bound memory."""
CALMED, CALMER = 4, 0.8
"""So often what the changes found leave is looked at again, when it varies by so much less than thought."""
ASTRAY = 3
"""Places by which a change that trials alone place may be off what nights asked about."""
KEPT = 0.02
"""Terms that carry a step with a smaller probability are left out."""


@dataclass(frozen=True)
class PastChange:
    """A step that history shows.

    place: of the first measured revision that has it; before: of the last measured one that has not.
    size: log ratio. shares: probability of each term to carry it.
    """

    place: int
    before: int
    size: float
    shares: Mapping[Term, float]

    @property
    def term(self) -> Term:
        """The likeliest term."""
        return max(self.shares, key=lambda term: self.shares[term], default=())


@dataclass(frozen=True)
class NamedChanges:
    """Changes that nights named by asking which terms they are of."""

    changes: tuple[PastChange, ...]

    def among(self, others: Sequence[PastChange]) -> tuple[PastChange, ...]:
        """These, and of others those that are near none of them, in order of place.

        What a night left unclear, or no night looked at, the trials may know all the same.
        """
        besides = [c for c in others if not any(_near(c, known) for known in self.changes)]
        return tuple(sorted([*self.changes, *besides], key=lambda change: change.place))


def _near(one: PastChange, other: PastChange) -> bool:
    return one.before - ASTRAY < other.place and other.before < one.place + ASTRAY


@dataclass
class _Step:
    row: int
    column: int
    size: float = 0.0


def past_changes(past: Condensed, found: Candidates) -> tuple[PastChange, ...]:
    """All steps that stand out, in order of place; `found`: candidates over `past.configurations`.

    Matching pursuit over (term, place): the step with the largest posterior odds (normal prior of its size)
    joins until none is proven, and all sizes are fitted together; a configuration's level in a run is free.
    What is found may have passed for noise: without it smaller steps stand out, and are looked for.
    """
    if not len(past):
        return ()
    search = _searched(past, found)
    for _ in range(CALMED):
        calmer = past.calmed(search.left)
        if calmer.excess > CALMER * past.excess:
            break
        past = calmer
        search = _searched(past, found)
    return tuple(search.told(step) for step in sorted(search.steps, key=lambda s: s.column))


def _searched(past: Condensed, found: Candidates) -> _Search:
    search = _Search(past, found)
    for _ in range(MOST):
        score = search.score(None, search.places)
        for step in search.steps:  # what is left of an uneven step is no step
            near = slice(max(step.column - NEAR, 0), step.column + NEAR + 1)
            score[:, near][np.abs(search.sizes[:, near]) < UNEVEN * abs(step.size)] = -np.inf
            score[step.row, step.column] = -np.inf
        row, column = np.unravel_index(int(np.argmax(score)), score.shape) if score.size else (0, 0)
        if not score.size or score[row, column] < PROVEN:
            break
        search.steps.append(_Step(int(row), int(column)))
        search.merge(int(column))
        search.fit()
    search.prune()
    return search


class _Search:
    """The sum of steps so far and what it leaves."""

    def __init__(self, past: Condensed, found: Candidates) -> None:
        self.past = past
        self.steps: list[_Step] = []
        # A quirk of one configuration says nothing of an option.
        told = [k for k, kind in enumerate(found.kinds) if kind != "configuration"]
        self._groups = [found.groups[k] for k in told]
        self._prior = found.prior[told]
        self._covers = found.covers[told].astype(np.float64)
        self._weight = 1.0 / past.variance
        self._revisions = np.unique(past.place)
        self.places = self._revisions[1:][-PLACES:]
        order = np.argsort(past.group, kind="stable")
        _, start = np.unique(past.group[order], return_index=True)
        self._chunks = np.split(order, start[CHUNK::CHUNK])
        _, self._group = np.unique(past.group, return_inverse=True)
        self._total = np.bincount(self._group, self._weight)
        self.sizes: Floats = np.zeros((len(told), len(self.places)))

    @property
    def left(self) -> Floats:
        """The values without the steps, (n,)."""
        taken = sum((step.size * self._on(step) for step in self.steps), np.zeros(len(self.past)))
        left: Floats = self.past.value - taken
        return left

    def score(self, without: _Step | None, places: Ints) -> Floats:
        """Log posterior odds of one more step, (n_terms, n_places), the others but one taken out.

        For the rows that hold a term: moment N and information V give the log Bayes factor
        N^2 / (V + p) / 2 - log(1 + V / p) / 2 with the prior precision p.
        """
        kept = [step for step in self.steps if step is not without]
        left = self._centred(
            self.past.value - sum((s.size * self._on(s) for s in kept), np.zeros(len(self.past)))
        )
        n = len(self.past.configurations)
        moment, information = np.zeros((2, n, len(places)))
        for rows in self._chunks:
            self._add(rows, left, places, (moment, information))
        m, v = self._covers @ moment, self._covers @ information
        precision = SIZE**-2.0
        self.sizes = m / (v + precision)
        gain = 0.5 * m * self.sizes - 0.5 * np.log1p(v / precision)
        score: Floats = gain + np.log(self._prior)[:, None] - math.log(max(len(self.places), 1))
        return score

    def fit(self) -> None:
        """Weighted least squares of all sizes."""
        x = np.stack([self._centred(self._on(step)) for step in self.steps], axis=1)
        heavy = x * self._weight[:, None]
        gram = heavy.T @ x + SIZE**-2.0 * np.eye(len(self.steps))
        sizes = np.linalg.solve(gram, heavy.T @ self._centred(self.past.value))
        for step, size in zip(self.steps, sizes, strict=True):
            step.size = float(size)

    def merge(self, column: int) -> None:
        """One step instead of the last two at a place where it explains as much: `a` and `!a` are all."""
        here = [step for step in self.steps if step.column == column][-2:]
        if len(here) < 2:
            return
        place = self.places[[column]]
        others = [step for step in self.steps if step not in here]
        self.steps = [*others, here[0]]
        self.fit()
        both = float(self.score(None, place)[here[1].row, 0])
        self.steps = others
        if others:
            self.fit()
        alone = self.score(None, place)[:, 0]
        both += float(alone[here[0].row])
        best = int(np.argmax(alone))
        self.steps = [*others, _Step(best, column)] if alone[best] >= both else [*others, *here]

    def prune(self) -> None:
        """Takes out, the weakest first, what the other steps explain as well."""
        while self.steps:
            odds = [self.score(step, self.places[[step.column]])[step.row, 0] for step in self.steps]
            weakest = int(np.argmin(odds))
            if odds[weakest] >= PROVEN:
                return
            del self.steps[weakest]
            if self.steps:
                self.fit()

    def told(self, step: _Step) -> PastChange:
        """A step with the posterior of its term at its place."""
        score = self.score(step, self.places[[step.column]])[:, 0]
        chance = np.exp(score - score.max())
        chance /= chance.sum()
        shares: dict[Term, float] = {}
        for k in np.flatnonzero(chance >= KEPT):
            group = self._groups[int(k)]
            for term, mass in zip(group.terms, group.masses, strict=True):
                shares[term] = float(chance[k] * mass / self._prior[k])
        place = int(self.places[step.column])
        before = int(self._revisions[np.searchsorted(self._revisions, place) - 1])
        return PastChange(place, before, step.size, shares)

    def _on(self, step: _Step) -> Floats:
        """1 where a step has happened, (n,)."""
        held = self._covers[step.row, self.past.configuration]
        on: Floats = held * (self.past.place >= self.places[step.column])
        return on

    def _centred(self, values: Floats) -> Floats:
        """Values without their group's weighted mean."""
        mean = np.bincount(self._group, self._weight * values) / self._total
        centred: Floats = values - mean[self._group]
        return centred

    def _add(self, rows: Ints, left: Floats, places: Ints, sums: tuple[Floats, Floats]) -> None:
        """Adds some groups' moments and informations of a step at each place to their configurations."""
        _, first, local = np.unique(self._group[rows], return_index=True, return_inverse=True)
        bins = np.searchsorted(places, self.past.place[rows], side="right")
        shape = (len(first), len(places) + 1)
        w, v = np.zeros(shape), np.zeros(shape)
        np.add.at(w, (local, bins), self._weight[rows])
        np.add.at(v, (local, bins), self._weight[rows] * left[rows])
        after = w[:, ::-1].cumsum(axis=1)[:, ::-1]
        own = after[:, 1:] * (after[:, :1] - after[:, 1:]) / after[:, :1]
        home = self.past.configuration[rows[first]]
        np.add.at(sums[0], home, v[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:])
        np.add.at(sums[1], home, own)
