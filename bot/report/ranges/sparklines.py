"""Measured values over a range in one line of text: a block per stretch of revisions, gaps for failures."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from bot.model.report import ChangePoint, OptionValue, Point, Report, Series
from bot.model.space import value_text
from bot.report.formats import Listing, clean, shorten
from bot.report.ranges.moves import holds
from bot.report.words import level_parts

BLOCKS = "▁▂▃▄▅▆▇█"
UNKNOWN = "·"
"""Before the first and after the last revision that was tried, and between changes: nothing is known."""
WIDTH, LABEL_WIDTH = 36, 20
"""Columns: with the values at the end a line fits a terminal of 80."""
LEAST_SPAN, LEAST_OF_LARGEST = 0.15, 1 / 3
"""Values that differ by less than this share, or less than this part of what the widest line shows, use
only some of the blocks: noise must look flat."""


def sparkline(
    series: Series,
    revisions: int,
    *,
    points: Sequence[ChangePoint] = (),
    width: int = WIDTH,
    span: float = LEAST_SPAN,
) -> str:
    """A block per column, a gap where trials failed; what was not tried between others is as in `between`.

    points: the change points of the range. span: the share of the lowest value that all eight blocks stand
    for, or more when values differ more.
    """
    columns = min(width, revisions)
    found: dict[int, list[float]] = defaultdict(list)
    for point in positive(series):
        found[column(point.place, revisions, columns)].append(point.value)
    if not found:
        return " " * columns
    failed = {column(place, revisions, columns) for place in series.failed} - found.keys()
    values = {c: statistics.median(v) for c, v in found.items()}
    low, high = min(values.values()), max(values.values())
    reach = max(high - low, span * abs(low)) or 1.0
    moved = {
        column(p.places[0], revisions, columns) for p in points if p.places and holds(p.term, series.options)
    }
    drawn = values | between(values, moved)
    levels = {c: round((value - low) / reach * (len(BLOCKS) - 1)) for c, value in drawn.items()}
    return "".join(
        " " if c in failed else BLOCKS[levels[c]] if c in levels else UNKNOWN for c in range(columns)
    )


def between(values: Mapping[int, float], moved: Collection[int]) -> dict[int, float]:
    """Values of places between two known ones: the earlier one's up to a change point, then the later one's.

    Where several are between them, nothing says what happened from the first of these on up to the last.
    """
    found: dict[int, float] = {}
    for one, other in pairwise(sorted(values)):
        here = [c for c in moved if one < c <= other] or [other]
        found |= dict.fromkeys(range(one + 1, min(here)), values[one])
        found |= dict.fromkeys(range(max(here), other), values[other])
    return found


def positive(series: Series) -> list[Point]:
    """The points that can be shown: a stranger's report may hold anything."""
    return [p for p in series.points if 0.0 < p.value < math.inf]


def column(place: int, revisions: int, columns: int) -> int:
    """The column that a revision's place in the range falls into."""
    return min(max(place, 0) * columns // max(revisions, 1), columns - 1)


def drawing(report: Report) -> Listing:
    """All shown configurations below each other, and under them the numbers of the change points."""
    revisions = length(report)
    reference = reference_options(report)
    columns = min(WIDTH, revisions)
    order = telling(report)
    room = LABEL_WIDTH + WIDTH - columns
    labels = [
        label({n: s.options[n] for n in order if n in s.options}, reference, limit=room)
        for s in report.series
    ]
    wide = max(map(len, labels), default=0)
    span = max([LEAST_SPAN, *(LEAST_OF_LARGEST * spread(s) for s in report.series)])
    lines = [
        f"{text:{wide}}  {sparkline(s, revisions, points=report.change_points, span=span)}  {_ends(s)}"
        for text, s in zip(labels, report.series, strict=True)
    ]
    marks = [f"{'':{wide}}  {line}" for line in _marks(report.change_points, revisions, columns)]
    return Listing("\n".join(line.rstrip() for line in lines + marks), "text")


def spread(series: Series) -> float:
    """How far the highest value is above the lowest, as a share of it."""
    values = [p.value for p in positive(series)]
    return max(values) / min(values) - 1.0 if values else 0.0


def length(report: Report) -> int:
    """How many revisions the range has, as far as the report knows."""
    places = [p.place for s in report.series for p in s.points]
    places += [place for c in report.change_points for place in c.places or ()]
    return max([report.revisions, *(place + 1 for place in places)], default=0)


def reference_options(report: Report) -> Mapping[str, OptionValue]:
    """The default configuration, when it is among the shown ones; else nothing to compare with."""
    return next((s.options for s in report.series if s.default), {})


def label(options: Mapping[str, OptionValue], reference: Mapping[str, OptionValue], *, limit: int) -> str:
    """A configuration by as many of the levels in which it differs as fit: "compress level=9 +2"."""
    levels = [
        (name if value else f"!{name}") if isinstance(value, bool) else f"{name}={value_text(value)}"
        for name, value in options.items()
        if name not in reference or reference[name] != value
    ]
    for shown in range(len(levels), 0, -1):
        text = clean(
            " ".join([*levels[:shown], *([f"+{len(levels) - shown}"] if shown < len(levels) else [])])
        )
        if len(text) <= limit or shown == 1:
            return shorten(text, limit)
    return "default"


def telling(report: Report) -> list[str]:
    """Options by which shown configurations are told apart, of equally telling ones first those that moved.

    What all of them have alike is left out, where not the default configuration is what they are told by.
    """
    shown = [s.options for s in report.series]
    names = list(dict.fromkeys(name for options in shown for name in options))
    if not any(s.default for s in report.series) and len(shown) > 1:
        names = [n for n in names if any(options.get(n) != shown[0].get(n) for options in shown)]
    levels = [level for point in report.change_points for level in point.term]
    moved = [parts[0] if (parts := level_parts(level)) else level.removeprefix("!") for level in levels]
    return _apart(shown, [name for name in dict.fromkeys([*moved, *names]) if name in names])


def _apart(shown: Sequence[Mapping[str, OptionValue]], names: list[str]) -> list[str]:
    """Each time the name that tells most configurations apart, while one does; then the rest as they are."""

    def groups(names: list[str]) -> int:
        return len({tuple(options.get(name) for name in names) for options in shown})

    order, left = list[str](), list(names)
    while left and (best := max(left, key=lambda n: groups([*order, n]))):
        if groups([*order, best]) == groups(order):
            break
        order.append(best)
        left.remove(best)
    return order + left


def _ends(series: Series) -> str:
    points = positive(series)
    if not points:
        return ""
    first, last = points[0].value, points[-1].value
    if series.unit == "ratio":
        return f"{_short(first)}x to {_short(last)}x"
    if series.unit == "instructions":
        return f"{_short(first / 1e6)} to {_short(last / 1e6)} million instructions"
    return f"{_short(first)} to {_short(last)}{' s' * (series.unit == 'seconds')}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def _marks(points: Iterable[ChangePoint], revisions: int, columns: int) -> list[str]:
    """Lines of numbers, each under its column; what has no room goes to the next line."""
    together: dict[int, list[str]] = {}
    for number, point in enumerate(points, 1):
        if point.places is not None:
            together.setdefault(column(point.places[0], revisions, columns), []).append(str(number))
    lines: list[str] = []
    for at, numbers in sorted(together.items()):
        room = next((i for i, line in enumerate(lines) if len(line) < at), len(lines))
        lines += [""] * (room == len(lines))
        lines[room] = f"{lines[room]:{at}}{','.join(numbers)}"
    return lines
