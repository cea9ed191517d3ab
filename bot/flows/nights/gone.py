"""Whether a change is gone at the tip: a pair beside the tip that ran what was before the change says so."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from bot.model.change_points import ChangePoint, Observation
from bot.model.space import Configuration, Space

LEAST = 2
"""Configurations that must say so: one alone is its own noise."""
LEFT = 0.5
"""A change of which less is left in each of them is none to raise an alarm for. Arbitrary."""


def gone(
    points: Collection[ChangePoint], nights: Sequence[Sequence[Observation]], space: Space
) -> list[ChangePoint]:
    """Those that the newest night that can tell (ratios to its tip, the newest night last) finds gone.

    A night asks for the place of an old change by pairs of early revisions and its tip, so that it learns
    whether the tip is as the program was before, without looking for a change that took it back. What the
    other points have changed since is taken into account.
    """
    return [
        point for point in points if _left(point, [p for p in points if p is not point], nights, space) < LEFT
    ]


def _left(
    point: ChangePoint, others: Sequence[ChangePoint], nights: Sequence[Sequence[Observation]], space: Space
) -> float:
    """The largest share of a change that any configuration with its term has at the tip; 1: nobody knows."""
    size = math.log(point.ratio) if 0.0 < point.ratio < math.inf else 0.0
    if not size:
        return 1.0
    for night in reversed(nights):
        tip = max((o.probe.revision for o in night if o.value > 0), default=0)
        if tip <= point.interval[1]:
            continue
        moved: dict[Configuration, list[float]] = defaultdict(list)
        for o in night:
            place, configuration = o.probe.revision, o.probe.configuration
            before = place < point.interval[0] and o.value > 0 and o.anchor != 1.0
            if before and space.carries(point.term, configuration):
                since = [p for p in others if place < p.revision <= tip and _holds(p, configuration, space)]
                moved[configuration].append(-math.log(o.value) - sum(math.log(p.ratio) for p in since))
        if len(moved) >= LEAST:
            return max(float(np.median(found)) / size for found in moved.values())
    return 1.0


def _holds(point: ChangePoint, configuration: Configuration, space: Space) -> bool:
    return point.ratio > 0.0 and point.moves(configuration, space)
