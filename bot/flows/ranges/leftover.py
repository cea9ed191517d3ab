"""What moved in a range and is not told as a change point, in the words of a note."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.analysis.change_points.creeping import Stretch, stretches
from bot.analysis.change_points.unexplained import AMOUNT, Unexplained, creep
from bot.model.change_points import ChangePoint, Observation
from bot.model.revisions import Revision
from bot.model.space import Space

MOST = 2
"""Stretches that are told, the largest ones."""


def unexplained_in_words(left: Unexplained, revisions: Sequence[Revision]) -> str:
    """What no few options tell from the rest: readers have to look there themselves."""
    first, last = (f"`{revisions[r].label}`" for r in (left.first, left.last))
    where = f"At {first}" if first == last else f"Between {first} and {last}"
    share = math.expm1(left.size) if left.slower else -math.expm1(-left.size)
    ways = {"slower": left.slower, "faster": left.moved - left.slower}
    mixed = ", ".join(f"{count} {way}" for way, count in ways.items())
    way = next((f"all {way}" for way, count in ways.items() if count == left.moved), mixed)
    return (
        f"{where} something moved that no change above explains: {left.moved} of {left.measured}"
        f" configurations by {100 * share:.2g} % (the middle one; {way}), and no few options tell them from"
        " the others. A build can move each configuration a little by itself."
    )


def as_change_point(left: Unexplained) -> ChangePoint:
    """What all configurations together moved there, as if it were told of everything."""
    size = left.size * (2.0 * left.slower / left.moved - 1.0) * min(left.moved / max(left.measured, 1), 1.0)
    ratio = math.exp(size)
    return ChangePoint(left.last, (left.first, left.last), (), (), ratio, (ratio, ratio), 1.0)


def crept(
    space: Space,
    revisions: Sequence[Revision],
    observations: Sequence[Observation],
    points: Sequence[ChangePoint],
    *,
    least: float,
    anchor: int | None,
    finished: bool,
) -> str:
    """What the range moved from end to end beside what is told, and where most of it did; "": nothing clear.

    A search that came to its end looked everywhere: there, small steps are told only where they are seen.
    """
    left = creep(space, observations, points, least=least, anchor=anchor)
    if left is None:
        return ""
    where = stretches(space, observations, points, least=AMOUNT * least, anchor=anchor)
    same = [stretch for stretch in where if stretch.size * left.size > 0.0]
    if finished and not same:
        return ""
    within = [stretch for stretch in same if (stretch.first, stretch.last) != (left.first, left.last)]
    first, last = (revisions[r].label for r in (left.first, left.last))
    how = "small steps" if finished else "small steps, or in one that the search did not get to"
    return (
        f"From {'about ' * left.about}`{first}` to `{last}` the middle one of {left.measured} configurations"
        f" moved by {_percent(left.size)} more than is told: in {how}.{_most_of_it(within, revisions)}"
    )


def _most_of_it(found: Sequence[Stretch], revisions: Sequence[Revision]) -> str:
    largest = sorted(found, key=lambda stretch: -abs(stretch.size))[:MOST]
    told = [
        f"{_percent(s.size)} from about `{revisions[s.first].label}` to `{revisions[s.last].label}`"
        for s in sorted(largest, key=lambda stretch: stretch.first)
    ]
    return f" Most clearly: {', and '.join(told)}." if told else ""


def _percent(size: float) -> str:
    return f"{100 * math.expm1(size):+.2g} %"
