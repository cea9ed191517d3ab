"""A differential flame graph: call paths with what they cost at base and at head, from two profiles."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from bot.analysis.methods.identity import Pairing
from bot.model.profiles import Method, Profile
from bot.model.report_methods import FlameNode

LEAST = 0.005
"""Share of the program's cost, at base or at head, below which a call path is not drawn."""
MOST_NODES, MOST_DEPTH = 300, 40

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def flame(
    base: Profile, head: Profile, pairing: Pairing, seconds: tuple[float, float]
) -> tuple[FlameNode, ...]:
    """The costliest call paths of both builds in one tree, parents first, the costlier ones first.

    Profiles know what a method costs without callees and what calls from one method to another cost, not
    whole call paths. So a method's cost is shared out to its callers in proportion to what their calls cost
    (as in Graham, Kessler and McKusick, gprof, 1982), as if it did the same for each of them. Calls that
    close a cycle are cut, the same ones in both builds: within a cycle of calls, methods are ordered by the
    strongest calls that lead to them from outside, and only calls along that order count. Costs without
    callees are kept by both; calls from nowhere are not told from those of known callers.

    seconds: of an unprofiled trial at base and at head, over which the shares of methods are spread. No child
    costs more than its parent, and the roots cost together what all methods cost, but for paths below LEAST
    of both builds, beyond MOST_NODES or deeper than MOST_DEPTH, which are left out with all that they call.
    Renamed methods have their name at head. Takes time in proportion to methods and edges.
    """
    calls = _Calls.of(base, head, pairing, seconds)
    return calls.cut().unfolded()


class _Rows(dict[Method, int]):
    """Rows of one side's methods, by their names at head; each is looked up there once."""

    def __init__(self, row: dict[Method, int], heads: Mapping[Method, Method]) -> None:
        super().__init__()
        self._row, self._heads = row, heads

    def __missing__(self, method: Method) -> int:
        self[method] = self._row.setdefault(self._heads.get(method, method), len(self._row))
        return self[method]


