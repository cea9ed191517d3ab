"""The pictures of the HTML page, as inline SVG that follows the page's light or dark colours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.model.report import ConfigurationChange, Effect, Report
from bot.report import words
from bot.report.formats import percent, shorten
from bot.report.svg import BAD, BAND, GOOD, MUTED, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_EFFECTS, MOST_DOTS = 14, 300
LABEL_LENGTH = 44
WIDTH = 7.6  # inches of 72 SVG units; the page scales it down on small screens


@dataclass(frozen=True)
class _Mark:
    """One row: its label, change and interval in percent, colour and whether it is proven."""

    label: str
    change: float
    low: float
    high: float
    colour: str
    filled: bool


def effects(report: Report) -> str:
    """Suspects with their intervals and the margin; "" when there are none."""
    chosen = report.suspects.options[:MOST_EFFECTS]
    marks = [
        _Mark(_effect_label(report, e), *_in_percent(e.ratio, e.interval), _colour(report, e), e.significant)
        for e in chosen
        if math.isfinite(e.ratio)
    ]
    if not marks:
        return ""
    spoken = "; ".join(f"{m.label}: {percent(1 + m.change / 100)}" for m in marks)
    metrics = {e.metric for e in chosen}
    noun = str(words.metric(metrics.pop()).noun) if len(metrics) == 1 else ""
    alt = f"Change of each suspect with its interval. {spoken}"
    return _drawn(marks, margin=report.threshold, alt=alt, noun=noun)


def configurations(report: Report) -> str:
    """Every configuration's change of the primary metric, sorted; "" when fewer than two were measured."""
    found = [
        c
        for c in report.configurations
        if c.metric == report.primary_metric and math.isfinite(c.ratio or math.nan)
    ]
    if len(found) < 2:
        return ""
    found.sort(key=lambda c: -(c.ratio or 0.0))
    step = -(-len(found) // MOST_DOTS)
    default = words.default_options(report)
    labels = len(found) <= MOST_EFFECTS
    marks = [
        _Mark(
            shorten(str(words.configuration(c.options, default)), LABEL_LENGTH),
            *_in_percent(c.ratio or 1.0, c.interval or (c.ratio or 1.0, c.ratio or 1.0)),
            _colour(report, c),
            c.state in ("slower", "faster"),
        )
        for c in found[::step]
    ]
    every = "" if step == 1 else f" (one in {step})"
    low, high = found[-1].ratio or 1.0, found[0].ratio or 1.0
    alt = f"Change of {len(found)} configurations{every}, from {percent(low)} to {percent(high)}"
    noun = str(words.metric(report.primary_metric).noun)
    return _drawn(marks, margin=report.threshold, alt=alt, noun=noun, labels=labels)


def _effect_label(report: Report, effect: Effect) -> str:
    label = shorten(str(words.term(effect.term)), LABEL_LENGTH)
    label += ", some spared" if effect.spared else ""  # the table has the room to say who
    return label if effect.metric == report.primary_metric else f"{label}, {words.metric(effect.metric).noun}"


def _colour(report: Report, found: Effect | ConfigurationChange) -> str:
    moved = found.significant if isinstance(found, Effect) else found.state in ("slower", "faster")
    return MUTED if not moved else BAD if words.worse(report, found) else GOOD


def _in_percent(ratio: float, interval: tuple[float, float]) -> tuple[float, float, float]:
    low, high = min(*interval, ratio), max(*interval, ratio)
    return 100 * (ratio - 1), 100 * (low - 1), 100 * (high - 1)


def _drawn(marks: list[_Mark], *, margin: float, alt: str, noun: str, labels: bool = True) -> str:
    """Marks from top to bottom over the margin band, as an SVG element."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _place(axes, marks, margin=100 * margin, labels=labels)
        axes.set_xlabel(f"change{noun and f' of {noun}'}, head against base (%)")

    return drawn((WIDTH, 0.9 + 0.32 * len(marks) if labels else 3.2), draw, alt=alt)


def _place(axes: Axes, marks: list[_Mark], *, margin: float, labels: bool) -> None:
    axes.axvspan(-margin, margin, color=BAND, linewidth=0)
    axes.axvline(0, color=MUTED, linewidth=0.8)
    size = 6 if labels else 3.5
    for row, mark in enumerate(marks):
        axes.plot([mark.low, mark.high], [row, row], color=mark.colour, linewidth=1.6 if labels else 0.8)
        face = mark.colour if mark.filled else "none"
        axes.plot(mark.change, row, "o", markersize=size, markerfacecolor=face, markeredgecolor=mark.colour)
    axes.set_ylim(len(marks) - 0.4, -0.6)
    axes.set_yticks(range(len(marks)) if labels else [], [m.label for m in marks] if labels else [])
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    if not labels:
        axes.set_ylabel("configurations, sorted")
