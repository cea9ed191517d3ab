"""What nights had shown that are too old to be read with tonight's: no change is forgotten with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.flows.chaining import Chain
from bot.flows.night_past import NIGHTS, Night
from bot.flows.night_search import NightSearch
from bot.model.change_points import ChangePoint, Observation
from bot.model.revisions import Revision

STRIDE = NIGHTS // 2
"""Nights between the first ones of two blocks: a change that two nights show together is inside of one."""


@dataclass(frozen=True)
class Archive:
    """Change points that all earlier nights show, on a line that reaches further back than tonight's window.

    line: first-parent revisions, the tip last. points: by their places on it. measured: places with a value.
    """

    line: Sequence[Revision] = ()
    points: tuple[ChangePoint, ...] = ()
    measured: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, nights: Sequence[Night], line: Sequence[Revision], search: Callable[[int], NightSearch]
    ) -> Archive:
        """Works out what the nights show (oldest first, by places on the line).

        search: one that has asked nothing yet, for so many revisions.
        """
        trials = [Chain().seconds(night.observations) for night in nights]
        places = {o.probe.revision for night in nights for o in night.observations if o.value > 0}
        return cls(line, archived(trials, search), tuple(sorted(places)))


def archived(
    nights: Sequence[Sequence[Observation]], search: Callable[[int], NightSearch]
) -> tuple[ChangePoint, ...]:
    """Change points of nights (oldest first, in seconds), in order of revision.

    Block by block, because only trials of one night are compared: which night is beside which tells nothing,
    and so the work grows with the number of nights, not with its square. Where two blocks name a change
    differently, the one counts that has more trials right beside it.
    """
    found: list[tuple[int, ChangePoint]] = []
    for first in range(max(len(nights) - NIGHTS, 0), -STRIDE, -STRIDE):  # the newest know best
        block = nights[max(first, 0) : max(first, 0) + NIGHTS]
        places = [o.probe.revision for night in block for o in night]
        if not places:
            continue
        start, end = min(places), max(places)
        moved = [[_shifted(o, -start) for o in night] for night in block]
        shown = search(end - start + 1).remember(moved).recalled()
        points = [displaced(point, start) for point in shown]
        found += [(sum(_beside(p, r) for r in places), p) for p in points]
    kept: list[ChangePoint] = []
    for _, point in sorted(
        found, key=lambda counted: -counted[0]
    ):  # stable: of equal ones the newest block's
        if not any(alike(point, known) for known in kept):
            kept.append(point)
    return tuple(sorted(kept, key=lambda point: (point.revision, point.term)))


def same(one: ChangePoint, other: ChangePoint) -> bool:
    """Whether two nights speak of one change: the same term, in overlapping intervals, the same way."""
    overlap = one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]
    return one.term == other.term and overlap and (one.ratio > 1) == (other.ratio > 1)


def alike(one: ChangePoint, other: ChangePoint) -> bool:
    """Whether they may be one change in other words: as `same`, but the terms have only a level in common."""
    overlap = one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]
    common = set(one.term) & set(other.term) or not one.term or not other.term
    return overlap and bool(common) and (one.ratio > 1) == (other.ratio > 1)


def displaced(point: ChangePoint, by: int) -> ChangePoint:
    """The same change point on a line that has so many more revisions before it."""
    first, last = point.interval
    return replace(point, revision=point.revision + by, interval=(first + by, last + by))


def _beside(point: ChangePoint, revision: int) -> bool:
    return point.interval[0] - 1 <= revision <= point.interval[1]


def _shifted(observation: Observation, by: int) -> Observation:
    probe = observation.probe
    return replace(observation, probe=replace(probe, revision=probe.revision + by))
