"""The plot of a range: a panel per configuration over all revisions, change points marked and numbered."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from bot.model.report import OptionValue, Report, Series
from bot.report import words
from bot.report.formats import count, percent, shorten
from bot.report.ranges import moves
from bot.report.ranges.sparklines import length, positive, reference_options, spread, telling
from bot.report.svg import BAD, BAND, GOOD, INK, LINE, MUTED, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, NARROW = 9.1, 4.4
"""Inches of 72 SVG units, for screens wider and narrower than 48 rem."""
PANEL, MARGIN = 0.82, 0.75
MOST_DOTS = 400
LEAST_SPAN, LEAST_OF_LARGEST = 0.06, 0.4
"""The least that a panel's height stands for, as a log ratio and as a share of the widest panel."""
APART = 0.25
"""Least distance of two labels of an axis, as a share of its height: closer ones would overlap."""
LABEL_ROWS, LETTER = 3, 0.075
"""Rows for the labels of change points, and the width of a letter in inches."""


@dataclass(frozen=True)
class _Mark:
    """A change point on the plot: its number and label, where it is and may be, and whom it hits."""

    number: int
    label: str
    place: int
    first: int
    last: int
    term: tuple[str, ...]
    colour: str


def plots(report: Report) -> tuple[str, ...]:
    """The plot for wide and for narrow screens; empty when there is nothing to show."""
    revisions = length(report)
    shown = [s for s in report.series if positive(s)]
    if not shown or revisions < 2:
        return ()
    marks = _marks(report)
    alt = _alt(report, shown, revisions)
    return tuple(
        drawn(
            (width, PANEL * len(shown) + MARGIN),
            lambda figure, width=width: _panels(figure, report, shown, marks, width=width),  # type: ignore[misc]
            alt=alt,
        )
        for width in (WIDE, NARROW)
    )


def _marks(report: Report) -> list[_Mark]:
    marks = []
    for course in moves.courses(report):
        point = course.point
        if point.places is None:
            continue
        label = shorten(str(moves.called(point)).removeprefix("revision "), 18)
        colour = BAD if course.worse else GOOD
        marks.append(_Mark(course.number, label, *point.places, point.term, colour))
    return marks


def _alt(report: Report, shown: list[Series], revisions: int) -> str:
    noun = words.metric(report.primary_metric).noun
    said = [
        f"{c.number}: {percent(c.point.ratio)} {words.hit(c.point)} {moves.since(c.point)}"
        for c in moves.courses(report)[:20]
    ]
    return "; ".join([f"{noun} of {count(len(shown), 'configuration')} over {revisions:,} revisions", *said])


def _panels(figure: Figure, report: Report, shown: list[Series], marks: list[_Mark], *, width: float) -> None:
    """One panel below the other, over the same revisions."""
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    figure.subplots_adjust(hspace=0.55, left=0.6 / width, right=1 - 0.15 / width)
    reference = reference_options(report) or None
    order = telling(report)
    least = max([LEAST_SPAN, *(LEAST_OF_LARGEST * math.log1p(spread(s)) for s in shown)])
    before = min((m.first for m in marks), default=length(report))
    for axes, series in zip(panels, shown, strict=True):
        _values(axes, series, before=before, least=least)
        _lines(axes, marks, series.options)
        options = {n: series.options[n] for n in order if n in series.options}
        text = shorten(str(words.configuration(options, reference)), int(width / LETTER))
        axes.text(0, 1.06, text, transform=axes.transAxes, fontsize=9, color=INK)
    _numbers(panels[0], marks, revisions=length(report), inches=width - 0.75)
    _revisions(panels[-1], report)


