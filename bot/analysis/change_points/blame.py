"""Which levels and pairs of levels are to blame for trials that gave no value, revision by revision."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.change_points.conflicts import meeting
from bot.analysis.change_points.noise import Bools, Floats, Ints

FADES = 0.25
"""Share of the range over which blame halves: a level that failed somewhere may work far away."""
NEAR = 8
"""Trials within an eighth of the range speak for a level: the more worked, the less it is to blame."""
PAIR, LEAST = 0.02, 0.02
"""How much a pair of levels is to blame beforehand, of what a level is; pairs with less are left out."""
CHANCE = 20.0
"""How much chance is to blame beforehand where all trials fail by it, of what a level is."""
TRIALS = 200.0
"""So many trials are imagined beforehand, one of which fails by chance."""
AGREEING = 20
"""So many failures with a level and nothing that works between them are as good as more."""
DOUBTFUL = 0.55
"""Probability to fail from which on a trial is not made: of two levels that share a blame each is tried."""
TINY = 1e-9
"""Beyond rounding."""
ROUNDS = 4
"""How often blame is shared again by what each level or pair explained before."""


@dataclass(frozen=True)
class Blame:
    """How probably levels and pairs of them fail.

    suspects: two numbers of levels, (n, 2); the same twice: a level. chance: of these, (n, n_revisions).
    shares: of each failure, (n_failures, n); the rest is chance. conflicts: numbers of more levels that fail
    where all of them meet.
    """

    suspects: Ints
    chance: Floats
    shares: Floats
    conflicts: Sequence[Ints] = ()

    def of(self, holds: Bools, *, pairs_alone: bool = False, least: float = 0.0) -> Floats:
        """How probably configurations fail, (n_configurations, n_revisions); holds: of which levels.

        As the failure that is most like it: of what may have caused that, one has, so that shares add up.
        least: what is less may be told as 0, which takes less time.
        """
        found = np.zeros((len(holds), self.chance.shape[1]))
        one, other = self.suspects.T
        both = (holds[:, one] & holds[:, other] & ((one != other) | (not pairs_alone))).astype(np.float64)
        for share in self.shares[(self.shares @ both.T).max(axis=1) >= least - TINY]:
            which = share > 0.0
            found = np.maximum(found, both[:, which] @ np.minimum(share[which, None], self.chance[which]))
        found[meeting(holds, self.conflicts)] = 1.0
        return found

    def fails(self, place: int) -> list[tuple[int, ...]]:
        """Levels, and some that meet, that by themselves rather fail at a revision than not."""
        which = self.suspects[self.chance[:, place] >= DOUBTFUL]
        found = [(one,) if one == other else (one, other) for one, other in which.tolist()]
        return [*found, *(tuple(levels.tolist()) for levels in self.conflicts)]


def reach(revisions: int) -> int:
    """How many revisions away a trial speaks for a level."""
    return max(2, revisions // NEAR)


def blame(
    holds: Bools,
    revisions: int,
    *,
    failed: Collection[tuple[int, int]],
    worked: Collection[tuple[int, int]],
    by_chance: bool = True,
    together: Sequence[Ints] = (),
) -> Blame:
    """By how each trial of a range ended.

    Levels of a failed trial are to blame with which nothing worked at that revision, and little nearby; at
    other revisions what is known of the nearest one counts, less the further away it is. Where its levels
    work, a pair of them may not: an option that needs another one. Or a trial failed by chance: the less
    probably, the more failed with these levels before one worked again.
    holds: levels of each configuration, (n_configurations, n_levels). failed, worked: configurations and
    revisions. by_chance: whether trials may fail by chance. together: levels that are known to fail where all
    of them meet (`conflicts`): what has them says nothing of each.
    """
    known_why = meeting(holds, together)
    failed = [(c, r) for c, r in failed if not known_why[c]]
    bad, well = _columns(failed), _columns(worked)
    share, free = _shares(holds, bad, well, reach(revisions))
    suspects = np.argwhere(np.triu(share.max(axis=0, initial=0.0)) >= LEAST)
    one, other = suspects.T
    tried = _tried(holds, worked, one, other, revisions)
    share, mine = share[:, one, other], np.zeros((len(suspects), revisions))
    if by_chance:
        free = free[:, one, other]
        alike = _alike(free > 0.0, tried, bad[1])
        share = share * _no_chance(free, alike, len(bad[1]) + len(worked))[:, None]
    for place in np.unique(bad[1]).tolist():
        mine[:, place] = share[bad[1] == place].max(axis=0)
    return Blame(suspects, _nearest(mine, tried), share, together)


def _alike(free: Bools, tried: Bools, places: Ints) -> Ints:
    """How many failures with a suspect have nothing that works with it between them, (n_failures, n).

    free: whether it may be to blame for a failure, as the result. tried: where it works, (n, n_revisions).
    places: revisions of the failures.
    """
    stretch = np.cumsum(tried, axis=1)[:, places].T
    key = stretch + np.arange(len(tried)) * (tried.shape[1] + 1)
    count = np.bincount(key.ravel(), free.ravel(), minlength=1)[key]
    return np.asarray(np.minimum(count, AGREEING), dtype=np.intp)


def _no_chance(free: Floats, alike: Ints, trials: int) -> Floats:
    """How probably each failure is no chance, (n_failures,), which would have to repeat itself.

    free, alike: how much each suspect is to blame, and for how many failures, (n_failures, n).
    """
    sure = np.zeros(len(free))
    for _ in range(ROUNDS):
        chance = (1.0 + (1.0 - sure).sum()) / (TRIALS + trials)
        odds = (free * chance ** -alike.astype(np.float64)).sum(axis=1) / CHANCE
        sure = odds / (1.0 + odds)
    return np.asarray(sure)


def _tried(
    holds: Bools, worked: Collection[tuple[int, int]], one: Ints, other: Ints, revisions: int
) -> Bools:
    """Where something worked that holds two levels, (n, n_revisions)."""
    found = np.zeros((len(one), revisions), dtype=bool)
    for c, r in worked:
        found[:, r] |= holds[c, one] & holds[c, other]
    return found


def _columns(cells: Collection[tuple[int, int]]) -> Ints:
    return np.array(sorted(cells), dtype=np.intp).reshape(-1, 2).T


def _shares(holds: Bools, bad: Ints, well: Ints, near: int) -> tuple[Floats, Floats]:
    """How much each level (on the diagonal) and pair is to blame for each failure, (n, n_levels, n_levels).

    The less, the more trials with it worked nearby, or on both sides: what works before and after a revision
    hardly fails just there by itself. The more, the more failures nearby nothing else explains: of two causes
    each has its own (expectation maximization).
    """
    alone, working = np.eye(holds.shape[1], dtype=bool), holds[well[0]].astype(np.float64)
    beforehand = np.where(alone, 1.0, PAIR / 2.0)  # each pair is in there twice
    free = np.zeros((bad.shape[1], *alone.shape))
    for revision in np.unique(bad[1]).tolist():
        away = well[1] - revision
        here, before, after = (working[side].T @ working[side] for side in (away == 0, away < 0, away > 0))
        nearby = (working.T * 0.5 ** (np.abs(away) / near)) @ working + np.minimum(before, after)
        weight = (here == 0.0) * beforehand * cleared(nearby)
        for i in np.flatnonzero(bad[1] == revision).tolist():
            free[i] = np.outer(holds[bad[0, i]], holds[bad[0, i]]) * weight
    beside = 0.5 ** (np.abs(np.subtract.outer(bad[1], bad[1])) / near)
    share = _shared(free)
    for _ in range(ROUNDS):
        share = _shared(free * np.tensordot(beside, share, axes=1))
    twice = np.where(alone, 1.0, 2.0)
    return share * twice, free * twice


def _shared(weight: Floats) -> Floats:
    """Each failure's weights as shares of their sum."""
    return np.asarray(weight / np.maximum(weight.sum(axis=(1, 2), keepdims=True), 1e-12))


