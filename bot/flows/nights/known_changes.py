"""What the newest nights know of a line: the changes that a pull request is told of its base."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

from bot.analysis.past_changes import NamedChanges, PastChange
from bot.flows.nights.archive import agreed_on, alike, believed, blocks_of
from bot.flows.nights.gone import gone
from bot.flows.nights.past import NIGHTS, Night
from bot.flows.nights.search import NightSearch
from bot.flows.ranges.chaining import Chain
from bot.model.change_points import ChangePoint
from bot.model.space import Space

READ = 2 * NIGHTS
"""Nights that are read: a pull request waits for them, and two blocks agree on most of what is older."""
MOST_TRIALS = 15_000
"""Trials of these nights together, but for the newest one's: so many take about three seconds."""


def known_changes(
    nights: Sequence[Night],
    space: Space,
    search: Callable[[int], NightSearch],
    *,
    trials: int = MOST_TRIALS,
) -> NamedChanges | None:
    """The changes that nights (oldest first, by places on a line) show, in the words of a night.

    search: one that has asked nothing yet, for so many revisions. trials: read at most, the newest nights'.
    None: no night measured anything.
    """
    able = [night for night in nights if any(o.value > 0 for o in night.observations)]
    if not able:
        return None
    sums = accumulate(len(night.observations) for night in reversed(able))
    kept = able[-max(1, min(READ, sum(total <= trials for total in sums))) :]
    seconds = [Chain().seconds(night.observations) for night in kept]
    blocks = blocks_of(seconds, search)
    since = min(o.probe.revision for night in seconds[-NIGHTS:] for o in night)
    older, _ = agreed_on(blocks, since=since)
    recent = kept[-NIGHTS].tip if len(kept) > NIGHTS else -1
    shown = believed(blocks[0].points, older, recent=recent)
    shown += [point for point in older if not any(alike(point, other) for other in shown)]
    passed = gone(shown, [night.observations for night in kept], space)
    found = sorted((p for p in shown if p not in passed), key=lambda p: p.revision)
    return NamedChanges(tuple(map(_past, found)))


def _past(point: ChangePoint) -> PastChange:
    first, last = point.interval
    return PastChange(last, first - 1, math.log(point.ratio), {point.term: 1.0})
