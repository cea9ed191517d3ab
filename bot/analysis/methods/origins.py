"""Which new or rewritten method, with all that it calls, a change comes from when its own cost is not it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.methods.callers import Callers, Edge
from bot.analysis.methods.ledger import Array, Ledger
from bot.analysis.methods.spread import spread
from bot.model.profiles import Method, Profile

LEAST_SHARE = 0.25
"""Of the measured change: what explains less, with its callees, is not an origin. Arbitrary."""
DEVIATIONS = 3.0
"""Standard deviations that the cost with callees must have moved."""
MOSTLY = 0.5
"""Share of a method's additional cost that must come through an origin to count as its own. Arbitrary."""
MUCH = 0.75
"""Share of one method's change that makes a related one the origin instead. Arbitrary."""


@dataclass(frozen=True)
class Origin:
    """A method whose cost with callees moved: its share of the change, a standard deviation, and its callees.

    reached: rows of the methods that it calls, directly or not; carried: those of them that cost more
    because it calls them. seconds: with callees, at base and head.
    """

    row: int
    share: float
    deviation: float
    reached: frozenset[int]
    carried: frozenset[int]
    seconds: tuple[float, float]

    @property
    def part(self) -> float:
        """Its share, of which none is larger than all: in cycles, costs with callees overlap."""
        return min(self.share, 1.0)

    @property
    def growth(self) -> float:
        """Cost with callees, head / base; a new method's is infinite."""
        return self.seconds[1] / self.seconds[0] if self.seconds[0] > 0 else float("inf")


def origins(
    book: Ledger,
    callers: Callers,
    profiles: tuple[Sequence[Profile], Sequence[Profile]],
    *,
    seconds: tuple[float, float],
    text: Array,
) -> list[Origin]:
    """The innermost methods that were written or rewritten and whose cost with callees moved, largest first.

    profiles: of base and of head. seconds: of unprofiled trials. text: 1 where a method's text changed, shape
    (methods,). Takes time in proportion to methods and edges.
    """
    change = seconds[1] - seconds[0]
    groups = [np.array([_inclusive(profile, book) for profile in side]) for side in profiles]
    costs = [total * group.mean(axis=0) for total, group in zip(seconds, groups, strict=True)]
    samples = [profile.samples for side in profiles for profile in side if profile.samples]
    noise = spread(groups, float(np.mean(samples)) if samples else None)
    errors = [
        total * np.sqrt(noise.variance / len(group)) for total, group in zip(seconds, groups, strict=True)
    ]
    share, deviation = (costs[1] - costs[0]) / change, np.hypot(*errors) / abs(change)
    wanted = (text == 1.0) & (share >= LEAST_SHARE) & (share >= DEVIATIONS * deviation)
    below = _callees(callers)
    found = [
        Origin(
            row,
            float(share[row]),
            float(deviation[row]),
            _reached(below, row),
            _carried(below, callers, row),
            (float(costs[0][row]), float(costs[1][row])),
        )
        for row in np.flatnonzero(wanted).tolist()
    ]
    kept: list[Origin] = []
    for one in sorted(found, key=lambda origin: -origin.share):
        # No part of the change is told twice, so that of related ones a single one stays.
        if not any(_better(other, one) for other in found) and not any(_related(one, o) for o in kept):
            kept.append(one)
    return kept


def _related(one: Origin, other: Origin) -> bool:
    """Whether one calls the other: call graphs have cycles (visitors of trees), so that both may be so."""
    return other.row in one.reached or one.row in other.reached


def _better(other: Origin, one: Origin) -> bool:
    """Whether a related method has most of the same change and was cheaper before: callers dilute it."""
    if other.row == one.row or not _related(one, other):
        return False
    return other.share + other.deviation >= MUCH * one.part and other.growth > one.growth


def _inclusive(profile: Profile, book: Ledger) -> Array:
    """What each method cost with its callees, as a share of the trial, shape (methods,).

    Where the tool does not know it, the cost of all calls from other methods: too much in cycles.
    """
    heads = book.pairing.heads
    known = {m: c.total_seconds for m, c in profile.methods.items() if c.total_seconds is not None}
    own = sum(c.self_seconds or 0.0 for c in profile.methods.values())
    seen = sum(c.self_share for c in profile.methods.values())
    totals: dict[Method, float] = defaultdict(float)
    if known:
        totals.update(known)
    else:
        own = float(sum(c.instructions or 0 for c in profile.methods.values())) or own
        for (caller, callee), cost in profile.edges.items():
            if caller != callee:
                totals[callee] += cost.total
    out = np.zeros(len(book.methods))
    if own > 0:
        for method, total in totals.items():
            row = book.place.get(method, book.place.get(heads.get(method, method)))
            if row is not None:
                out[row] = min(total / own, 1.0) * seen
    return out


def _callees(callers: Callers) -> Mapping[int, Sequence[int]]:
    """Rows that each row calls at head."""
    found: dict[int, list[int]] = defaultdict(list)
    for callee, edges in callers.incoming.items():
        for edge in edges:
            if edge.calls[1] != 0:
                found[edge.caller].append(callee)
    return found


def _reached(below: Mapping[int, Sequence[int]], row: int) -> frozenset[int]:
    """All that a row calls, directly or not."""
    seen: set[int] = set()
    work = [row]
    while work:
        for callee in below.get(work.pop(), ()):
            if callee not in seen:
                seen.add(callee)
                work.append(callee)
    return frozenset(seen)


def _carried(below: Mapping[int, Sequence[int]], callers: Callers, row: int) -> frozenset[int]:
    """The methods of which most additional cost comes by calls from a row, or from others like them."""
    seen = {row}
    work = [row]
    while work:
        for callee in below.get(work.pop(), ()):
            if callee not in seen and _gained_from(callers.incoming[callee], seen) >= MOSTLY:
                seen.add(callee)
                work.append(callee)
    return frozenset(seen - {row})


def _gained_from(edges: Sequence[Edge], sources: Container[int]) -> float:
    """Share of the additional cost of calls that comes from some callers; 0: there is none."""
    gains = [(edge.caller, max(edge.costs[1] - edge.costs[0], 0.0)) for edge in edges]
    total = sum(gain for _, gain in gains)
    return sum(gain for caller, gain in gains if caller in sources) / total if total > 0 else 0.0