@dataclass(frozen=True)
class _Calls:
    """Methods as rows (n,) and calls as edges (e,), of two sides (first axis: base, head).

    own: seconds without callees, (2, n). weights: cost of calls as shares of all, (2, e); present: whether
    the side has them.
    """

    names: list[str]
    own: Floats
    caller: Ints
    callee: Ints
    weights: Floats
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, base: Profile, head: Profile, pairing: Pairing, seconds: tuple[float, float]) -> _Calls:
        """Both profiles under the methods of head; what a method calls itself is its own cost."""
        row: dict[Method, int] = {}
        own: list[tuple[int, int, float]] = []
        edges: list[tuple[int, int, int, float]] = []
        for side, (profile, heads) in enumerate(((base, pairing.heads), (head, dict[Method, Method]()))):
            rows = _Rows(row, heads)
            own += [
                (side, rows[m], max(c.self_share, 0.0) * seconds[side]) for m, c in profile.methods.items()
            ]
            edges += [(side, rows[a], rows[b], max(e.total, 0.0)) for (a, b), e in profile.edges.items()]
        methods = sorted(row, key=lambda m: (m.name, m.file or ""))
        places = np.empty(len(row), dtype=np.int64)
        places[[row[m] for m in methods]] = np.arange(len(row))
        spent = np.zeros((2, len(row)))
        for side, i, cost in own:
            spent[side, places[i]] += cost
        found = np.array(edges).reshape(-1, 4)
        found = found[found[:, 1] != found[:, 2]]
        sides, ends = found[:, 0].astype(int), places[found[:, 1:3].astype(int)]
        pairs, edge = np.unique(ends, axis=0, return_inverse=True)
        weights, present = np.zeros((2, len(pairs))), np.zeros((2, len(pairs)), dtype=bool)
        np.add.at(weights, (sides, edge), found[:, 3])
        present[sides, edge] = True
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return cls([m.name for m in methods], spent, pairs[:, 0], pairs[:, 1], weights, present)

    def cut(self) -> _Calls:
        """Without the calls that close a cycle."""
        from scipy.sparse import coo_array  # a third of a second, not of every start
        from scipy.sparse.csgraph import connected_components

        rows = len(self.names)
        strength = self.weights.sum(axis=0)
        ones = np.ones(self.caller.size)
        matrix = coo_array((ones, (self.caller, self.callee)), shape=(rows, rows)).tocsr()
        cycle = connected_components(matrix, directed=True, connection="strong")[1] if rows else np.array([])
        inside = cycle[self.caller] == cycle[self.callee]
        order = self._order(cycle, inside, strength)
        kept = ~inside | (order[self.caller] < order[self.callee])
        return _Calls(
            self.names,
            self.own,
            self.caller[kept],
            self.callee[kept],
            self.weights[:, kept],
            self.present[:, kept],
        )

    def _order(self, cycle: Ints, inside: NDArray[np.bool_], strength: Floats) -> Ints:
        """Places of the methods of each cycle, by the strongest calls that lead to them from outside."""
        rows = len(self.names)
        entered = np.bincount(self.callee[~inside], strength[~inside], rows)
        entries = np.zeros(rows, dtype=bool)
        entries[self.callee[~inside]] = True
        gives = np.bincount(self.caller, strength, rows) - np.bincount(self.callee, strength, rows)
        # A cycle that nobody outside calls begins where most is given away.
        ranked = np.lexsort((np.arange(rows), -gives, cycle))
        leading = ranked[np.diff(cycle[ranked], prepend=-1) != 0]
        entries[leading[~np.isin(cycle[leading], cycle[entries])]] = True
        within: dict[int, list[tuple[int, float]]] = {}
        for a, b, s in zip(self.caller[inside], self.callee[inside], strength[inside], strict=True):
            within.setdefault(int(a), []).append((int(b), float(s)))
        waiting = [(-float(entered[i]), int(i)) for i in np.flatnonzero(entries)]
        heapq.heapify(waiting)
        order, places = np.full(rows, -1), count()
        while waiting:
            _, i = heapq.heappop(waiting)
            if order[i] < 0:
                order[i] = next(places)
                for j, s in within.get(i, ()):
                    heapq.heappush(waiting, (-s, j))
        return order

    def unfolded(self) -> tuple[FlameNode, ...]:
        """Call paths from the roots, the costliest first; there are no cycles any more."""
        shares = self._shares()
        total = self._totals(shares)
        called = np.zeros(self.own.shape, dtype=bool)
        for side in (0, 1):
            called[side, self.callee[self.present[side]]] = True
        whole = np.maximum(self.own.sum(axis=1), np.finfo(float).tiny)
        first = np.searchsorted(self.caller, np.arange(len(self.names) + 1))
        tickets = count()
        waiting: list[tuple[float, int, int, int, int, Floats]] = []

        def offer(row: int, parent: int, depth: int, part: Floats) -> None:
            cost = float((part * total[:, row] / whole).max())
            if cost >= LEAST:
                heapq.heappush(waiting, (-cost, next(tickets), row, parent, depth, part))

        for top in np.flatnonzero(~called.all(axis=0)).tolist():
            offer(top, -1, 1, (~called[:, top]).astype(float))
        nodes: list[FlameNode] = []
        while waiting and len(nodes) < MOST_NODES:
            _, _, row, parent, depth, part = heapq.heappop(waiting)
            spent = part * total[:, row]
            nodes.append(
                FlameNode(method=self.names[row], parent=parent, base=float(spent[0]), head=float(spent[1]))
            )
            if depth < MOST_DEPTH:
                for edge in range(first[row], first[row + 1]):
                    offer(int(self.callee[edge]), len(nodes) - 1, depth + 1, part * shares[:, edge])
        return tuple(nodes)

    def _shares(self) -> Floats:
        """How much of its callee's cost each call is given, (2, e); evenly where no call costs anything."""
        shares = np.zeros_like(self.weights)
        for side in (0, 1):
            here = self.present[side]
            paid = np.bincount(self.callee, self.weights[side], len(self.names))[self.callee]
            weights = np.where(paid > 0, self.weights[side], here.astype(float))
            whole = np.bincount(self.callee, weights, len(self.names))[self.callee]
            shares[side, here] = weights[here] / whole[here]
        return shares

    def _totals(self, shares: Floats) -> Floats:
        """Seconds with callees, (2, n): callees before their callers."""
        total = self.own.copy()
        left = np.bincount(self.caller, minlength=len(self.names))
        by_callee = np.argsort(self.callee, kind="stable")
        first = np.searchsorted(self.callee[by_callee], np.arange(len(self.names) + 1))
        ready: list[int] = np.flatnonzero(left == 0).tolist()
        while ready:
            row = ready.pop()
            for edge in by_callee[first[row] : first[row + 1]]:
                caller = int(self.caller[edge])
                total[:, caller] += shares[:, edge] * total[:, row]
                left[caller] -= 1
                if not left[caller]:
                    ready.append(caller)
        return total
