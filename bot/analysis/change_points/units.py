"""With next to no noise: whether steps are the same seconds in all configurations, or a share of each."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bot.analysis.change_points.noise import Floats, Ints

SAME, SCALES = 1e-6, 5.0
"""Moves alike to so small a share of the level are the same; or to so many standard deviations of a trial."""
TOLD, MOST, SEVERAL = 4, 0.5, 2
"""So many moves that could be like another one tell the unit; steps are uneven where fewer than half are. So
many of a single revision tell whether that one's step is the same seconds, or the same share."""

Unit = Literal["seconds", "shares", "neither"]


def unit_of(c: Ints, r: Ints, y: Floats, *, noise: float = 0.0) -> Unit | None:
    """The unit in which configurations that move at the same revision move by the same; None: unknown.

    Neither, too, where some revisions move the same seconds and others the same share.

    c, r, y: configurations, revisions and seconds of trials, (n,) each; noise: their relative standard
    deviation. Only revisions next to each other count: what lies between others may be several steps.
    """
    cells, place = np.unique(np.stack([c, r]), axis=1, return_inverse=True)
    (c, r), y = cells, np.bincount(place.ravel(), y) / np.bincount(place.ravel())
    apart = max(SAME, SCALES * noise)
    beside = (c[1:] == c[:-1]) & (np.diff(r) == 1)
    at, seconds, level = r[1:][beside], np.diff(y)[beside], y[:-1][beside]
    positive = bool((y > 0.0).all())
    shares = np.diff(np.log(y))[beside] if positive else np.zeros(0)
    moved = np.abs(seconds) > apart * level
    places = np.unique(at[moved], return_inverse=True)[1].ravel()
    could = np.bincount(places) - 1
    same = _alike(places, seconds[moved], apart * float(np.median(level)) if len(level) else 0.0)
    as_shares = _alike(places, shares[moved], apart) if positive else np.zeros_like(could)
    told = could >= SEVERAL
    either, other = (told & (n >= MOST * could) for n in (same, as_shares))
    mixed = (either & ~other).any() and (other & ~either).any()
    if mixed or max(same.sum(), as_shares.sum()) < MOST * could.sum():
        return "neither" if mixed or could.sum() >= TOLD else None
    return ("shares" if as_shares.sum() > same.sum() else "seconds") if could.any() else None


def _alike(places: Ints, moves: Floats, apart: float) -> Ints:
    """By place, how many moves are like another one there."""
    order = np.lexsort((moves, places))
    near = (np.diff(places[order]) == 0) & (np.diff(moves[order]) <= apart)
    return np.bincount(places[order][1:][near], minlength=int(places.max(initial=-1)) + 1)
