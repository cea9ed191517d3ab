"""Which cells of a short range give no value: what failed, and what probably would, by the levels in it."""

from __future__ import annotations

import numpy as np

from bot.analysis.change_points.blame import DOUBTFUL, Blame, blame, cleared, reach
from bot.analysis.change_points.conflicts import conflicts
from bot.analysis.change_points.noise import Bools, Ints
from bot.analysis.explanations.cells import Cell

HOPELESS, SUSPECTED = 3, 0.5
"""So many configurations that failed at a revision where nothing worked show that it is not built, if
what they have in common is to blame with less than these odds."""


class Failures:
    """How the trials of cells ended; anchor: the revision beside which all others run, if there is one."""

    def __init__(self, revisions: int, anchor: int | None = None) -> None:
        self._revisions, self._anchor = revisions, anchor
        self.unbuilt: set[int] = set()
        self.failed: set[Cell] = set()
        self.worked: set[Cell] = set()
        self._silent: set[Cell] = set()
        self._blame: tuple[tuple[int, ...], Blame] | None = None
        """What the failures so far say, and of how many."""

    def answered(self, cell: Cell, *, built: bool, worked: bool) -> None:
        """How a trial of a cell ended."""
        if not built:
            self.unbuilt.add(cell[1])
        elif worked:
            self.worked.add(cell)
        else:
            self.failed.add(cell)

    @property
    def tried_well(self) -> set[Cell]:
        """Trials that worked, whatever they ran beside."""
        return {cell for cell in self.worked if cell[1] != self._anchor}

    @property
    def newest(self) -> int:
        """The last revision at which one did: there something works."""
        return max(r for _, r in self.tried_well)

    def together(self, holds: Bools) -> list[tuple[int, ...]]:
        """Levels, and pairs of them, that rather fail at the newest revision, or the anchor, than not."""
        if not (self.failed and self.tried_well):
            return []
        places = {self.newest, self.newest if self._anchor is None else self._anchor}
        return list(dict.fromkeys(x for place in sorted(places) for x in self._blamed(holds).fails(place)))

    def untried(self, holds: Bools) -> list[int]:
        """Levels that configurations are left alone for, and that never worked but at the newest revision.

        They may have failed by what came along with them: until that is known nothing is known of them.
        """
        worked = holds[[c for c, r in self.worked if r != self.newest]].any(axis=0)
        each = np.eye(holds.shape[1], dtype=bool)
        blamed = self._blamed(holds).of(each).max(axis=1) >= DOUBTFUL
        return [int(level) for level in np.flatnonzero(blamed & ~worked)]

    def working(self, holds: Bools, level: int) -> list[int]:
        """Configurations that worked with a level."""
        return sorted({c for c, _ in self.worked if holds[c, level]})

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

    def _give_up(self, holds: Bools) -> None:
        """Revisions where enough failed and nothing worked, whatever the levels, count as not built.

        What works before and after a revision hardly fails just there by itself.
        """
        universal, near = holds.all(axis=0), reach(self._revisions)
        works = np.zeros((holds.shape[1], self._revisions))
        for c, r in self.worked:
            works[holds[c], r] += 1.0
        settled = self.unbuilt | {r for _, r in self.worked} | {self._anchor}
        for revision in {r for _, r in self.failed if r not in settled}:
            here = [c for c, r in self.failed if r == revision]
            before = works[:, max(revision - near, 0) : revision].sum(axis=1)
            after = works[:, revision + 1 : revision + near + 1].sum(axis=1)
            common = holds[here].all(axis=0) & ~universal
            if len(here) >= HOPELESS and cleared(np.minimum(before, after))[common].sum() < SUSPECTED:
                self.unbuilt.add(revision)

    def unknown(self, cell: Cell) -> bool:
        """Whether a trial of a cell would tell something: how one ended is not known, nor that it cannot."""
        known = self.worked | self.failed | self._silent
        return cell not in known and cell[1] != self._anchor and cell[1] not in self.unbuilt

    def silent(self, cell: Cell) -> None:
        """A wish for a cell was let down: something else may have been measured in its place."""
        if cell not in self.worked and cell not in self.failed:
            self._silent.add(cell)

    def usable(self, holds: Bools) -> Bools:
        """Cells that may give a value, (n_configurations, n_revisions).

        holds: levels of each configuration, (n_configurations, n_levels). What fails at the anchor has no
        value at any revision.
        """
        found = np.ones((len(holds), self._revisions), dtype=bool)
        if self.failed:
            self._give_up(holds)
            found &= self._blamed(holds).of(holds) < DOUBTFUL
        found[:, sorted(self.unbuilt)] = False
        if self._anchor is not None:
            found &= found[:, [self._anchor]]
        for c, r in self.failed | self._silent:
            found[c, slice(None) if r == self._anchor else r] = False
        for c, r in self.worked:
            found[c, r] = True
        return found

    def _blamed(self, holds: Bools) -> Blame:
        known = len(self.worked), len(self.failed), len(self.unbuilt)
        if self._blame is None or self._blame[0] != known:
            failed = [cell for cell in self.failed if cell[1] not in self.unbuilt]
            together = self._conflicts(holds)
            found = blame(holds, self._revisions, failed=failed, worked=self.worked, together=together)
            self._blame = known, found
        return self._blame[1]

    def _conflicts(self, holds: Bools) -> list[Ints]:
        if not self.tried_well:
            return []
        at, near = self.newest if self._anchor is None else self._anchor, reach(self._revisions)
        return conflicts(holds, failed=self.failed, worked=self.worked, at=at, near=near)
