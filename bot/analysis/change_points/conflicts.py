"""Levels that fail where all of them meet, though without any one of them everything works."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np

from bot.analysis.change_points.noise import Bools, Ints

HOPELESS, FEWEST = 3, 3
"""Trials that failed with such levels while none worked, lest it was chance; and how many levels they are:
what fewer do is blamed on these."""


def conflicts(
    holds: Bools,
    *,
    failed: Collection[tuple[int, int]],
    worked: Collection[tuple[int, int]],
    at: int,
    near: int = 0,
) -> list[Ints]:
    """Sets of levels that fail together: one of several options is needed, of which none is there.

    A configuration that never worked, and failed at a revision, is compared with all that work there: what it
    alone has beside one of these is needed for the failure, and where that tells it from all of them it is
    enough. holds: levels of each configuration, (n_configurations, n_levels). failed, worked: configuration
    and revision of trials. at: the revision. near: so far from it what works counts.
    """
    often, alive = Counter(c for c, _ in failed), {c for c, _ in worked}
    well = holds[sorted({c for c, r in worked if abs(r - at) <= near})]
    found: dict[tuple[int, ...], Ints] = {}
    for c in sorted({c for c, r in failed if r == at and often[c] >= HOPELESS} - alive):
        own = holds[c] & ~well
        needed = own[own.sum(axis=1) == 1].any(axis=0)
        if needed.sum() >= FEWEST and own[:, needed].any(axis=1).all():
            which = np.flatnonzero(needed)
            found[tuple(which.tolist())] = which
    return list(found.values())


def meeting(holds: Bools, found: Collection[Ints]) -> Bools:
    """Which configurations have all levels of one of the sets, (n_configurations,)."""
    met = np.zeros(len(holds), dtype=bool)
    for which in found:
        met |= holds[:, which].all(axis=1)
    return met
