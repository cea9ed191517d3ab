"""How far the steps of an explanation move configurations, and cells of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.explanations.cells import Floats, Table
from bot.analysis.explanations.findings import Found


@dataclass(frozen=True)
class Moves:
    """Steps with what holds them: covers (n_steps, n_configurations) of 0 and 1, levels in units."""

    steps: Sequence[Found]
    covers: Floats
    levels: Floats

    @property
    def sizes(self) -> Floats:
        """In units, or as shares, (n_steps,)."""
        return np.array([step.size for step in self.steps], dtype=np.float64)

    def design(self, table: Table) -> Floats:
        """How far each cell is moved at a size of 1, (n_cells, n_steps), in units."""
        return self._held(table) * (table.revision[:, None] >= self._at)

    def beyond_average(self, table: Table, revisions: int) -> Floats:
        """Units by which clear steps move each cell beyond their average over a range, (n_cells,)."""
        clear = self.sizes * [step.clear for step in self.steps]
        after = (table.revision[:, None] >= self._at) - (1.0 - self._at / revisions)
        return np.asarray((self._held(table) * after) @ clear, dtype=np.float64)

    def each(self) -> Floats:
        """How far each step moves each configuration, in units, (n_steps, n_configurations)."""
        share = np.array([step.share for step in self.steps], dtype=bool)
        found: Floats = self.sizes[:, None] * self.covers * np.where(share[:, None], self.levels, 1.0)
        return found

    def by_revision(self, revisions: int) -> Floats:
        """How far each configuration is moved, in units, (n_configurations, n_revisions).

        Steps of one revision count as if they went in different directions: none hides another.
        """
        squares = np.zeros((len(self.levels), revisions))
        for step, moved in zip(self.steps, self.each(), strict=True):
            squares[:, step.at] += moved**2
        return np.sqrt(squares)

    @property
    def _at(self) -> Floats:
        return np.array([step.at for step in self.steps], dtype=np.float64)

    def _held(self, table: Table) -> Floats:
        share = np.array([step.share for step in self.steps], dtype=bool)
        levels = np.where(share, self.levels[table.configuration][:, None], 1.0)
        return np.asarray(self.covers[:, table.configuration].T * levels, dtype=np.float64)
