"""One search while trials are nearly exact, another one as soon as they are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

from bot.analysis.change_points.visible import visible_steps
from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import ChangePoint, ChangePointSearch, Doubt, Doubting, Observation, Probe
from bot.model.report import Visible

MOST_REVISIONS, MOST_CANDIDATES = 400, 400_000
"""Of ranges in which steps of noisy trials are explained: revisions, and revisions x pairs of levels (counted
twice). A bound on time: a pair of trials takes 0.06 s of one core with 12 options, 0.15 s with 24."""
NOISY = 0.005
"""Relative noise of a trial from which on explanations find more than halving does."""


def fits(levels: int, revisions: int) -> bool:
    """Whether noisy trials of a range with so many levels are explained."""
    return revisions <= MOST_REVISIONS and levels**2 * revisions <= MOST_CANDIDATES


@dataclass
class HandingOver:
    """Satisfies `ChangePointSearch`, `Doubting` and `Seeing`.

    Halving finds the steps of a program without noise with fewest trials. With noise each of its contrasts
    needs repetitions, and what explains all trials together finds several times as many steps.

    Args:
        halving: the search that begins, given seconds where trials gave ratios.
        noise: what it has learned of the relative noise of a trial.
        explaining: the search that goes on with all trials so far where that is too much.
    """

    halving: ChangePointSearch
    noise: Callable[[], float]
    explaining: ShortRangeFinder
    _observations: list[Observation] = field(default_factory=list)
    _handed_over: bool = False

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        """What the trials so far show, in order of revision."""
        return self._search.change_points_

    @property
    def doubts_(self) -> Sequence[Doubt]:
        """Where something surely moved that has no sure name, in order of revision."""
        return self._search.doubts_ if isinstance(self._search, Doubting) else ()

    @property
    def settled_(self) -> bool:
        """Nothing is in doubt any more."""
        return self._handed_over and self.explaining.settled_

    @property
    def visible_(self) -> Visible:
        """How small a lasting change of each option would have been found."""
        if self._handed_over:
            return self.explaining.visible_
        return visible_steps(self.explaining.space, self._observations, self.explaining.revisions)

    def wishes(self) -> Sequence[Probe]:
        """The next trials; empty: nothing is left to learn."""
        return self._search.wishes()

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        """Takes in any trials."""
        self._observations += observations
        self._search.partial_fit(observations)
        if not self._handed_over and self.noise() > NOISY:
            self._handed_over = True
            self.explaining.partial_fit(self._observations)
        return self

    @property
    def _search(self) -> ChangePointSearch:
        return self.explaining if self._handed_over else self.halving
