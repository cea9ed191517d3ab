"""How much candidate steps look like each other and like the trials, without writing their columns out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from bot.analysis.explanations.cells import Floats, Ints, Table

MOST_KEPT = 128
"""Candidates whose overlaps with all others are kept; draws come back to a few dozen."""


class Overlaps:
    """Inner products of columns under the precision of the cells.

    A candidate is a kind of step at a place; its column: what the kind moves in each cell from the cut behind
    that place on. Over all places such products are sums over the cells from the last revision backwards, so
    that one kind's cost as much as a single column does.

    precision: inverse of the cells' covariance, (n_cells, n_cells), in the table's order.
    """

    def __init__(self, table: Table, design: NDArray[np.float32], cuts: Ints, factor: Floats) -> None:
        """design: (n_configurations, n_kinds); cuts: revisions with trials; factor: the covariance's root."""
        self.precision = np.asarray(cho_solve((factor, True), np.eye(len(factor)), check_finite=False))
        self._order = np.argsort(table.revision, kind="stable")
        self._sorted = np.ascontiguousarray(self.precision[np.ix_(self._order, self._order)])
        self._starts = np.searchsorted(table.revision[self._order], cuts[1:])
        self._known: dict[int, NDArray[np.float32]] = {}
        self._moves = np.ascontiguousarray(design[table.configuration[self._order]].T, dtype=np.float64)

    def moment(self, values: Floats) -> Floats:
        """Of all candidates with the values of the cells, (n_candidates,)."""
        return self._summed(self._moves * (self.precision @ values)[self._order])

    def information(self) -> Floats:
        """Of all candidates with themselves, (n_candidates,)."""
        later = 2.0 * np.triu(self._sorted, 1)  # each pair of cells belongs to the earlier one
        later[np.diag_indices_from(later)] = self._sorted.diagonal()
        return np.maximum(self._summed(self._moves * (self._moves @ later.T)), 0.0)

    def of(self, candidate: int) -> NDArray[np.float32]:
        """Of all candidates with one, (n_candidates,)."""
        if candidate not in self._known:
            kind, place = divmod(candidate, len(self._starts))
            start = self._starts[place]
            found = self._summed(self._moves * (self._sorted[:, start:] @ self._moves[kind, start:]))
            if len(self._known) == MOST_KEPT:
                del self._known[next(iter(self._known))]
            self._known[candidate] = found.astype(np.float32)
        return self._known[candidate]

    def _summed(self, cells: Floats) -> Floats:
        """From a figure of each kind in each cell, (n_kinds, n_cells), to one of each candidate."""
        revisions = np.add.reduceat(cells, self._starts, axis=1)
        return np.ascontiguousarray(revisions[:, ::-1].cumsum(axis=1)[:, ::-1]).ravel()
