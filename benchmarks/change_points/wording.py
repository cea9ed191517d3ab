"""Two lists of terms that say the same: their steps at one place add up to the same change everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from benchmarks.change_points.published_scoring import TOLERANCE
from benchmarks.change_points.truth import ExactTerms, TrueStep
from bot.model.change_points import ChangePoint

MOST_STEPS = 4
"""Steps at one place that are compared at most."""
ALIKE = 0.1
"""How far the two sums may differ in any valid configuration, as a share of the smallest true step."""


def reworded(
    steps: Sequence[TrueStep],
    found: Sequence[ChangePoint],
    paired: Sequence[tuple[int, int]],
    terms: ExactTerms,
) -> Iterator[tuple[int, int]]:
    """Further pairs of a true step and a found one: numbers of those that say the same only together.

    paired: those that agree by themselves. As many found steps as true ones, all near each other, say the
    same if they can be given sizes in their own directions whose sum, over all valid configurations, is that
    of the true changes (in the unit in which the system adds them up).
    """
    known, open_true, open_found = dict(paired), set(range(len(steps))), set(range(len(found)))
    open_true, open_found = open_true - known.keys(), open_found - set(known.values())
    for size in range(MOST_STEPS, 1, -1):
        for true in combinations(range(len(steps)), size):
            if not open_true.intersection(true) or not _near([(steps[i].low, steps[i].high) for i in true]):
                continue
            kept = [known[i] for i in true if i in known]
            for told in combinations(sorted(open_found), size - len(kept)):
                points = [found[j] for j in (*kept, *told)]
                there = all(away(steps[i], point) <= TOLERANCE for i in true for point in points)
                if told and there and same([steps[i] for i in true], points, terms):
                    fresh = [i for i in true if i not in known]
                    yield from zip(fresh, told, strict=True)
                    open_true.difference_update(true)
                    open_found.difference_update(told)
                    break


def same(steps: Sequence[TrueStep], found: Sequence[ChangePoint], terms: ExactTerms) -> bool:
    """Whether found steps add up to the true ones in all valid configurations, whatever their sizes."""
    changes = np.array([step.change for step in steps])
    table = terms.table([*(s.term for s in steps), *(p.term for p in found)])
    if not np.isfinite(changes).all() or table is None:
        return False
    truth, told = table[:, : len(steps)] @ changes, table[:, len(steps) :]
    sizes = np.linalg.lstsq(told, truth, rcond=None)[0]
    directions = np.array([p.ratio > 1.0 for p in found])
    far = float(np.abs(truth - told @ sizes).max())
    return far <= ALIKE * float(np.abs(changes).min()) and bool(((sizes > 0) == directions).all())


def away(step: TrueStep, point: ChangePoint) -> int:
    """Commits between a true step's interval and a found one."""
    return max(step.low - point.revision, point.revision - step.high, 0)


def _near(places: Sequence[tuple[int, int]]) -> bool:
    """Whether all intervals of revisions are near each other."""
    return all(max(a[0] - b[1], b[0] - a[1]) <= TOLERANCE for a, b in combinations(places, 2))
