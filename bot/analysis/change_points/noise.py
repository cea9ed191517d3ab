"""What is noise among trials, and what are steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

EXACT = 1e-4
"""Below this relative scale of a trial a search may treat every difference as real."""
OUTLIER = 6.0
"""A trial so many scales away from both its neighbours in time, to the same side, does not count."""
STEADY, SEVERAL = 0.3, 3
"""When at least this share of neighbours in time agree exactly, what differs are steps, not noise. So they do
when so many configurations move by exactly the same between the same revisions."""


def agreeing(r: Ints, y: Floats, near: NDArray[np.bool_]) -> bool:
    """Whether neighbours in time agree exactly often enough, in seconds or as shares.

    r, y: revisions and values, (n,), by configuration; near: which of them have a neighbour next, (n - 1,).
    """
    if not near.any():
        return True
    moved, level = np.diff(y)[near], ((np.abs(y[1:]) + np.abs(y[:-1])) / 2.0)[near]
    _, between = np.unique(np.stack([r[:-1], r[1:]])[:, near], axis=1, return_inverse=True)
    units = np.maximum(level, 1e-300), np.full(len(level), max(float(level.mean()), 1e-300))
    return any(_steady(moved / unit, between.ravel()) >= STEADY for unit in units)


def _steady(moves: Floats, between: Ints) -> float:
    """Share of moves that are none, or the median one between their revisions, which several share."""
    same = np.abs(moves) <= EXACT
    for group in np.flatnonzero(np.bincount(between) >= SEVERAL):
        mine = between == group
        as_most = np.abs(moves - np.median(moves[mine])) <= EXACT
        if (mine & as_most).sum() >= SEVERAL:
            same |= mine & as_most
    return float(same.mean())


def spread(steps: Floats) -> float:
    """Standard deviation behind differences of two: robust when there are many."""
    if len(steps) == 0:
        return 0.0
    if len(steps) < 12:
        return float(np.sqrt(np.mean(steps**2) / 2.0))
    return float(1.4826 * np.median(steps) / np.sqrt(2.0))


def odd_ones(c: Ints, r: Ints, y: Floats, sd: Floats) -> NDArray[np.bool_]:
    """Trials far from both neighbours in time (or repetition), to the same side."""
    order = np.lexsort((r, c))
    cc, rr, yy, ss = c[order], r[order], y[order], sd[order]
    gap = np.diff(yy)
    gap[cc[1:] != cc[:-1]] = 0.0
    before, after = np.concatenate([[0.0], gap]), np.concatenate([-gap, [0.0]])
    # The first and the last have one neighbour; where that repeats them, the next but one is the other.
    twice = np.flatnonzero((cc[2:] == cc[:-2]) & (rr[1:-1] == rr[:-2]) & (before[:-2] == 0.0))
    before[twice] = yy[twice] - yy[twice + 2]
    twice = np.flatnonzero((cc[2:] == cc[:-2]) & (rr[1:-1] == rr[2:]) & (after[2:] == 0.0)) + 2
    after[twice] = yy[twice] - yy[twice - 2]
    far = (np.minimum(np.abs(before), np.abs(after)) > OUTLIER * ss) & (before * after > 0)
    found = np.zeros(len(y), dtype=bool)
    found[order] = far & (ss > EXACT * np.abs(yy))
    return found