def cleared(worked: Floats) -> Floats:
    """How much something is to blame for a failure, by how many trials with it worked nearby."""
    return np.asarray((1.0 + worked) ** -2.0)


def _nearest(values: Floats, worked: Bools) -> Floats:
    """Each row's value at the nearest place where it is not 0 or something worked, less the further away.

    As the values: (n, n_places); 0: there is no such place.

    Between two known places it is at least the smaller one: what fails before and after fails there, too.
    """
    count = values.shape[1]
    places, known = np.arange(count), worked | (values > 0.0)
    last = np.maximum.accumulate(np.where(known, places, -1), axis=1)
    next_ = np.minimum.accumulate(np.where(known, places, count)[:, ::-1], axis=1)[:, ::-1]
    before, after = _at(values, last), _at(values, next_)
    back, ahead = np.where(last < 0, np.inf, places - last), np.where(next_ == count, np.inf, next_ - places)
    nearest = np.where(back <= ahead, before, after) * 0.5 ** (np.minimum(back, ahead) / count / FADES)
    return np.asarray(np.maximum(nearest, np.minimum(before, after)))


def _at(values: Floats, places: Ints) -> Floats:
    """Each row's values at some places; 0 where these are outside."""
    return np.take_along_axis(np.pad(values, ((0, 0), (1, 1))), places + 1, axis=1)
