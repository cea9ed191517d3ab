"""Which levels and pairs of levels are to blame for trials that gave no value, revision by revision."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.noise import Floats, Ints

FADES = 0.25
"""Share of the range over which blame halves: a level that failed somewhere may work far away."""
NEAR = 8
"""Trials within an eighth of the range speak for a level: the more worked, the less it is to blame."""
PAIR, LEAST = 0.02, 0.02
"""How much a pair of levels is to blame beforehand, of what a level is; pairs with less are left out."""
DOUBTFUL = 0.55
"""Probability to fail from which on a trial is not made: of two levels that share a blame each is tried."""
ROUNDS = 4
"""How often blame is shared again by what each level or pair explained before."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Blame:
    """How probably levels fail, (n_levels, n_revisions), and pairs of them together, (n_pairs, n_revisions).

    pairs: the numbers of their levels, (n_pairs, 2); other pairs never fail.
    """

    levels: Floats
    pairs: Ints
    together: Floats

    def of(self, holds: Bools) -> Floats:
        """How probably configurations fail, (n_configurations, n_revisions); holds: of which levels.

        Of a failure that several may have caused one has: their probabilities add up.
        """
        both = holds[:, self.pairs[:, 0]] & holds[:, self.pairs[:, 1]]
        return np.hstack([holds, both]).astype(np.float64) @ np.vstack([self.levels, self.together])


def blame(
    holds: Bools, revisions: int, *, failed: Collection[tuple[int, int]], worked: Collection[tuple[int, int]]
) -> Blame:
    """By how each trial of a range ended.

    Levels of a failed trial are to blame with which nothing worked at that revision, and little nearby; at
    other revisions what is known of the nearest one counts, less the further away it is. Where its levels
    work, a pair of them may not: an option that needs another one.
    holds: levels of each configuration, (n_configurations, n_levels). failed, worked: configurations and
    revisions.
    """
    levels = holds.shape[1]
    bad, well = _columns(failed), _columns(worked)
    share, mine = _shares(holds, bad, well, max(2, revisions // NEAR)), np.zeros((levels, levels, revisions))
    for place in np.unique(bad[1]).tolist():
        mine[:, :, place] = share[bad[1] == place].max(axis=0)
    pairs = np.argwhere(np.triu(mine.max(axis=2), 1) >= LEAST)
    found = []
    for one, other in (2 * (np.arange(levels),), pairs.T):
        known = np.zeros((len(one), revisions), dtype=bool)
        for c, r in worked:
            known[:, r] |= holds[c, one] & holds[c, other]
        found.append(_nearest(mine[one, other], known | (mine[one, other] > 0.0)))
    return Blame(found[0], pairs, found[1])


def _columns(cells: Collection[tuple[int, int]]) -> Ints:
    return np.array(sorted(cells), dtype=np.intp).reshape(-1, 2).T


def _shares(holds: Bools, bad: Ints, well: Ints, reach: int) -> Floats:
    """How much each level (on the diagonal) and pair is to blame for each failure, (n, n_levels, n_levels).

    The less, the more trials with it worked nearby, or on both sides: what works before and after a revision
    hardly fails just there by itself. The more, the more failures nearby nothing else explains: of two causes
    each has its own (expectation maximization).
    """
    alone, working = np.eye(holds.shape[1], dtype=bool), holds[well[0]].astype(np.float64)
    beforehand = np.where(alone, 1.0, PAIR / 2.0)  # each pair is in there twice
    free = np.zeros((bad.shape[1], *alone.shape))
    for i, (levels, revision) in enumerate(zip(holds[bad[0]], bad[1].tolist(), strict=True)):
        away = well[1] - revision
        here, before, after = (working[side].T @ working[side] for side in (away == 0, away < 0, away > 0))
        nearby = (working.T * 0.5 ** (np.abs(away) / reach)) @ working + np.minimum(before, after)
        free[i] = (np.outer(levels, levels) & (here == 0.0)) * beforehand * cleared(nearby)
    near = 0.5 ** (np.abs(np.subtract.outer(bad[1], bad[1])) / reach)
    share = _shared(free)
    for _ in range(ROUNDS):
        share = _shared(free * np.tensordot(near, share, axes=1))
    return share * np.where(alone, 1.0, 2.0)


def _shared(weight: Floats) -> Floats:
    """Each failure's weights as shares of their sum."""
    return np.asarray(weight / np.maximum(weight.sum(axis=(1, 2), keepdims=True), 1e-12))


def cleared(worked: Floats) -> Floats:
    """How much something is to blame for a failure, by how many trials with it worked nearby."""
    return np.asarray((1.0 + worked) ** -2.0)


def _nearest(values: Floats, known: Bools) -> Floats:
    """Each row's value at the nearest known place, less the further away (0: none is), (n, n_places).

    Between two known places it is at least the smaller one: what fails before and after fails there, too.
    """
    places = np.arange(values.shape[1])
    found = np.zeros_like(values)
    for i in np.flatnonzero(known.any(axis=1)):
        at = np.flatnonzero(known[i])
        away = np.abs(places[:, None] - at[None, :])
        found[i] = values[i, at[away.argmin(axis=1)]] * 0.5 ** (away.min(axis=1) / len(places) / FADES)
        after = np.searchsorted(at, places)
        between = (after > 0) & (after < len(at))
        ends = values[i, at[after[between] - 1]], values[i, at[after[between]]]
        found[i, between] = np.maximum(found[i, between], np.minimum(*ends))
    return found
