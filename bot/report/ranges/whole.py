"""How far the default configuration moved from end to end of a range, whatever it was that did it."""

from __future__ import annotations

import math

from bot.model.report import Report
from bot.report import words
from bot.report.formats import Prose, percent, prose, strong
from bot.report.ranges import moves

NEAR = 0.1
"""Share of the range in which its first and last value may lie. Arbitrary."""
REPEATED = 2
"""Trials at the old end of a night's range."""
SURE, WORTH = 6.0, 2.0
"""Standard deviations of one trial that two of them must lie apart, and thresholds. Arbitrary."""


def whole(report: Report) -> Prose | None:
    """What change points, told one by one, leave to the reader to add up.

    Of small steps, and of what is gone again, the sum tells whether a release is slower than an old one.
    None: hardly anything, unknown, or told by the only change point that the default configuration holds. Of
    a search without change points, too: it tells what crept by itself. A night does not, but measures little:
    one trial at the old end of its range is not enough.
    """
    default = next((series for series in report.series if series.default), None)
    if default is None or len(default.points) < 2 or report.base is None or report.head is None:
        return None
    first, last = default.points[0], default.points[-1]
    if first.trials < REPEATED if report.mode == "nightly" else not report.change_points:
        return None
    end = (report.revisions or 0) - 1
    if first.place > NEAR * end or last.place < (1.0 - NEAR) * end or min(first.value, last.value) <= 0.0:
        return None
    noise = report.environment.noise_of(report.primary_metric)
    scale = (noise.sd_percent or 0.0) / 100.0 if noise else 0.0
    least, moved = max(SURE * scale, math.log1p(WORTH * report.threshold)), math.log(last.value / first.value)
    told = [moves.size(p) for p in report.change_points if moves.holds(p.term, default.options)]
    if min(abs(moved), abs(abs(moved) - told[0]) if len(told) == 1 else math.inf) < least:
        return None
    about = "about " * ((first.place, last.place) != (0, end))
    return prose(
        f"From {about}", moves.name(report.base.label), " to ", moves.name(report.head.label),
        " as a whole, the default configuration: ", strong(percent(last.value / first.value)),
        f" {words.metric(report.primary_metric).noun}.",
    )  # fmt: skip
