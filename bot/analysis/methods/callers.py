"""Who calls a method: the path that explains most of it, and which caller makes more calls than before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bot.analysis.methods.ledger import Array, Ledger
from bot.model.profiles import EdgeCost, Method, Profile

LONGEST = 12
"""Callers on a path."""
MOST_OF = 0.5
"""Share of the additional calls that one caller must make to be their origin. Arbitrary."""


@dataclass(frozen=True)
class Edge:
    """Calls from one row to another (at base, at head; None: not known) and their costs with callees."""

    caller: int
    callee: int
    calls: tuple[float | None, float | None]
    costs: tuple[float, float]

    @property
    def added(self) -> float:
        """What the calls that base did not make cost; 0: there are none, or calls were not counted."""
        before, after = self.calls
        more = 0.0 if before is None or after is None else after - before
        return self.costs[1] * more / after if after and more > 0.0 else 0.0


@dataclass(frozen=True)
class Callers:
    """The edges of two builds by the rows of a ledger."""

    book: Ledger
    base: Mapping[tuple[Method, Method], EdgeCost]
    head: Mapping[tuple[Method, Method], EdgeCost]

    @classmethod
    def of(cls, book: Ledger, base: Sequence[Profile], head: Sequence[Profile]) -> Callers:
        """Of the first profile of each side that has edges."""
        before = next((p.edges for p in base if p.edges), {})
        return cls(book, before, next((p.edges for p in head if p.edges), {}))

    @cached_property
    def incoming(self) -> Mapping[int, Sequence[Edge]]:
        """Edges by their callee, those of either build; a recursion's own is among them."""
        place, heads = self.book.place, self.book.pairing.heads
        costs: dict[tuple[int, int], list[EdgeCost | None]] = defaultdict(lambda: [None, None])
        for side, edges in enumerate((self.base, self.head)):
            for (caller, callee), cost in edges.items():
                ends = (caller, callee) if side else (heads.get(caller, caller), heads.get(callee, callee))
                if ends[0] in place and ends[1] in place:
                    costs[place[ends[0]], place[ends[1]]][side] = cost
        found: dict[int, list[Edge]] = defaultdict(list)
        for (source, goal), (before, after) in costs.items():
            calls = (0 if before is None else before.calls, 0 if after is None else after.calls)
            spent = 0.0 if before is None else before.total, 0.0 if after is None else after.total
            found[goal].append(Edge(source, goal, calls, spent))
        return found

    @cached_property
    def outgoing(self) -> tuple[Array, Array]:
        """Calls that each method makes, at base and head, shape (methods,); unknown ones count as none."""
        out = np.zeros((2, len(self.book.methods)))
        for edges in self.incoming.values():
            for edge in edges:
                out[:, edge.caller] += [float(calls or 0) for calls in edge.calls]
        return out[0], out[1]

    def path(self, row: int) -> tuple[Method, ...]:
        """Callers, outermost first, without the method itself: who calls more than before, else the hottest.

        Of several that call more, that whose additional calls cost most at head.
        """
        path: list[Method] = []
        seen = {row}
        while len(path) < LONGEST:
            edges = [
                e for e in self.incoming.get(row, ()) if e.caller not in seen and self.book.in_head[e.caller]
            ]
            if not edges:
                break
            row = max(edges, key=lambda edge: (edge.added, edge.costs[1])).caller
            seen.add(row)
            path.append(self.book.methods[row])
        return tuple(reversed(path))

    def _counted(self, row: int) -> Sequence[Edge]:
        """Edges from others; uncounted calls are their parts of the method's, by cost; none: not known."""
        edges = [edge for edge in self.incoming.get(row, ()) if edge.caller != row]
        if not any(None in edge.calls for edge in edges):
            return edges
        calls = [float(side.calls[:, row].mean()) for side in (self.book.base, self.book.head)]
        sums = [sum(edge.costs[side] for edge in edges) for side in (0, 1)]
        if not np.isfinite(calls).all():
            return ()
        each = [count / total if total > 0.0 else 0.0 for count, total in zip(calls, sums, strict=True)]
        return [replace(e, calls=(e.costs[0] * each[0], e.costs[1] * each[1])) for e in edges]

    def _beyond(self, edge: Edge, growth: float) -> float:
        """Additional calls beyond those of a caller that is itself called more often."""
        before, after = edge.calls[0] or 0.0, edge.calls[1] or 0.0
        if np.isfinite(growth):
            return after - before * growth
        # A new method is where its calls come from, unless it belongs to a library that is now used.
        return after if self.book.methods[edge.caller].file is not None else 0.0

    def origin(self, row: int, growth: Array) -> int | None:
        """The caller that calls more on the way to `row` though it is not called more itself; None: unknown.

        growth: of calls of each method, head / base, shape (methods,); NaN: not known.
        """
        seen = {row}
        for _ in range(LONGEST):
            edges = self._counted(row)
            if not edges:
                return None
            more = np.array([(e.calls[1] or 0) - (e.calls[0] or 0) for e in edges], dtype=float)
            excess = np.array([self._beyond(edge, growth[edge.caller]) for edge in edges])
            if more.sum() <= 0.0:
                return None
            if excess.max() >= MOST_OF * more.sum():
                return edges[int(excess.argmax())].caller
            row = edges[int(more.argmax())].caller
            if row in seen:
                return None
            seen.add(row)
        return None
