"""Who calls whom in a program, and what is hot, from a coarse profile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bot.model.assertions import CallEdge
from bot.model.profiles import Method, Profile

CALLERS = 8
"""Calls above a method that are looked at."""
ROUNDS = 50
"""Longest way down a graph of calls, and turns of a recursion, that costs are followed."""


@dataclass(frozen=True)
class CallGraph:
    """Calls between methods; those of the checkout are told apart, because only they can be changed here."""

    coarse: Profile
    _above: dict[Method, Collection[Method]] = field(default_factory=dict, init=False, compare=False)

    @cached_property
    def hot(self) -> Sequence[Method]:
        """Methods of the checkout (of anywhere, if there is none), the one with most own time first."""
        every = self.coarse.methods
        own = [m for m in every if m.file is not None] or list(every)
        return sorted(own, key=lambda m: (-every[m].self_share, m))

    @cached_property
    def callers(self) -> Mapping[Method, Sequence[Method]]:
        """Callers in the checkout, by callee."""
        found: dict[Method, list[Method]] = defaultdict(list)
        for caller, callee in sorted(self.coarse.edges):
            if caller.file is not None and caller != callee:
                found[callee].append(caller)
        return found

    @cached_property
    def edges(self) -> frozenset[CallEdge]:
        """All calls, by name."""
        return frozenset((caller.name, callee.name) for caller, callee in self.coarse.edges)

    def above(self, method: Method) -> Collection[Method]:
        """Methods of the checkout over which a method may be reached, the nearest first."""
        if method not in self._above:
            found: dict[Method, None] = {}
            layer = [method]
            for _ in range(CALLERS):
                every = dict.fromkeys(c for m in layer for c in self.callers.get(m, ()))
                layer = [c for c in every if c not in found and c != method]
                found |= dict.fromkeys(layer)
            self._above[method] = found.keys()
        return self._above[method]

    def share(self, method: Method) -> float:
        """Of the program's cost that of a method's calls, callees included, as far as calls were counted."""
        return min(1.0, self._called.get(method, 0.0) / max(self._whole, 1e-12))

    def within(self, methods: Collection[Method]) -> float:
        """Share of the program's own costs that is spent in these methods or in what they call.

        A call's cost is taken to be the same whoever calls (as gprof does); recursion settles in some rounds.
        """
        inside = dict.fromkeys(methods, 1.0)
        for _ in range(ROUNDS):
            reached: dict[Method, float] = defaultdict(float)
            for (caller, callee), cost in self.coarse.edges.items():
                if caller != callee and cost.total > 0:
                    reached[callee] += inside.get(caller, 0.0) * cost.total / self._called[callee]
            inside = reached | dict.fromkeys(methods, 1.0)
        return sum(cost.self_share * inside.get(m, 0.0) for m, cost in self.coarse.methods.items())

    @cached_property
    def _whole(self) -> float:
        own = self.coarse.methods.values()
        return sum(c.instructions or 0.0 for c in own) or sum(c.self_seconds or 0.0 for c in own)

    @cached_property
    def _called(self) -> Mapping[Method, float]:
        found: dict[Method, float] = defaultdict(float)
        for (caller, callee), cost in self.coarse.edges.items():
            if caller != callee:
                found[callee] += cost.total
        return found

    def calls(self, method: Method) -> int:
        """In a trial, as far as they were counted."""
        cost = self.coarse.methods.get(method)
        return (cost.calls or 0) if cost is not None else 0
