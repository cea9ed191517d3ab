"""Counts what has no name of its own (lambdas, comprehensions, generated code) to its nearest callers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bot.model.profiles import EdgeCost, Method, MethodCost

_Shares = dict[Method, float]
_ROUNDS = 3


@dataclass(frozen=True)
class Row:
    """A function of one process; `method` None: without a name. Seconds without and with callees."""

    method: Method | None
    calls: int
    total: float
    own: float


@dataclass(frozen=True)
class Link:
    """Calls from row `caller` to row `callee`: their number, their seconds with and without callees."""

    caller: int
    callee: int
    calls: int
    total: float
    own: float


@dataclass
class Costs:
    """Sums over rows, links and processes."""

    calls: dict[Method, int] = field(default_factory=lambda: defaultdict(int))
    own: dict[Method, float] = field(default_factory=lambda: defaultdict(float))
    total: dict[Method, float] = field(default_factory=lambda: defaultdict(float))
    edge_calls: dict[tuple[Method, Method], int | None] = field(default_factory=dict)
    edge_total: dict[tuple[Method, Method], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, rows: Sequence[Row], links: Iterable[Link]) -> None:
        """Adds one process."""
        incoming: dict[int, list[Link]] = defaultdict(list)
        kept = list(links)
        for link in kept:
            if rows[link.callee].method is None:
                incoming[link.callee].append(link)
        callers = _nearest(rows, incoming)
        for row in rows:
            if row.method is not None:
                self.calls[row.method] += row.calls
                self.own[row.method] += row.own
                self.total[row.method] += row.total
        for link in kept:
            self._add_link(rows, link, callers)

    def _add_link(self, rows: Sequence[Row], link: Link, callers: Mapping[int, _Shares]) -> None:
        caller, callee = rows[link.caller].method, rows[link.callee].method
        shares = callers[link.caller] if caller is None else {caller: 1.0}
        for method, share in shares.items():
            if callee is None:
                self.own[method] += link.own * share
                continue
            edge = (method, callee)
            self.edge_total[edge] += link.total * share
            known = self.edge_calls.get(edge, 0)
            # Which of several callers made how many of these calls is not known.
            self.edge_calls[edge] = known + link.calls if known is not None and share == 1.0 else None

    def methods(self) -> dict[Method, MethodCost]:
        """Costs of each method; shares of all seconds seen."""
        everything = sum(self.own.values())
        return {
            method: MethodCost(
                self_share=self.own[method] / everything if everything > 0 else 0.0,
                self_seconds=self.own[method],
                total_seconds=self.total[method],
                calls=calls,
            )
            for method, calls in self.calls.items()
        }

    def edges(self) -> dict[tuple[Method, Method], EdgeCost]:
        """Costs of each edge between methods, in seconds."""
        return {edge: EdgeCost(self.edge_calls[edge], total) for edge, total in self.edge_total.items()}


def _nearest(rows: Sequence[Row], incoming: Mapping[int, Sequence[Link]]) -> dict[int, _Shares]:
    """For each row without a name the named methods that it worked for, with shares that sum to at most one.

    Shares go by the seconds that each caller spent in it. Circles of such rows are cut where they close, and
    then gone round some times more.
    """
    done: dict[int, _Shares] = {}
    circle = False
    for first, row in enumerate(rows):
        if row.method is not None or first in done:
            continue
        stack, open_rows = [first], {first}
        while stack:
            place = stack[-1]
            callers = _unnamed(rows, incoming, place)
            wanted = next((c for c in callers if c not in done and c not in open_rows), None)
            if wanted is None:
                done[place] = _mixed(rows, place, incoming.get(place, ()), done)
                circle = circle or any(c in open_rows for c in _unnamed(rows, incoming, place) if c != place)
                open_rows.discard(stack.pop())
            else:
                stack.append(wanted)
                open_rows.add(wanted)
    for _ in range(_ROUNDS if circle else 0):
        for place in done:
            done[place] = _mixed(rows, place, incoming.get(place, ()), done)
    return done


def _unnamed(rows: Sequence[Row], incoming: Mapping[int, Sequence[Link]], place: int) -> Iterator[int]:
    return (link.caller for link in incoming.get(place, ()) if rows[link.caller].method is None)


def _mixed(rows: Sequence[Row], place: int, links: Sequence[Link], done: Mapping[int, _Shares]) -> _Shares:
    others = [link for link in links if link.caller != place]
    usable = [link for link in others if rows[link.caller].method is not None or link.caller in done]
    seconds = sum(link.total for link in usable)
    calls = sum(link.calls for link in usable)
    shares: _Shares = defaultdict(float)
    for link in usable:
        weight = link.total / seconds if seconds > 0 else link.calls / max(calls, 1)
        method = rows[link.caller].method
        for named, share in ({method: 1.0} if method is not None else done[link.caller]).items():
            shares[named] += weight * share
    # One caller alone is certain, whatever was rounded on the way.
    return dict.fromkeys(shares, 1.0) if len(shares) == 1 else dict(shares)
