"""The ways to an asserted method as a graph: calls of some groups between methods, long chains folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from bot.model.report_assertions import AssertionOutcome, AssertionPath
from bot.report.assertion_layout import Link
from bot.report.formats import clean

MOST_BOXES, FOLDED = 40, 14
"""More than this are not drawn; of more than this, chains and callers that are alike are folded into one."""
MOST_DEPTH = 200
"""Of a path, counted from the method."""
UNKNOWN_CALLER = "(unknown caller)"
Group: TypeAlias = int | None


@dataclass
class Call:
    """What runs over a link. calls: by group, of base and head. names: of selected edges. moved: by group."""

    calls: dict[Group, tuple[int, int]] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    moved: set[Group] = field(default_factory=set)

    @property
    def total(self) -> int:
        """Of both sides and all groups."""
        return sum(map(sum, self.calls.values()))


@dataclass(frozen=True)
class Ways:
    """boxes: names, that which stands for the others first; the method is number 0. paths: drawn of known."""

    boxes: tuple[tuple[str, ...], ...]
    links: dict[Link, Call]
    recursive: frozenset[int]
    paths: tuple[int, int]


def ways(outcome: AssertionOutcome) -> Ways | None:
    """The graph of as many paths as can be read, those that moved and the busiest first; None without any."""
    known = [path for path in outcome.paths if path.path]
    known.sort(key=lambda path: (not _moved(outcome, path), -sum(path.calls)))
    first = {path.group: path for path in reversed(known)}
    known.sort(key=lambda path: path is not first[path.group])
    drawn = len(known)
    while drawn:
        graph = _Graph()
        for path in known[:drawn]:
            graph.add(path, moved=_moved(outcome, path))
        graph.name(outcome.edges)
        graph.fold()
        if len(graph.boxes) <= MOST_BOXES or drawn == 1:
            return graph.ways((drawn, len(known)))
        drawn = max(1, drawn * 3 // 4)
    return None


def _moved(outcome: AssertionOutcome, path: AssertionPath) -> bool:
    """Whether the calls over this path are among those that moved."""
    if path.group is None or not 0 <= path.group < len(outcome.groups):
        return False
    group = outcome.groups[path.group]
    return group.outcome == "violated" and (not group.paths or path.path in group.paths)


class _Graph:
    """Grows path by path, then shrinks. boxes: by number, 0 is the method."""

    def __init__(self) -> None:
        self.boxes: dict[int, tuple[str, ...]] = {}
        self._numbers: dict[str, int] = {}
        self._links: dict[Link, Call] = defaultdict(Call)
        self._recursive: set[int] = set()

    def add(self, path: AssertionPath, *, moved: bool) -> None:
        """The calls of a path, each once."""
        *callers, method = path.path[-MOST_DEPTH:]
        numbers = [self._number(name) for name in (method, *(callers or [UNKNOWN_CALLER]), method)]
        for link in dict.fromkeys(pairwise(numbers[1:])):
            if link[0] == link[1]:
                self._recursive.add(link[0])
                continue
            call = self._links[link]
            base, head = call.calls.get(path.group, (0, 0))
            call.calls[path.group] = (base + path.calls[0], head + path.calls[1])
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
        """Makes one box of a chain, or of methods called alike by the same ones, while there are many."""
        while len(self.boxes) > FOLDED:
            pair = self._chain() or self._twins()
            if pair is None:
                return
            self._merge(*pair)

    def _chain(self) -> Link | None:
        """The two ends of a call that alone leads away from its caller and to its callee."""
        callers, callees = self._near()
        for (caller, callee), call in self._links.items():
            alone = len(callees[caller]) == 1 == len(callers[callee])
            if alone and caller and callee and not call.names:
                return callee, caller
        return None

    def _twins(self) -> Link | None:
        """Two methods that nothing tells apart; the one with more calls first."""
        callers, callees = self._near()
        seen: dict[object, int] = {}
        for box in sorted(self.boxes, key=lambda b: (-self._calls(b, callees[b]), b)):
            around = [(caller, box) for caller in callers[box]] + [(box, callee) for callee in callees[box]]
            if not box or any(self._links[link].names for link in around):
                continue
            lines = [(frozenset(c.calls), frozenset(c.moved)) for c in map(self._links.__getitem__, around)]
            first = seen.setdefault((tuple(callers[box]), tuple(callees[box]), tuple(lines)), box)
            if first != box:
                return first, box
        return None

    def _calls(self, box: int, callees: list[int]) -> int:
        return sum(self._links[box, callee].total for callee in callees)

    def _near(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        callers: dict[int, list[int]] = defaultdict(list)
        callees: dict[int, list[int]] = defaultdict(list)
        for caller, callee in sorted(self._links):
            callers[callee].append(caller)
            callees[caller].append(callee)
        return callers, callees

    def _merge(self, kept: int, gone: int) -> None:
        self.boxes[kept] += self.boxes.pop(gone)
        if gone in self._recursive:
            self._recursive.add(kept)
        for link in [link for link in self._links if gone in link]:
            call = self._links.pop(link)
            caller, callee = (kept if end == gone else end for end in link)
            if caller == callee:
                continue
            into = self._links[caller, callee]
            for group, (base, head) in call.calls.items():
                before = into.calls.get(group, (0, 0))
                into.calls[group] = before[0] + base, before[1] + head
            into.names += call.names
            into.moved |= call.moved

    def ways(self, paths: tuple[int, int]) -> Ways:
        """As it is now, renumbered without gaps."""
        place = {box: k for k, box in enumerate(sorted(self.boxes))}
        boxes = tuple(
            tuple(clean(name).strip() or "(unnamed)" for name in self.boxes[b]) for b in sorted(place)
        )
        links = {(place[a], place[b]): call for (a, b), call in self._links.items()}
        return Ways(boxes, links, frozenset(place[b] for b in self._recursive), paths)
