"""Without noise: whether steps are the same seconds in all configurations that they move, or a share."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bot.analysis.change_points.noise import Floats, Ints

SAME = 1e-6
"""Moves alike to so small a share of the level are the same."""
TOLD = 4
"""So many moves that could be like another one, and are not, show that steps are uneven."""

Unit = Literal["seconds", "shares", "neither"]


def unit_of(c: Ints, r: Ints, y: Floats) -> Unit | None:
    """The unit in which configurations that move at the same revision move by the same; None: unknown.

    c, r, y: configurations, revisions and seconds of trials without noise, (n,) each. Only revisions next to
    each other count: what lies between others may be several steps.
    """
    order = np.lexsort((r, c))
    c, r, y = c[order], r[order], y[order]
    beside = (c[1:] == c[:-1]) & (np.diff(r) == 1)
    at, seconds, level = r[1:][beside], np.diff(y)[beside], y[:-1][beside]
    positive = bool((y > 0.0).all())
    shares = np.diff(np.log(y))[beside] if positive else np.zeros(0)
    moved = np.abs(seconds) > SAME * level
    same = _alike(at[moved], seconds[moved], SAME * float(np.median(level)) if len(level) else 0.0)
    as_shares = _alike(at[moved], shares[moved], SAME) if positive else 0
    if not same and not as_shares:
        could = sum(int(n) - 1 for n in np.unique(at[moved], return_counts=True)[1])
        return "neither" if could >= TOLD else None
    return "shares" if as_shares > same else "seconds"


def _alike(at: Ints, moves: Floats, apart: float) -> int:
    """How many moves are like another one of their revision."""
    order = np.lexsort((moves, at))
    return int(((np.diff(at[order]) == 0) & (np.diff(moves[order]) <= apart)).sum())
