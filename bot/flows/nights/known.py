"""What earlier nights had placed as far as can be: they do not remember which revisions do not build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from bot.analysis.change_points.steps import Step
from bot.analysis.change_points.terms import Terms
from bot.model.change_points import ChangePoint, Observation
from bot.model.space import Term


@dataclass(frozen=True)
class LookedAt:
    """Steps that earlier nights' trials leave open, and where each of these nights measured.

    Which revisions do not build is not remembered, so that a step among them seems to be placed nowhere. It
    is no news where a night had trials right beside them: only who looks for a step's place goes there.
    """

    steps: tuple[tuple[Term, int, int, bool], ...] = ()
    nights: tuple[frozenset[int], ...] = ()

    @classmethod
    def of(cls, steps: Sequence[Step], terms: Terms, nights: Sequence[Sequence[Observation]]) -> Self:
        """Of steps that are not settled, and the trials of the nights."""
        places = [frozenset(o.probe.revision for o in night if o.value > 0) for night in nights]
        left = [(terms.canonical(s.term)[0], s.low, s.high, s.size > 0) for s in steps]
        return cls(tuple(left), tuple(filter(None, places)))

    def knows(self, point: ChangePoint) -> bool:
        """Whether a change in an interval of revisions is one of the steps, and a night had come as close."""
        first, last = point.interval
        worse = point.ratio > 1.0
        named = any(
            (term, rose) == (point.term, worse) and low <= last and first <= high
            for term, low, high, rose in self.steps
        )
        beside, ends = {first - 1, last}, {0, *map(max, self.nights)}
        looked = any(beside <= places for places in self.nights) and not beside <= ends
        return first < last and named and looked
