"""Which methods mining watches in its next trial: those that teach most, as far as the overhead goes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from bot.flows.call_graph import CallGraph
from bot.flows.mining_state import Candidate
from bot.model.profiles import Method

AT_ONCE = 12
"""Methods that are watched in one trial at most, without their callers."""


def choose(
    candidates: Iterable[Candidate],
    graph: CallGraph,
    *,
    utility: Callable[[Candidate], float],
    most: Callable[[Candidate], float],
    cost: float,
) -> list[Candidate]:
    """The candidates to watch together, the one that teaches most first.

    Methods that are watched for one of them cost nothing for another; those that are too dear for a trial
    come last. most: seconds that a trial in which a candidate is watched may take longer. cost: seconds of a
    watched call.
    """

    def seconds(candidate: Candidate, watched: Collection[Method] = ()) -> float:
        return cost * sum(graph.calls(m) for m in with_callers(candidate, graph) if m not in watched)

    order = sorted(candidates, key=lambda c: (-utility(c), seconds(c) > most(c), -c.hotness, c.method))
    chosen: list[Candidate] = order[:1]
    watched = {m for c in chosen for m in with_callers(c, graph)}
    left = sum(most(c) - seconds(c) for c in chosen)
    for candidate in order[1:]:
        more = seconds(candidate, watched)
        if len(chosen) == AT_ONCE or more > left or candidate.rests > chosen[0].rests:
            continue
        if any(_disturbed(candidate, other, graph) for other in chosen):
            continue
        left -= more
        chosen.append(candidate)
        watched.update(with_callers(candidate, graph))
    return chosen


def with_callers(candidate: Candidate, graph: CallGraph) -> list[Method]:
    """The methods that are watched for a candidate."""
    return [candidate.method, *(graph.above(candidate.method) if candidate.callers else ())]


def _disturbed(one: Candidate, other: Candidate, graph: CallGraph) -> bool:
    """Whether watching one of two would take too much of the time of the other, which is above it."""
    pairs = ((one, other), (other, one))
    return any(above.alone and above.method in graph.above(below.method) for above, below in pairs)
