"""The call paths to an asserted method as a graph, with its chains and what is alike folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from bot.model.report_assertions import AssertionOutcome, AssertionPath
from bot.report.assertion_layout import Link
from bot.report.formats import clean

MOST_BOXES, FOLDED = 26, 14
"""More than this are not drawn; of more than this, chains and callers that are alike are folded into one."""
MOST_DEPTH = 100
"""Of a path, counted from the method."""
UNKNOWN_CALLER = "(unknown caller)"
Group: TypeAlias = int | None


@dataclass
class Call:
    """What runs over a link. calls: by group, of base and head. names: of selected edges. moved: by group."""

    calls: dict[Group, tuple[int, int]] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    moved: set[Group] = field(default_factory=set)

    def count(self, group: Group, calls: tuple[int, int]) -> None:
        """Adds calls of base and head."""
        base, head = self.calls.get(group, (0, 0))
        self.calls[group] = base + max(calls[0], 0), head + max(calls[1], 0)

    @property
    def total(self) -> int:
        """Of both sides and all groups."""
        return sum(map(sum, self.calls.values()))


@dataclass(frozen=True)
class CallGraph:
    """boxes: names, that which stands for the others first; the method is number 0. paths: drawn of known."""

    boxes: tuple[tuple[str, ...], ...]
    links: dict[Link, Call]
    recursive: frozenset[int]
    paths: tuple[int, int]


def call_graph(outcome: AssertionOutcome) -> CallGraph | None:
    """The graph of as many paths as can be read, those that moved and the busiest first; None without any."""
    known = [path for path in outcome.paths if path.path]
    known.sort(key=lambda path: (not _moved(outcome, path), -sum(path.calls)))
    first = {path.group: path for path in reversed(known)}
    known.sort(key=lambda path: path is not first[path.group])
    drawn = len(known)
    while drawn:
        graph = _Growing(outcome.method)
        for path in known[:drawn]:
            graph.add(path, moved=_moved(outcome, path))
        graph.name(outcome.edges)
        graph.fold()
        if len(graph.boxes) <= MOST_BOXES or drawn == 1:
            return graph.grown((drawn, len(known)))
        drawn = max(1, drawn * 3 // 4)
    return None


def _moved(outcome: AssertionOutcome, path: AssertionPath) -> bool:
    """Whether the calls over this path are among those that moved."""
    if path.group is None or not 0 <= path.group < len(outcome.groups):
        return False
    group = outcome.groups[path.group]
    return group.outcome == "violated" and (not group.paths or path.path in group.paths)


class _Growing:
    """Grows path by path, then shrinks. boxes: by number, 0 is the method."""

    def __init__(self, method: str) -> None:
        self.boxes: dict[int, tuple[str, ...]] = {0: (method,)}
        self._numbers = {method: 0}
        self._links: dict[Link, Call] = {}
        self._callers: dict[int, set[int]] = defaultdict(set)
        self._callees: dict[int, set[int]] = defaultdict(set)
        self._recursive: set[int] = set()

    def add(self, path: AssertionPath, *, moved: bool) -> None:
        """The calls of a path, each once."""
        callers = path.path[-MOST_DEPTH:-1] or (UNKNOWN_CALLER,)
        for link in dict.fromkeys(pairwise((*map(self._number, callers), 0))):
            if link[0] == link[1]:
                self._recursive.add(link[0])
                continue
            call = self._link(link)
            call.count(path.group, path.calls)
            if moved:
                call.moved.add(path.group)

    def _number(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self._numbers))
        self.boxes[number] = (name,)
        return number

    def name(self, edges: Mapping[str, tuple[str, str]]) -> None:
        """Marks the links that conditions speak of."""
        for name, (caller, callee) in edges.items():
            link = self._numbers.get(caller, -1), self._numbers.get(callee, -1)
            if link in self._links:
                self._links[link].names += (name,)

    def fold(self) -> None:
        """Makes one box of each chain, and of methods called alike by the same ones, if there are many."""
        before = len(self.boxes) + 1
        while FOLDED < len(self.boxes) < before:
            before = len(self.boxes)
            self._fold_chains()
            self._fold_twins()

    def _fold_chains(self) -> None:
        """Where a call alone leads away from its caller, and alone to its callee, these become one."""
        for caller, callee in sorted(self._links):
            alone = len(self._callees[caller]) == 1 == len(self._callers[callee])
            if alone and caller and callee and not self._links[caller, callee].names:
                self._merge(callee, caller)

    def _fold_twins(self) -> None:
        """Methods that nothing tells apart become one, named after that with most calls."""
        first: dict[object, int] = {}
        for box in sorted(self.boxes, key=lambda b: (-self._total(b), b)):
            callers, callees = sorted(self._callers[box]), sorted(self._callees[box])
            around = [self._links[caller, box] for caller in callers]
            around += [self._links[box, callee] for callee in callees]
            if not box or any(call.names for call in around):
                continue
            groups = [(frozenset(call.calls), frozenset(call.moved)) for call in around]
            twin = first.setdefault((tuple(callers), tuple(callees), tuple(groups)), box)
            if twin != box:
                self._merge(twin, box)

    def _total(self, box: int) -> int:
        return sum(self._links[box, callee].total for callee in self._callees[box])

    def _merge(self, kept: int, gone: int) -> None:
        self.boxes[kept] += self.boxes.pop(gone)
        if gone in self._recursive:
            self._recursive.add(kept)
        ends = [(caller, gone) for caller in self._callers[gone]]
        ends += [(gone, callee) for callee in self._callees[gone]]
        for link in ends:
            call = self._cut(link)
            caller, callee = (kept if end == gone else end for end in link)
            if caller == callee:
                continue
            into = self._link((caller, callee))
            for group, calls in call.calls.items():
                into.count(group, calls)
            into.names += call.names
            into.moved |= call.moved

    def _link(self, link: Link) -> Call:
        self._callees[link[0]].add(link[1])
        self._callers[link[1]].add(link[0])
        return self._links.setdefault(link, Call())

    def _cut(self, link: Link) -> Call:
        self._callees[link[0]].discard(link[1])
        self._callers[link[1]].discard(link[0])
        return self._links.pop(link)

    def grown(self, paths: tuple[int, int]) -> CallGraph:
        """As it is now, renumbered without gaps."""
        place = {box: k for k, box in enumerate(sorted(self.boxes))}
        boxes = tuple(
            tuple(clean(name).strip() or "(unnamed)" for name in self.boxes[b]) for b in sorted(place)
        )
        links = {(place[a], place[b]): call for (a, b), call in self._links.items()}
        return CallGraph(boxes, links, frozenset(place[b] for b in self._recursive), paths)
