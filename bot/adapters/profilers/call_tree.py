"""A tree of calling contexts, and what each method and each call between two methods cost in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.model.profiles import EdgeCost, Method, MethodCost


@dataclass
class CallTree:
    """Contexts of calls, each with its parent's number (-1: none), method (None: no named one) and own cost.

    Contexts without a method count to the nearest one above that has it. samples: that found the program's
    own threads there; none where all that is known is the cost.
    """

    parents: list[int] = field(default_factory=list)
    methods: list[Method | None] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)

    def add(self, parent: int, method: Method | None, own: float = 0.0, *, samples: int = 0) -> int:
        """A new context; its number. The parent must be there."""
        self.parents.append(parent)
        self.methods.append(method)
        self.own.append(own)
        self.samples.append(samples)
        return len(self.parents) - 1


@dataclass(frozen=True)
class TreeCosts:
    """Own and total cost of each method, and total cost of each call from one method to another.

    running: share of all samples; empty when there are none.
    """

    own: Mapping[Method, float]
    total: Mapping[Method, float]
    edges: Mapping[tuple[Method, Method], float]
    running: Mapping[Method, float] = field(default_factory=dict)

    def methods(self, *, seen: float, calls: Mapping[Method, int] | None = None) -> dict[Method, MethodCost]:
        """Costs in seconds; `seen`: all that the tool saw, including what no method is to blame for.

        calls: exact counts, where there are any; a method with calls and no time costs nothing visible.
        """
        known = calls or {}
        return {
            m: MethodCost(
                self_share=self.own.get(m, 0.0) / seen if seen > 0 else 0.0,
                self_seconds=self.own.get(m, 0.0),
                total_seconds=self.total.get(m, 0.0),
                calls=known.get(m),
                running_share=self.running.get(m, 0.0) if self.running else None,
            )
            for m in sorted({*self.total, *known}, key=_order)
        }

    def edge_costs(self) -> dict[tuple[Method, Method], EdgeCost]:
        """The edges, without counts of calls."""
        return {edge: EdgeCost(calls=None, total=total) for edge, total in self.edges.items()}


def _order(method: Method) -> tuple[str, str]:
    return method.name, method.file or ""


def tree_costs(tree: CallTree) -> TreeCosts:
    """Own and inclusive costs; within a recursion only the outermost call counts, so nothing counts twice."""
    inclusive = list(tree.own)
    children: list[list[int]] = [[] for _ in tree.parents]
    for node in range(len(tree.parents) - 1, -1, -1):
        parent = tree.parents[node]
        if parent >= 0:
            inclusive[parent] += inclusive[node]
            children[parent].append(node)
    own: defaultdict[Method, float] = defaultdict(float)
    total: defaultdict[Method, float] = defaultdict(float)
    edges: defaultdict[tuple[Method, Method], float] = defaultdict(float)
    running: defaultdict[Method, float] = defaultdict(float)
    sampled = sum(tree.samples)
    path: list[Method] = []
    active: Counter[Method | tuple[Method, Method]] = Counter()
    work = [node for node, parent in enumerate(tree.parents) if parent < 0]
    while work:
        node = work.pop()
        if node < 0:  # back from a context that had a method of its own
            active[path.pop()] -= 1
            if path and node < -1:
                active[path[-1], _method(tree, -node - 2)] -= 1
            continue
        method = tree.methods[node]
        if method is not None:
            edge = (path[-1], method) if path and path[-1] != method else None
            if edge:
                if not active[edge]:
                    edges[edge] += inclusive[node]
                active[edge] += 1
            if not active[method]:
                total[method] += inclusive[node]
            active[method] += 1
            path.append(method)
            work.append(-node - 2 if edge else -1)
        if path:
            own[path[-1]] += tree.own[node]
            if sampled:
                running[path[-1]] += tree.samples[node] / sampled
        work.extend(children[node])
    return TreeCosts(own, total, edges, running)


def _method(tree: CallTree, node: int) -> Method:
    method = tree.methods[node]
    assert method is not None
    return method
