"""Changes that earlier runs show: steps over the revisions of a line, and the terms that carry them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.candidates import Candidates
from bot.analysis.hindsight import Condensed
from bot.analysis.past_steps import Search, Step, searched
from bot.model.space import Term

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


def past_changes(past: Condensed, found: Candidates) -> tuple[PastChange, ...]:
    """All steps that stand out, in order of place; `found`: candidates over `past.configurations`.

    Matching pursuit over (term, place): the step with the largest posterior odds (normal prior of its size)
    joins until none is proven, and all sizes are fitted together; a configuration's level in a run is free.
    What is found may have passed for noise: without it smaller steps stand out, and are looked for. Then all
    are looked for once more: what changed often is likelier to have changed elsewhere (empirical Bayes), and
    where something surely changed, configurations differ by more than noise.
    """
    if not len(past):
        return ()
    search = searched(past, found)
    for _ in range(CALMED):
        calmer = past.calmed(search.left())
        if calmer.excess > CALMER * past.excess:
            break
        past = calmer
        search = searched(past, found)
    search = searched(past, found, search.learned())
    return tuple(_told(search, step) for step in sorted(search.steps, key=lambda s: s.column))


def _told(search: Search, step: Step) -> PastChange:
    """A step with the posterior of its term at its place."""
    chance = search.chance(step)
    shares: dict[Term, float] = {}
    for k in np.flatnonzero(chance >= KEPT):
        group = search.groups[int(k)]
        for term, mass in zip(group.terms, group.masses, strict=True):
            shares[term] = float(chance[k] * mass / search.prior[k])
    place = int(search.places[step.column])
    before = int(search.revisions[np.searchsorted(search.revisions, place) - 1])
    return PastChange(place, before, step.size, shares)
