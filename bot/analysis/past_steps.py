"""Steps over the revisions of a line: matching pursuit over terms and places, and what it lets expect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.candidates import Candidates
from bot.analysis.hindsight import Condensed, Ints
from bot.analysis.pairs import Floats

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
OWN = 0.2
"""Standard deviation of what a step does to each configuration, in shares of the step (a judgement)."""
CHANGES = 12.0
"""The prior without history counts as so many known changes."""
CHUNK = 2000
"""Groups looked at at once, to bound memory."""


@dataclass
class Step:
    """A step of a candidate (row) from a place (column) on; size: log ratio."""

    row: int
    column: int
    size: float = 0.0


@dataclass(frozen=True)
class Beforehand:
    """What is expected of a step at each place.

    prior: of each term, (n_terms, n_places). own: variance of what it does to each configuration besides,
    (n_configurations, n_places).
    """

    prior: Floats
    own: Floats


def searched(past: Condensed, found: Candidates, learned: Beforehand | None = None) -> Search:
    """All steps that are proven, the clearest first; learned: of an earlier search."""
    search = Search(past, found, learned)
    for _ in range(MOST):
        score = search.score(None, search.places)
        for step in search.steps:  # what is left of an uneven step is no step
            near = slice(max(step.column - NEAR, 0), step.column + NEAR + 1)
            score[:, near][np.abs(search.sizes[:, near]) < UNEVEN * abs(step.size)] = -np.inf
            score[step.row, step.column] = -np.inf
        row, column = np.unravel_index(int(np.argmax(score)), score.shape) if score.size else (0, 0)
        if not score.size or score[row, column] < PROVEN:
            break
        search.steps.append(Step(int(row), int(column)))
        search.merge(int(column))
        search.fit()
    search.prune()
    return search


class Search:
    """The sum of steps so far and what it leaves."""

    def __init__(self, past: Condensed, found: Candidates, learned: Beforehand | None) -> None:
        self.past = past
        self.steps: list[Step] = []
        # A quirk of one configuration says nothing of an option.
        told = [k for k, kind in enumerate(found.kinds) if kind != "configuration"]
        self.groups = [found.groups[k] for k in told]
        self.prior = found.prior[told]
        self._covers = found.covers[told].astype(np.float64)
        self._weight = 1.0 / past.variance
        self.revisions = np.unique(past.place)
        self.places = self.revisions[1:][-PLACES:]
        order = np.argsort(past.group, kind="stable")
        _, start = np.unique(past.group[order], return_index=True)
        self._chunks = np.split(order, start[CHUNK::CHUNK])
        _, self._group = np.unique(past.group, return_inverse=True)
        self._total = np.bincount(self._group, self._weight)
        self.sizes: Floats = np.zeros((len(told), len(self.places)))
        n = len(self.places)
        self._beforehand = learned or Beforehand(
            np.repeat(self.prior[:, None], n, axis=1), np.zeros((len(past.configurations), n))
        )

    def left(self, without: Step | None = None) -> Floats:
        """The values without the steps but one, (n,)."""
        taken = (step.size * self._on(step) for step in self.steps if step is not without)
        left: Floats = self.past.value - sum(taken, np.zeros(len(self.past)))
        return left

    def score(self, without: Step | None, places: Ints) -> Floats:
        """Log posterior odds of one more step, (n_terms, n_places), the others but one taken out.

        Noise decides whether a place has a step at all. Which term has it, and whether there are further
        ones, is seen less sharply: a step is uneven, which must not pass for another term's.
        """
        moment, information = self._sums(without, places)
        at = np.searchsorted(self.places, places)
        before = np.log(self._beforehand.prior[:, at]) - math.log(max(len(self.places), 1))
        surely = before + self._gain(moment, information)
        own = self._beforehand.own[:, at]
        if not own.any():
            return surely
        score: Floats = before + self._gain(
            *(sums / (1.0 + own * information) for sums in (moment, information))
        )
        taken = {step.column for step in self.steps if step is not without}
        first = np.array([column not in taken for column in at.tolist()])
        score[:, first] += (surely.max(axis=0) - score.max(axis=0))[first]
        return score

    def _gain(self, moment: Floats, information: Floats) -> Floats:
        """Log Bayes factor of a step of each term at each place, (n_terms, n_places); its size is kept.

        For the rows that hold a term: moment N and information V give N^2 / (V + p) / 2 - log(1 + V / p) / 2
        with the prior precision p.
        """
        m, v = self._covers @ moment, self._covers @ information
        precision = SIZE**-2.0
        self.sizes = m / (v + precision)
        gain: Floats = 0.5 * m * self.sizes - 0.5 * np.log1p(v / precision)
        return gain

    def learned(self) -> Beforehand:
        """What these steps let expect of others; none speaks for itself, nor for another at its place."""
        carried, own = np.zeros(self._beforehand.prior.shape), np.zeros(self._beforehand.own.shape)
        for step in self.steps:
            carried[:, step.column] += self.chance(step)
            hit = self._covers[step.row] * (OWN * step.size) ** 2
            own[:, step.column] = np.maximum(own[:, step.column], hit)
        others = carried.sum(axis=1, keepdims=True) - carried
        prior = (CHANGES * self.prior[:, None] + others) / (CHANGES + others.sum(axis=0))
        return Beforehand(prior, own)

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
        alone = self._free(self.score(None, place)[:, 0], column, others)
        both += float(alone[here[0].row])
        best = int(np.argmax(alone))
        self.steps = [*others, Step(best, column)] if alone[best] >= both else [*others, *here]

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

    def chance(self, step: Step) -> Floats:
        """Posterior of the term of a step at its place, (n_terms,)."""
        others = [s for s in self.steps if s is not step]
        score = self._free(self.score(step, self.places[[step.column]])[:, 0], step.column, others)
        chance: Floats = np.exp(score - score.max())
        chance /= chance.sum()
        return chance

    @staticmethod
    def _free(score: Floats, column: int, others: Sequence[Step]) -> Floats:
        """Scores at a place without the terms that other steps have there, (n_terms,): one step is theirs."""
        score[[step.row for step in others if step.column == column]] = -np.inf
        return score

    def _on(self, step: Step) -> Floats:
        """1 where a step has happened, (n,)."""
        held = self._covers[step.row, self.past.configuration]
        on: Floats = held * (self.past.place >= self.places[step.column])
        return on

    def _centred(self, values: Floats) -> Floats:
        """Values without their group's weighted mean."""
        mean = np.bincount(self._group, self._weight * values) / self._total
        centred: Floats = values - mean[self._group]
        return centred

    def _sums(self, without: Step | None, places: Ints) -> tuple[Floats, Floats]:
        """Moment and information of a step at each place, the others but one taken out.

        Of each configuration, (n_configurations, n_places).
        """
        left = self._centred(self.left(without))
        moment, information = np.zeros((2, len(self.past.configurations), len(places)))
        for rows in self._chunks:
            self._add(rows, left, places, (moment, information))
        return moment, information

    def _add(self, rows: Ints, left: Floats, places: Ints, sums: tuple[Floats, Floats]) -> None:
        """Adds some groups' moments and informations of a step at each place to their configurations."""
        _, first, local = np.unique(self._group[rows], return_index=True, return_inverse=True)
        bins = np.searchsorted(places, self.past.place[rows], side="right")
        shape = (len(first), len(places) + 1)
        cell, size = local * shape[1] + bins, shape[0] * shape[1]
        w = np.bincount(cell, self._weight[rows], size).reshape(shape)
        v = np.bincount(cell, self._weight[rows] * left[rows], size).reshape(shape)
        after = w[:, ::-1].cumsum(axis=1)[:, ::-1]
        own = after[:, 1:] * (after[:, :1] - after[:, 1:]) / after[:, :1]
        home = self.past.configuration[rows[first]]
        np.add.at(sums[0], home, v[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:])
        np.add.at(sums[1], home, own)
