"""What is noise among trials, and what are steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

EXACT = 1e-4
"""Below this relative scale of a trial a search may treat every difference as real."""
OUTLIER = 6.0
"""A trial so many scales away from both its neighbours in time, to the same side, does not count."""
ODD = 4.0
"""... and from which on it is worth repeating."""
STEADY, SEVERAL = 0.3, 3
"""When at least this share of neighbours in time agree exactly, what differs are steps, not noise. So they do
when so many configurations move by exactly the same between the same revisions."""
FEWEST = 8
"""So many differences of revisions next to each other tell how large these are."""
FAR = 5
"""Where values walk, those so far apart do not agree exactly."""
POOLED, MEASURED = 8.0, 4
"""A configuration's own scale counts against the pooled one like its trials against so many, from so many
neighbours in time on."""
NORMAL = 0.6745**2
"""Median square of a standard normal."""
WALKS = 8.0
"""Log likelihood by which differences must be explained better by a walk than by noise alone."""
STRIDES = 2.0 ** np.arange(-2, 4)
"""What each further revision of a walk may add, against the variance of neighbours."""
HOLDING, STEP = 0.4, 0.1
"""Share of differences that hold a step, and the relative scale of one."""


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


def own_scales(c: Ints, y: Floats, count: int, scale: float) -> Floats:
    """Relative scale of each configuration's trials, drawn to the pooled one, (count,).

    c, y: configurations and seconds in order of both configuration and revision, (n,).
    """
    # Their own means: against a larger one a quick configuration's trials would look quiet.
    level = np.bincount(c, np.abs(y), count) / np.maximum(np.bincount(c, minlength=count), 1)
    found: Floats = np.full(count, scale)
    if scale <= EXACT:
        return found
    inside = c[1:] == c[:-1]
    step = (np.abs(np.diff(y)) / np.maximum(level[c[1:]], 1e-300))[inside]
    bounds = np.searchsorted(c[1:][inside], np.arange(count + 1))
    for k in range(count):
        mine = step[bounds[k] : bounds[k + 1]]
        if (m := len(mine)) >= MEASURED:
            own = float(1.4826 * np.median(mine) / np.sqrt(2.0))
            found[k] = np.sqrt((m * own**2 + POOLED * scale**2) / (m + POOLED))
    limited: Floats = np.clip(found, scale / 3.0, scale * 3.0)
    return limited


def walking(before: Ints, after: Ints, moved: Floats, still: NDArray[np.bool_]) -> tuple[float, float]:
    """Relative scale of a trial among its neighbours, and of what each further revision moves it.

    before, after: revisions of neighbours in time; moved: their relative differences; still: whether no known
    step lies between, (n,) each. Zeros: values do not walk, or too little to tell. Where several
    configurations were measured at the same two revisions, what all of them move by may be a step.
    """
    near, far = (after - before == 1) & still, after - before > 1
    beside = float(np.median(moved[near] ** 2)) / NORMAL if near.sum() >= FEWEST else 0.0
    if beside <= 2.0 * EXACT**2 or not far.any():
        return 0.0, 0.0
    _, window = np.unique(np.stack([before, after])[:, far], axis=1, return_inverse=True)
    own, further = moved[far].copy(), (after - before)[far] - 1.0
    for group in np.flatnonzero(np.bincount(window.ravel()) >= SEVERAL):
        own[window.ravel() == group] -= np.median(own[window.ravel() == group])

    def explained(walk: float) -> float:
        quiet = np.log(1.0 - HOLDING) + _log_normal(own, np.sqrt(beside + walk * further))
        return float(np.logaddexp(quiet, np.log(HOLDING) + _log_normal(own, STEP)).sum())

    likely = [explained(walk) for walk in beside * STRIDES]
    if max(likely) < explained(0.0) + WALKS:
        return 0.0, 0.0
    return float(np.sqrt(beside / 2.0)), float(np.sqrt(beside * STRIDES[int(np.argmax(likely))]))


def _log_normal(x: Floats, scale: Floats | float) -> Floats:
    return np.asarray(-0.5 * (x / scale) ** 2 - np.log(scale))


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


def standing_alone(c: Ints, r: Ints, y: Floats, sd: Floats) -> Ints:
    """Which trials are the only ones at their revision and far from all their neighbours in time."""
    order = np.lexsort((r, c))
    c, r, y, sd = c[order], r[order], y[order], sd[order]
    near = c[1:] == c[:-1]
    far = np.where(near, np.abs(np.diff(y)) > ODD * sd[1:], True)
    alone = np.where(near, r[1:] != r[:-1], True)
    both = np.concatenate([[True], far & alone]) & np.concatenate([far & alone, [True]])
    several = np.concatenate([[False], near]) | np.concatenate([near, [False]])
    return np.asarray(order[both & several])
