"""Which cells of a short range give no value: what failed, and what probably would, by the levels in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.explanations.cells import Cell, Floats

HOPELESS, SUSPECTED = 3, 0.5
"""So many configurations that failed at a revision where nothing worked show that it is not built, if
what they have in common is to blame with less than these odds."""
DOUBTFUL = 0.55
"""Probability to fail from which on a cell is left alone: of two levels that share a blame each is tried."""
FADES = 0.25
"""Share of the range over which blame halves: a level that failed somewhere may work far away."""
NEAR = 8
"""Trials within an eighth of the range speak for a level: the more worked, the less it is to blame."""


class Failures:
    """How the trials of cells ended; anchor: the revision beside which all others run, if there is one."""

    def __init__(self, anchor: int | None = None) -> None:
        self._anchor = anchor
        self.unbuilt: set[int] = set()
        self.failed: set[Cell] = set()
        self.worked: set[Cell] = set()
        self._silent: set[Cell] = set()

    def answered(self, cell: Cell, *, built: bool, worked: bool) -> None:
        """How a trial of a cell ended."""
        if not built:
            self.unbuilt.add(cell[1])
        elif worked:
            self.worked.add(cell)
        else:
            self.failed.add(cell)

    def untried(self, holds: NDArray[np.bool_], revisions: int) -> list[int]:
        """Levels for whose sake configurations are left alone and with which nothing ever worked.

        They may all have failed by what came along with it: until it is tried alone nothing is known of it.
        """
        worked = np.zeros(holds.shape[1], dtype=bool)
        for c, _ in self.worked:
            worked |= holds[c]
        blamed = self._blame(holds, self._works(holds, revisions)).max(axis=1) >= DOUBTFUL
        return [int(level) for level in np.flatnonzero(blamed & ~worked)]

    def edges(self) -> list[Cell]:
        """Half-way between what failed before or after everything that works and the nearest that does.

        Nothing else is asked there: no trial is expected to teach anything beyond the first one and the last.
        """
        worked = sorted({r for _, r in self.worked})
        lost = self.unbuilt.union(r for _, r in self.failed)
        ends = [(max((r for r in lost if r < first), default=first), first) for first in worked[:1]]
        ends += [(min((r for r in lost if r > last), default=last), last) for last in worked[-1:]]
        cells = [
            (min(c for c, r in self.worked if r == well), (bad + well) // 2)
            for bad, well in ends
            if abs(bad - well) > 1
        ]
        return [cell for cell in cells if cell not in self._silent]

    def knows(self, configuration: int) -> bool:
        """Whether a configuration was tried where something could be built."""
        return any(c == configuration for c, _ in self.failed | self._silent | self.worked)

    def _give_up(self, holds: NDArray[np.bool_], works: Floats) -> None:
        """Revisions where enough failed and nothing worked, whatever the levels, count as not built.

        What works before and after a revision hardly fails just there by itself.
        """
        universal, reach = holds.all(axis=0), _reach(works.shape[1])
        settled = self.unbuilt | {r for _, r in self.worked} | {self._anchor}
        for revision in {r for _, r in self.failed if r not in settled}:
            here = [c for c, r in self.failed if r == revision]
            before = works[:, max(revision - reach, 0) : revision].sum(axis=1)
            after = works[:, revision + 1 : revision + reach + 1].sum(axis=1)
            common = holds[here].all(axis=0) & ~universal
            if len(here) >= HOPELESS and _weights(np.minimum(before, after))[common].sum() < SUSPECTED:
                self.unbuilt.add(revision)

    def silent(self, cell: Cell) -> None:
        """A wish for a cell was let down: something else may have been measured in its place."""
        if cell not in self.worked and cell not in self.failed:
            self._silent.add(cell)

    def usable(self, holds: NDArray[np.bool_], revisions: int) -> NDArray[np.bool_]:
        """Cells that may give a value, (n_configurations, n_revisions).

        holds: levels of each configuration, (n_configurations, n_levels). Of the levels of a failed trial
        those are to blame with which nothing worked at that revision, and little nearby; at other revisions
        what is known of the nearest one counts, less the further away it is. What fails at the anchor has no
        value at any revision.
        """
        found = np.ones((len(holds), revisions), dtype=bool)
        if self.failed:
            works = self._works(holds, revisions)
            self._give_up(holds, works)
            if any(r not in self.unbuilt for _, r in self.failed):
                well = np.log1p(-np.minimum(self._blame(holds, works), 1.0 - 1e-9))
                found &= np.exp(holds.astype(np.float64) @ well) > 1.0 - DOUBTFUL
        found[:, sorted(self.unbuilt)] = False
        if self._anchor is not None:
            found &= found[:, [self._anchor]]
        for c, r in self.failed | self._silent:
            found[c, slice(None) if r == self._anchor else r] = False
        for c, r in self.worked:
            found[c, r] = True
        return found

    def _works(self, holds: NDArray[np.bool_], revisions: int) -> Floats:
        """How many trials with a level worked at a revision, (n_levels, n_revisions)."""
        works = np.zeros((holds.shape[1], revisions))
        for c, r in self.worked:
            works[holds[c], r] += 1.0
        return works

    def _blame(self, holds: NDArray[np.bool_], works: Floats) -> Floats:
        """Probability that a level fails at a revision, (n_levels, n_revisions)."""
        blame, reach = np.zeros(works.shape), _reach(works.shape[1])
        for c, r in self.failed:
            nearby = works[:, max(r - reach, 0) : r + reach + 1].sum(axis=1)
            weight = np.where(holds[c] & (works[:, r] == 0.0), _weights(nearby), 0.0)
            blame[:, r] = np.maximum(blame[:, r], weight / max(weight.sum(), 1e-12))
        return _nearest(blame, (works > 0.0) | (blame > 0.0))


def _reach(revisions: int) -> int:
    """How many revisions away a trial speaks for a level."""
    return max(2, revisions // NEAR)


def _weights(worked: Floats) -> Floats:
    """How much each level is to blame for a failure, by how many trials with it worked nearby."""
    return np.asarray((1.0 + worked) ** -2.0)


def _nearest(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Each row's value at the nearest known place, less the further away (0: none is), (n, n_places)."""
    places = np.arange(values.shape[1])
    found = np.zeros_like(values)
    for i in np.flatnonzero(known.any(axis=1)):
        at = np.flatnonzero(known[i])
        away = np.abs(places[:, None] - at[None, :])
        found[i] = values[i, at[away.argmin(axis=1)]] * 0.5 ** (away.min(axis=1) / len(places) / FADES)
    return found
