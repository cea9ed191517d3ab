"""The fewest call edges that tell the groups of paths apart, by A*."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bot.model.assertions import CallEdge, Floats, PathModel, edges_of

WORK = 2_000_000
"""Pairs of paths that are looked at, states of the search times pairs, until the best set so far is taken."""
MORE = 40
"""Pairs that a set of edges fails to tell apart, at most, which the search has to obey from then on."""
NEAR = 500
"""Rows of a group, at most, among which the most alike ones of two groups are looked for."""


@dataclass(frozen=True)
class Separation:
    """Edges by which any two paths of different groups differ, nearest to the method first.

    least: edges that are needed, at least; as many as there are when the search came to its end.
    """

    edges: tuple[CallEdge, ...]
    least: int

    @property
    def exact(self) -> bool:
        """Whether no smaller set does."""
        return len(self.edges) == self.least


def separate(model: PathModel, *, work: int = WORK) -> Separation:
    """The smallest set of edges that distinguishes the groups (section 3.4); of several, the nearest.

    A* for the smallest set that tells some pairs of paths apart; pairs that it does not tell apart are added
    until there are none, so that it is the smallest for all. When the work is done before, a greedy set and
    a bound.

    Raises:
        ValueError: paths of two groups have the same edges; `modelling.model` makes no such models.
    """
    rows = _Rows.of(model)
    greedy = rows.greedy()
    search = _Search([], rows.distances, len(greedy), work)
    chosen: tuple[int, ...] | None = ()
    least = (len(model.groups) - 1).bit_length()
    while chosen is not None and (missed := rows.missed(chosen)):
        search.pairs += missed
        chosen = search.run()
        least = max(least, search.least)
    if chosen is None:
        chosen = greedy
    return Separation(tuple(rows.edges[c] for c in sorted(chosen)), min(least, len(chosen)))


def simpler(model: PathModel, *, most: int) -> dict[frozenset[CallEdge], int]:
    """Groups of the paths, by their edges, that so many edges tell apart.

    Where a model needs more of them: those that tell most calls apart, and paths that these leave alike are
    of the group in which most of their calls are.
    """
    rows = _Rows.of(model)
    classes = rows.classes(rows.greedy(weights=rows.calls, most=most))
    table = np.zeros((classes.max(initial=-1) + 1, rows.labels.max(initial=-1) + 1))
    np.add.at(table, (classes, rows.labels), rows.calls)
    return dict(zip(rows.paths, table.argmax(axis=1)[classes].tolist(), strict=True))


@dataclass(frozen=True)
class _Rows:
    """Distinct sets of edges, and edges by which they differ; of those that tell the same apart, the nearest.

    passed: (n_rows, n_edges). labels, calls: groups and calls, (n_rows,). distances: calls from an edge to
    the method.
    """

    paths: Sequence[frozenset[CallEdge]]
    passed: NDArray[np.bool_]
    labels: NDArray[np.int64]
    calls: Floats
    edges: tuple[CallEdge, ...]
    distances: tuple[int, ...]

    @classmethod
    def of(cls, model: PathModel) -> _Rows:
        groups: dict[frozenset[CallEdge], int] = {}
        calls: Counter[frozenset[CallEdge]] = Counter()
        distance: dict[CallEdge, int] = {}
        for number, group in enumerate(model.groups):
            for path, seen in group.paths.items():
                calls[edges_of(path)] += seen
                if groups.setdefault(edges_of(path), number) != number:
                    raise ValueError(f"paths of two groups of {model.method} have the same edges")
                for i, edge in enumerate(zip(path[-2::-1], path[:0:-1], strict=True)):
                    distance[edge] = min(i, distance.get(edge, i))
        edges = sorted(distance, key=lambda e: (distance[e], e))
        rows = sorted(groups, key=sorted)
        numbers = {group: i for i, group in enumerate(dict.fromkeys(groups[row] for row in rows))}
        passed = np.array([[edge in row for edge in edges] for row in rows], dtype=bool)
        passed = passed.reshape(len(rows), len(edges))
        _, first = np.unique(np.packbits(passed ^ passed[:1], axis=0), axis=1, return_index=True)
        told = [int(c) for c in np.sort(first) if passed[:, c].any() and not passed[:, c].all()]
        return cls(
            rows,
            passed[:, told],
            np.array([numbers[groups[row]] for row in rows], dtype=np.int64),
            np.array([calls[row] for row in rows], dtype=np.float64),
            tuple(edges[c] for c in told),
            tuple(distance[edges[c]] for c in told),
        )

    def greedy(self, *, weights: Floats | None = None, most: int | None = None) -> tuple[int, ...]:
        """The edge that leaves the purest classes, again and again; then without those that are superfluous.

        weights: of rows, (n_rows,); all alike without. most: edges.
        """
        weights = np.ones(len(self.labels)) if weights is None else weights
        chosen: list[int] = []
        while (mixed := self._mixed(chosen)).any() and len(chosen) != most:
            classes = self.classes(chosen)
            order = np.lexsort((self.labels, classes))
            order = order[mixed[order]]
            leftover = _impurity(self.passed[order], weights[order], classes[order], self.labels[order])
            leftover[chosen] = np.inf  # where no single edge helps (parities), another one all the same
            chosen.append(int(np.argmin(leftover)))
        for column in sorted(chosen, reverse=True) if not mixed.any() else ():
            if not self._mixed(rest := [c for c in chosen if c != column]).any():
                chosen = rest
        return tuple(chosen)

    def missed(self, chosen: Sequence[int]) -> list[NDArray[np.bool_]]:
        """Pairs of rows of different groups that the chosen edges leave alike: by which edges they differ.

        Of each class of rows that are alike, those that differ by the fewest.
        """
        classes = self.classes(chosen)
        found: list[NDArray[np.bool_]] = []
        several = np.unique(classes[self._mixed(chosen)])
        for alike in several[:MORE]:
            rows = np.concatenate(
                [
                    part[:: len(part) // NEAR + 1]
                    for part in (
                        np.flatnonzero((classes == alike) & (self.labels == g))
                        for g in range(self.labels.max() + 1)
                    )
                ]
            )
            passed = self.passed[rows].astype(np.float32)
            apart = np.add.outer(passed.sum(axis=1), passed.sum(axis=1)) - 2 * passed @ passed.T
            apart[np.equal.outer(self.labels[rows], self.labels[rows])] = np.inf
            nearest = apart.argmin(axis=1)
            first = np.argsort(apart.min(axis=1), kind="stable")[: MORE // len(several) + 1]
            found.extend(self.passed[rows[first]] ^ self.passed[rows[nearest[first]]])
        return found

    def _mixed(self, chosen: Sequence[int]) -> NDArray[np.bool_]:
        """Rows that the chosen edges do not tell apart from one of another group, (n_rows,)."""
        classes = self.classes(chosen)
        lowest = np.full(len(classes), len(classes))
        np.minimum.at(lowest, classes, self.labels)
        highest = np.zeros(len(classes), dtype=np.int64)
        np.maximum.at(highest, classes, self.labels)
        mixed: NDArray[np.bool_] = (lowest < highest)[classes]
        return mixed

    def classes(self, chosen: Sequence[int]) -> NDArray[np.int64]:
        """Rows that pass the same of the chosen edges have the same number, in the order of the first."""
        if not len(chosen):
            return np.zeros(len(self.labels), dtype=np.int64)
        packed = np.ascontiguousarray(np.packbits(self.passed[:, list(chosen)], axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, places = np.unique(keys, return_index=True, return_inverse=True)
        numbers = np.empty(len(first), dtype=np.int64)
        numbers[np.argsort(first)] = np.arange(len(first))
        return np.asarray(numbers[places])


def _impurity(
    passed: NDArray[np.bool_], weights: Floats, classes: NDArray[np.int64], labels: NDArray[np.int64]
) -> Floats:
    """Gini impurity of the classes once each edge has split them, times their weight, (n_edges,).

    Rows are in the order of classes, then labels.
    """
    starts = np.append(True, np.diff(classes) != 0)
    parts = np.flatnonzero(starts | np.append(True, np.diff(labels) != 0))
    wholes = np.flatnonzero(starts[parts])
    with_it = np.add.reduceat(passed * weights[:, None], parts, axis=0)
    left = np.zeros(passed.shape[1])
    for part in (with_it, np.add.reduceat(weights, parts)[:, None] - with_it):
        whole = np.add.reduceat(part, wholes, axis=0)
        pairs = whole**2 - np.add.reduceat(part**2, wholes, axis=0)
        left += (pairs / np.maximum(whole, 1e-300)).sum(axis=0)
    return left


@dataclass
class _Search:
    """A* for the smallest set that has one of the edges of every pair.

    pairs: the edges by which they differ, (n_edges,) each. distances: ascending. most: sets of more edges
    are of no interest. work: what is left of it. least: edges that are needed at least, as far as is known.
    """

    pairs: list[NDArray[np.bool_]]
    distances: Sequence[int]
    most: int
    work: int
    least: int = 0

    def run(self) -> tuple[int, ...] | None:
        """Places of the edges; None: the work is done, or there is no such set."""
        columns, masks = self._reduced()
        distances = [self.distances[c] for c in columns]
        start = _State((), 0, tuple(range(len(masks))), 0)
        heap = [(*bound, start) for bound in [start.bound(masks, distances)] if bound]
        while heap and self.work > 0:
            count, _, state = heapq.heappop(heap)
            self.least = max(self.least, count)
            if not state.open:
                return tuple(columns[c] for c in state.chosen)
            for child in state.children(masks, distances):
                self.work -= len(state.open)
                bound = child.bound(masks, distances)
                if bound and bound[0] <= self.most:
                    heapq.heappush(heap, (*bound, child))
        return None

    def _reduced(self) -> tuple[list[int], list[int]]:
        """Edges without those that a nearer one can stand for, and the pairs as sets of them, bitwise."""
        table = np.array(self.pairs, dtype=bool)
        _, first = np.unique(np.packbits(table, axis=0), axis=1, return_index=True)
        columns = np.sort(first)
        told = table[:, columns].astype(np.float32)
        common = told.T @ told
        sizes = told.sum(axis=0)
        stands_for = (common == sizes[:, None]) & np.tri(len(columns), k=-1, dtype=bool)
        columns = columns[~stands_for.any(axis=1) & (sizes > 0)]
        masks = {
            int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")
            for row in table[:, columns]
        }
        fewest = sorted(masks, key=lambda m: (m.bit_count(), m))
        kept: list[int] = []
        for mask in fewest:
            if not any(mask & other == other for other in kept):
                kept.append(mask)
        return columns.tolist(), kept


@dataclass(frozen=True, order=True)
class _State:
    """Some edges chosen, some excluded (bitwise); open: pairs that still need one."""

    chosen: tuple[int, ...]
    distance: int
    open: tuple[int, ...] = field(compare=False)
    excluded: int = field(compare=False)

    def bound(self, masks: Sequence[int], distances: Sequence[int]) -> tuple[int, int] | None:
        """Edges and sum of distances that any completion has at least; None: there is none.

        Pairs that have no edge in common need one each.
        """
        count, distance, used = len(self.chosen), self.distance, 0
        for pair in self.open:
            mask = masks[pair] & ~self.excluded
            if not mask:
                return None
            if not mask & used:
                used |= mask
                count += 1
                distance += distances[(mask & -mask).bit_length() - 1]
        return count, distance

    def children(self, masks: Sequence[int], distances: Sequence[int]) -> Iterator[_State]:
        """With each of the edges of the pair that has the fewest, and without those before it."""
        rest = min((masks[pair] & ~self.excluded for pair in self.open), key=int.bit_count)
        excluded = self.excluded
        while rest:
            bit = rest & -rest
            column = bit.bit_length() - 1
            still = tuple(pair for pair in self.open if not masks[pair] & bit)
            yield _State((*self.chosen, column), self.distance + distances[column], still, excluded)
            excluded |= bit
            rest ^= bit
