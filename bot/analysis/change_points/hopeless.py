"""Levels to leave alone: with them nothing works, or nothing at a revision and at those around it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from bot.analysis.change_points.noise import Bools
from bot.model.space import Level

HOPELESS = 3
"""A configuration (at any revision), revision or level with so many failures and no success is left alone."""
WEARY = 2 * HOPELESS
"""So many failures at a revision that its levels are left alone there, though others may be to blame."""


def hopeless(levels: Sequence[Level], failed: Bools, alive: Bools) -> Bools:
    """Levels with which several configurations failed and none worked, (n_levels,).

    failed: levels of the configurations that failed, (n_failed, n_levels). alive: levels with which something
    worked, (n_levels,). What fails with another option's level, too, every time, is not given up: that may be
    it alone.
    """
    often: list[int] = np.flatnonzero((failed.sum(axis=0) >= HOPELESS) & ~alive).tolist()

    def alone(one: int) -> bool:
        others = [k for k in often if levels[k].option != levels[one].option]
        return not any((failed[:, one] <= failed[:, k]).all() for k in others)

    found = np.zeros(len(levels), dtype=bool)
    found[[one for one in often if alone(one)]] = True
    return found


class HopelessThere:
    """Levels that give no value at some revisions: mostly options that were not there yet.

    holds: levels of each configuration, (n_configurations, n_levels). failed, worked: configuration and
    revision of trials.
    """

    def __init__(
        self,
        levels: Sequence[Level],
        holds: Bools,
        *,
        failed: Collection[tuple[int, int]],
        worked: Collection[tuple[int, int]],
    ) -> None:
        worked = worked if failed else ()  # most nights: nothing is lost
        places = sorted({r for _, r in (*failed, *worked)})
        alive = np.zeros((len(places), len(levels)), dtype=bool)
        lost = np.zeros_like(alive)
        number = {revision: i for i, revision in enumerate(places)}
        for row, revision in worked:
            alive[number[revision]] |= holds[row]
        for revision in {r for _, r in failed}:
            here, well = holds[[row for row, r in failed if r == revision]], alive[number[revision]]
            weary = (here.sum(axis=0) >= WEARY) & ~well  # each of several, of which one alone is to blame
            lost[number[revision]] = hopeless(levels, here, well) | weary
        self._places, self._lost, self._known = np.array(places, dtype=np.intp), lost, lost | alive
        self._at: dict[int, Bools] = {}

    def at(self, revision: int) -> Bools:
        """Levels to be left alone at a revision, (n_levels,): by the nearest one where that is known."""
        if revision not in self._at:
            away = np.abs(self._places - revision)[:, None]
            apart = [
                np.where(of, away, np.iinfo(np.intp).max).min(axis=0, initial=np.iinfo(np.intp).max)
                for of in (self._lost, self._known & ~self._lost)
            ]
            self._at[revision] = apart[0] < apart[1]
        return self._at[revision]
