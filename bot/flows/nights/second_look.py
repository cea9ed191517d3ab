"""Tonight's trials read like those of earlier nights: what the next night would know is told tonight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.analysis.change_points.steps import Step
from bot.flows.nights.search import NightSearch
from bot.flows.ranges.chaining import Chain
from bot.model.change_points import ChangePoint, Observation


@dataclass(frozen=True)
class SecondLook:
    """What all trials show, in order of revision; known: those of earlier nights, if tonight did not look."""

    points: Sequence[ChangePoint] = ()
    known: Sequence[ChangePoint] = ()


def second_look(search: NightSearch, nights: Sequence[Sequence[Observation]]) -> SecondLook:
    """What the trials show when nothing can be asked any more.

    A night names what it asked about, and asks about one step after the other: what its budget did not reach,
    or what only became clear when the other steps were known, it leaves unclear. Its trials may say it all
    the same. A night that ended before its search began has not even recalled what is known: it does so here.
    nights: as they were measured, oldest first, tonight's last.
    """
    trials = [Chain().seconds(night) for night in nights]
    points = search.afresh().remember(trials).recalled()
    looked = search.compared_ or search.known_
    return SecondLook(points, () if looked else search.afresh().remember(trials[:-1]).recalled())


def named_besides(
    shown: Sequence[ChangePoint], unclear: Sequence[Step], again: SecondLook
) -> list[ChangePoint]:
    """Of a second look what tonight's questions left unclear, or did not come to.

    What both looks see move is hardly ever none; what only the second one sees is. And two looks at one
    change may part it in different words ("slower with `a`", "slower with `a` and without `b`"), which are no
    two changes: near one that tonight's questions named, these count.
    """
    return [
        point
        for point in again.points
        if not any(_overlap(point.interval, p.interval) for p in shown)
        and (any(_may_be(step, point) for step in unclear) or any(_same(point, k) for k in again.known))
    ]


def still_unclear(steps: Iterable[Step], named: Sequence[ChangePoint]) -> list[Step]:
    """Steps that no change may be which a second look named."""
    return [step for step in steps if not any(_may_be(step, point) for point in named)]


def _may_be(step: Step, point: ChangePoint) -> bool:
    return _overlap((step.low, step.high), point.interval) and (step.size > 0) == (point.ratio > 1)


def _same(one: ChangePoint, other: ChangePoint) -> bool:
    return one.term == other.term and _overlap(one.interval, other.interval)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
