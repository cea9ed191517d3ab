"""How noisy one trial is, from repetitions and from neighbours in time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from bot.analysis.change_points.noise import EXACT, FAR, Floats, Ints, agreeing, spread, walking

NO_NOISE, REPEATABLE, QUIET = 1e-7, 1e-6, 3e-4
"""Relative scale that stands for "exactly repeatable", and up to which repetitions are; any larger one counts
as so much at least, for no program's changes are alike to more than that."""
SHORT, NEIGHBOURS = 200, 4
"""In a range of fewer revisions steps may be dense: with so many pairs of neighbours, only these count."""


@dataclass(frozen=True)
class Scale:
    """Relative standard deviations of one trial, and of what each revision moves values by (0: they stay).

    frozen: whether repeating a trial gives the same value again, though values are noisy.
    """

    trial: float
    walk: float
    frozen: bool


def learned_scale(c: Ints, r: Ints, y: Floats, moved: Collection[int]) -> Scale:
    """What trials say of their noise.

    c, r, y: configurations, revisions and seconds in order of both, (n,). moved: revisions at which something
    did; neighbours on both sides of one say nothing of the noise.
    """
    same = c[1:] == c[:-1]
    step = np.abs(np.diff(y)) / np.maximum((np.abs(y[1:]) + np.abs(y[:-1])) / 2.0, 1e-300)
    repeated, near = step[same & (r[1:] == r[:-1])], same & (r[1:] != r[:-1])
    again, apart = spread(repeated), near
    exact = again <= EXACT
    if r.max(initial=0) < SHORT and (next_to := same & (np.diff(r) == 1)).sum() >= NEIGHBOURS:
        near = next_to
    if (still := near & ~np.isin(r[1:], list(moved))).sum() >= NEIGHBOURS:
        near = still
    # Next to each other there may be many steps: those were looked at most closely.
    beside = 0.0 if agreeing(r, y, near) or agreeing(r, y, apart) else spread(step[near])
    walk = 0.0
    if exact and len(repeated) and not agreeing(r, y, apart & (np.diff(r) >= FAR)):
        signed = (step * np.sign(np.diff(y)))[apart]
        own, walk = walking(r[:-1][apart], r[1:][apart], signed, ~np.isin(r[1:][apart], list(moved)))
        beside = own or beside
    # Steps between neighbours are not noise: neighbours only speak where repetitions are silent.
    trial = max(again, beside if exact else 0.0, NO_NOISE)
    trial = max(trial, QUIET) if trial > REPEATABLE else trial
    return Scale(trial, walk, frozen=exact and beside > EXACT and len(repeated) > 0)