def _values(axes: Axes, series: Series, *, before: int, least: float) -> None:
    """Dots and a line, as logs of ratios to what was usual before the first change; crosses where it failed.

    Half and twice of it are as far from it, so that a program that became much faster does not look flat.
    """
    found = _thinned([(p.place, p.value) for p in positive(series)])
    usual = statistics.median([v for place, v in found if place < before] or [v for _, v in found])
    change = [(place, math.log(value / usual)) for place, value in found]
    line = sorted([*change, *((place, math.nan) for place in series.failed)])  # the line breaks at failures
    axes.plot(*zip(*line, strict=True), color=INK, linewidth=0.9)
    axes.plot(*zip(*change, strict=True), "o", color=INK, markersize=2.4)
    low, high = min(c for _, c in change), max(c for _, c in change)
    middle, reach = (low + high) / 2, max(high - low, least) / 2
    axes.set_ylim(middle - 1.3 * reach, middle + 1.2 * reach)
    failed = series.failed[:: -(-len(series.failed) // MOST_DOTS) or 1]
    if failed:
        axes.plot(failed, [middle - 1.22 * reach] * len(failed), "x", color=MUTED, markersize=3)
    ratios = _ticks(*axes.get_ylim())
    axes.set_yticks([math.log(ratio) for ratio in ratios], [percent(ratio, decimals=0) for ratio in ratios])
    axes.tick_params(axis="both", length=0, labelsize=8.5)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(LINE)


def _ticks(low: float, high: float) -> list[float]:
    """A few ratios between two logs, of round percents, nearest to 1 first."""
    from matplotlib.ticker import MaxNLocator

    round_ones = MaxNLocator(nbins=3, min_n_ticks=2).tick_values(
        100.0 * math.expm1(low), 100.0 * math.expm1(high)
    )
    logs = (math.log1p(percents / 100.0) for percents in round_ones if percents > -100.0)
    kept: list[float] = []
    for at in sorted(logs, key=abs):
        if low <= at <= high and all(abs(at - other) >= APART * (high - low) for other in kept):
            kept.append(at)
    return [math.exp(at) for at in kept]


def _thinned(found: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """At most so many dots as can be told apart: medians of neighbours."""
    step = -(-len(found) // MOST_DOTS)
    groups = (found[i : i + step] for i in range(0, len(found), step))
    return [(group[len(group) // 2][0], statistics.median(v for _, v in group)) for group in groups]


def _lines(axes: Axes, marks: list[_Mark], options: Mapping[str, OptionValue]) -> None:
    """Where change points are, faint when they do not hit the configuration; where they may be is shaded."""
    hits = [mark for mark in marks if moves.holds(mark.term, options)]
    for mark in hits:
        if mark.last > mark.first:
            axes.axvspan(mark.first - 1, mark.last, color=BAND, linewidth=0, zorder=0)
    colours = {mark.place - 0.5: LINE for mark in marks} | {mark.place - 0.5: mark.colour for mark in hits}
    whole = axes.get_xaxis_transform()
    axes.vlines(list(colours), 0, 1, colors=list(colours.values()), linewidth=1.2, zorder=1, transform=whole)


def _numbers(axes: Axes, marks: list[_Mark], *, revisions: int, inches: float) -> None:
    """Numbers and labels above the first panel, in a few rows; a label without room is left out."""
    first, last = _limits(revisions)
    ends = [-math.inf] * LABEL_ROWS
    for place, group in groupby(sorted(marks, key=lambda m: (m.place, m.number)), key=lambda m: m.place):
        together = list(group)
        at = inches * (place - 0.5 - first) / (last - first)
        numbers = ",".join(str(mark.number) for mark in together)
        colours = {mark.colour for mark in together}
        for text in (f"{numbers} {together[0].label}", numbers):
            wide = LETTER * len(text)
            start = min(max(at - LETTER / 2, 0.0), inches - wide)
            row = next((r for r, end in enumerate(ends) if end < start), None)
            if row is not None:
                ends[row] = start + wide + LETTER
                axes.annotate(
                    text,
                    (start / inches, 1.0),
                    xycoords="axes fraction",
                    xytext=(0, 19 + 12 * row),
                    textcoords="offset points",
                    fontsize=8.5,
                    color=colours.pop() if len(colours) == 1 else INK,
                )
                break


def _limits(revisions: int) -> tuple[float, float]:
    """Where the horizontal axis begins and ends."""
    return -0.5 - revisions / 150, revisions - 0.5 + revisions / 150


def _revisions(axes: Axes, report: Report) -> None:
    """The ends of the range below the last panel."""
    axes.set_xlim(_limits(length(report)))
    ends = (report.base.label if report.base else "", report.head.label if report.head else "")
    axes.set_xticks([0, length(report) - 1], [shorten(end, 24) for end in ends])
    first, second = axes.get_xticklabels()
    first.set_horizontalalignment("left")
    second.set_horizontalalignment("right")
    noun = shorten(str(words.metric(report.primary_metric).noun), 30)
    axes.set_xlabel(f"change of {noun}, revision by revision", fontsize=8.5)
