"""Which methods mining watches in its next trial: those that teach most, as far as the overhead goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from bot.flows.assertions.mining_state import Candidate
from bot.flows.influences.call_observations import MOST_NESTED
from bot.flows.methods.call_graph import CallGraph
from bot.model.assertions import edges_of
from bot.model.profiles import Method

AT_ONCE = 60
"""Methods that are watched in one trial at most, without their callers."""
CALLERS_CALLS, CALLERS_EACH = 10_000, 10
"""Calls of callers that are watched for a method in a trial: so many, and so many for each of its own."""
WARM = 0.005
"""Share of all time from which on a method is watched because it is hot; arbitrary."""
TIMED = 2_000
"""Calls that a tool which times only some of them times nevertheless."""
SKIPPED = 0.12
"""What a call that is not timed costs, of one that is; of the agent in Python programs."""


@dataclass(frozen=True)
class Price:
    """What watching costs. overhead: share of all trials. trial: CPU seconds of one. call: of a watched call.

    sampled: whether the tool times only some of the calls of what is called often. shortest: seconds of the
    median call that the tool can time.
    """

    overhead: float
    trial: float
    call: float
    sampled: bool
    shortest: float = 0.0

    def units(self, calls: int) -> float:
        """Timed calls that cost as much as so many calls."""
        timed = min(calls, TIMED) if self.sampled else calls
        return timed + SKIPPED * (calls - timed)

    def of(self, calls: int) -> float:
        """Seconds for so many calls."""
        return self.call * self.units(calls)

    def allowed(self, rests: int) -> float:
        """Seconds that one trial may take longer beside so many without the tool."""
        return self.overhead * (rests + 1) * self.trial

    def rests(self, calls: int) -> int:
        """Trials without the tool beside one in which so many calls are watched."""
        return math.ceil(self.of(calls) / (self.overhead * max(self.trial, 1e-9))) - 1


def choose(
    candidates: Iterable[Candidate], graph: CallGraph, *, utility: Callable[[Candidate], float], price: Price
) -> list[Candidate]:
    """The candidates to watch together, the one that teaches most first.

    Methods that are watched for one of them cost nothing for another; those that are too dear for a trial
    or whose calls are too short come last, those whose call paths are being watched first, and of the others
    those that are hot or reached in several ways.
    """

    def seconds(candidate: Candidate, watched: Collection[Method] = ()) -> float:
        return sum(price.of(graph.calls(m)) for m in with_callers(candidate, graph) if m not in watched)

    def key(c: Candidate) -> tuple[bool, float, bool, bool, bool, float, Method]:
        return (
            brief(c, graph, price),
            -utility(c),
            seconds(c) > price.allowed(c.rests),
            c.stage != "paths",
            c.hotness < WARM and not _several(c, graph),
            -c.hotness,
            c.method,
        )

    order = sorted(candidates, key=key)
    chosen: list[Candidate] = order[:1]
    watched = {m for c in chosen for m in with_callers(c, graph)}
    left = sum(price.allowed(c.rests) - seconds(c) for c in chosen)
    for candidate in order[1:]:
        more = seconds(candidate, watched)
        if len(chosen) == AT_ONCE or more > left or candidate.rests > chosen[0].rests:
            continue
        if any(_disturbed(candidate, other, graph, price) for other in chosen):
            continue
        left -= more
        chosen.append(candidate)
        watched.update(with_callers(candidate, graph))
    return chosen


def with_callers(candidate: Candidate, graph: CallGraph) -> list[Method]:
    """What is watched for a candidate: of its callers those that are not called too often, nearest first."""
    watched = [candidate.method]
    left = CALLERS_CALLS + CALLERS_EACH * graph.calls(candidate.method)
    for caller in graph.above(candidate.method) if candidate.callers else ():
        if graph.calls(caller) <= left:
            left -= graph.calls(caller)
            watched.append(caller)
    return watched


def brief(candidate: Candidate, graph: CallGraph, price: Price) -> bool:
    """Whether its calls are too short for the tool, as far as is known: a median is at most two means."""
    calls = graph.calls(candidate.method)
    return calls > 0 and _seconds(candidate, graph, price) / calls < price.shortest / 2.0


def _several(candidate: Candidate, graph: CallGraph) -> bool:
    """Whether it is reached in several ways, as far as is known: over one path there is one group.

    Of methods with one direct caller 5 % had groups, of those with several 23 %.
    """
    seen = {edges_of(path) for o in candidate.observations for path in o.durations}
    if seen - {frozenset()}:
        return len(seen) > 1
    return len(graph.callers.get(candidate.method, ())) > 1


def _disturbed(one: Candidate, other: Candidate, graph: CallGraph, price: Price) -> bool:
    """Whether watching one of two would take too much of the time of the other, which is above it."""
    return any(
        above.method in graph.above(below.method)
        and (
            above.alone
            or _cost_below(above, below, graph, price) > MOST_NESTED * _seconds(above, graph, price)
        )
        for above, below in ((one, other), (other, one))
    )


def _cost_below(above: Candidate, below: Candidate, graph: CallGraph, price: Price) -> float:
    watched = (m for m in with_callers(below, graph) if above.method in graph.above(m))
    return sum(price.of(graph.calls(m)) for m in watched)


def _seconds(candidate: Candidate, graph: CallGraph, price: Price) -> float:
    """Of its calls in a trial, callees included; where this is not known, any."""
    return graph.share(candidate.method) * price.trial or math.inf
