"""What nights had shown that are too old to be read with tonight's: no change is forgotten with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bot.flows.nights.past import NIGHTS, Night
from bot.flows.nights.search import NightSearch
from bot.flows.ranges.chaining import Chain
from bot.model.change_points import ChangePoint, Observation
from bot.model.revisions import Revision

STRIDE = NIGHTS // 2
"""Nights between the first ones of two blocks: a change that two nights show together is inside of one."""


@dataclass(frozen=True)
class Archive:
    """Change points that all earlier nights show, on a line that reaches further back than tonight's window.

    line: first-parent revisions, the tip last. points: by their places on it. measured: places with a value.
    doubtful: changes that only one of several blocks of nights shows, so that they do not count. recent: the
    place up to which tonight's search has trials from after changes only: of those it has no opinion.
    """

    line: Sequence[Revision] = ()
    points: tuple[ChangePoint, ...] = ()
    measured: tuple[int, ...] = ()
    doubtful: int = 0
    recent: int = -1

    @classmethod
    def of(
        cls,
        nights: Sequence[Night],
        line: Sequence[Revision],
        search: Callable[[int], NightSearch],
        *,
        since: int,
    ) -> Archive:
        """Works out what the nights show (oldest first, by places on the line).

        search: one that has asked nothing yet, for so many revisions. since: where tonight's revisions begin.
        """
        trials = [Chain().seconds(night.observations) for night in nights]
        places = {o.probe.revision for night in nights for o in night.observations if o.value > 0}
        points, doubtful = archived(trials, search, since=since)
        recent = nights[-NIGHTS].tip if len(nights) > NIGHTS else -1
        return cls(line, points, tuple(sorted(places)), doubtful, recent)


@dataclass(frozen=True)
class Block:
    """Nights that are read together: places of their trials, by night, and what these show."""

    places: Sequence[Sequence[int]]
    points: Sequence[ChangePoint]

    def covers(self, point: ChangePoint) -> bool:
        """Whether a change came between two of its nights, so that it was looked for."""
        tips = [max(night) for night in self.places]
        return min(tips) < point.interval[0] and point.interval[1] <= max(tips)

    def beside(self, point: ChangePoint) -> int:
        """Trials right beside a change."""
        first, last = point.interval
        return sum(first - 1 <= place <= last for night in self.places for place in night)


def archived(
    nights: Sequence[Sequence[Observation]], search: Callable[[int], NightSearch], *, since: int | None = None
) -> tuple[tuple[ChangePoint, ...], int]:
    """Change points of nights (oldest first, in seconds), in order of revision; how many are doubtful.

    Block by block, because only trials of one night are compared: which night is beside which tells nothing,
    and so the work grows with the number of nights, not with its square. What several blocks can show, two
    must show alike: of what one alone names most is wrong. What only the newest can show from the revision
    `since` on is left to tonight's search, which has the same trials and more. Where two blocks name a
    change differently, the one counts that has more trials right beside it.
    """
    return agreed_on(blocks_of(nights, search), since=since)


def agreed_on(blocks: Sequence[Block], *, since: int | None = None) -> tuple[tuple[ChangePoint, ...], int]:
    """What blocks of nights (the newest first) show, as `archived` tells it."""
    agreed = [(block.beside(p), p) for block in blocks for p in block.points if _agreed(p, blocks)]
    agreed.sort(key=lambda counted: -counted[0])  # stable: of equal ones the newest block's
    kept = _distinct(p for _, p in agreed)
    several = [p for block in blocks for p in block.points if sum(b.covers(p) for b in blocks) > 1]
    doubtful = len(_distinct([*kept, *several])) - len(kept)
    tonight = blocks[0] if blocks and since is not None else None
    older = [p for p in kept if not _only(tonight, p, blocks) or p.interval[0] < (since or 0)]
    return tuple(sorted(older, key=lambda point: (point.revision, point.term))), doubtful


def blocks_of(nights: Sequence[Sequence[Observation]], search: Callable[[int], NightSearch]) -> list[Block]:
    """The newest first: they know best."""
    found = []
    for first in range(max(len(nights) - NIGHTS, 0), -STRIDE, -STRIDE):
        block = nights[max(first, 0) : max(first, 0) + NIGHTS]
        places = [[o.probe.revision for o in night] for night in block if night]
        if places:
            start, end = min(map(min, places)), max(map(max, places))
            moved = [[_shifted(o, -start) for o in night] for night in block]
            shown = search(end - start + 1).remember(moved).recalled()
            found.append(Block(places, [displaced(point, start) for point in shown]))
    return found


def _agreed(point: ChangePoint, blocks: Sequence[Block]) -> bool:
    able = [block for block in blocks if block.covers(point)]
    return len(able) < 2 or sum(any(same(point, p) for p in block.points) for block in able) > 1


def _only(block: Block | None, point: ChangePoint, blocks: Sequence[Block]) -> bool:
    """Whether a block is the only one that can show a change."""
    return block is not None and [b for b in blocks if b.covers(point)] in ([], [block])


def _distinct(points: Iterable[ChangePoint]) -> list[ChangePoint]:
    """Those that no earlier one may be in other words."""
    kept: list[ChangePoint] = []
    for point in points:
        if not any(alike(point, known) for known in kept):
            kept.append(point)
    return kept


def believed(
    shown: Iterable[ChangePoint], archive: Iterable[ChangePoint], *, recent: int
) -> list[ChangePoint]:
    """What tonight's search shows, without what all nights know better.

    Changes up to the revision `recent` came before the first of the nights that tonight reads: what these
    still have is too little to name one. Of later ones that two blocks agreed on, other names do not count.
    """
    known = list(archive)

    def better_known(point: ChangePoint) -> bool:
        return point.interval[1] <= recent or any(alike(point, k) for k in known)

    return [p for p in shown if any(same(p, k) for k in known) or not better_known(p)]


def same(one: ChangePoint, other: ChangePoint) -> bool:
    """Whether two nights speak of one change: the same term, in overlapping intervals, the same way."""
    return one.term == other.term and alike(one, other)


def alike(one: ChangePoint, other: ChangePoint) -> bool:
    """Whether they may be one change in other words: as `same`, but the terms have only a level in common."""
    overlap = one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]
    common = set(one.term) & set(other.term) or not one.term or not other.term
    return overlap and bool(common) and (one.ratio > 1) == (other.ratio > 1)


def displaced(point: ChangePoint, by: int) -> ChangePoint:
    """The same change point on a line that has so many more revisions before it."""
    first, last = point.interval
    return replace(point, revision=point.revision + by, interval=(first + by, last + by))


def _shifted(observation: Observation, by: int) -> Observation:
    probe = observation.probe
    return replace(observation, probe=replace(probe, revision=probe.revision + by))
