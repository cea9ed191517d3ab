"""Which calls the fine profiler can afford to time, from how often methods are called."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.model.profiles import Method, Profile

ALWAYS_TIMED = 1000
"""Methods with no more calls are timed at each."""
NAMED = 3
"""Methods in a note."""


@dataclass(frozen=True)
class CallCosts:
    """Seconds that a tool adds: to a call that is timed, to one that is only counted, and to the trial."""

    timed: float
    counted: float
    start: float = 0.0

    def of(self, calls: int, *, every: int) -> float:
        """To so many calls, of which one in `every` is timed."""
        timed = calls / every
        return timed * self.timed + (calls - timed) * self.counted


@dataclass(frozen=True)
class CallBudget:
    """Of which method one in how many calls is timed; `too_many`: methods that cannot even be counted.

    overhead: the share of the run that is expected to be added.
    """

    every: Mapping[Method, int]
    too_many: tuple[Method, ...] = ()
    overhead: float = 0.0

    def notes(self, target: float) -> list[str]:
        """On methods that are left out and those that are sampled; target: share of the run."""
        notes = []
        if self.too_many:
            too_often = f"called too often to be timed within {target:.0%} of the run"
            notes.append(f"Not timed, because {too_often}: {some(self.too_many)}.")
        sampled = [method for method, every in self.every.items() if every > 1]
        if sampled:
            every = max(self.every.values())
            of = "1 method" if len(sampled) == 1 else f"{len(sampled)} methods"
            notes.append(f"One in {every} calls was timed, of {of}: {some(sampled)}.")
        return notes


def some(methods: Sequence[Method]) -> str:
    """The first names."""
    shown = ", ".join("`{}`".format(method.name.replace("`", "'")) for method in methods[:NAMED])
    return shown if len(methods) <= NAMED else f"{shown} and {len(methods) - NAMED} more"


def planned(
    methods: Sequence[Method], coarse: Profile | None, *, costs: CallCosts, overhead: float
) -> CallBudget:
    """What of these methods is timed; coarse: how often they are called (None: all calls are timed)."""
    distinct = dict.fromkeys(methods, 1)
    if coarse is None:
        return CallBudget(distinct)
    known = {m: coarse.methods[m].calls or 0 for m in distinct if m in coarse.methods}
    calls = {m: known.get(m, 0) for m in distinct}
    return call_budget(calls, costs=costs, seconds=coarse.plain_seconds, target=overhead)


def call_budget(
    calls: Mapping[Method, int], *, costs: CallCosts, seconds: float, target: float
) -> CallBudget:
    """Takes methods from the rarest on, while counting their calls and timing some fits; times what fits.

    calls: expected of each method. seconds: of a run without profiler. target: share, 0.1 for 10 %.
    """
    budget = allowed = max(0.0, target * seconds - costs.start)
    kept: dict[Method, int] = {}
    too_many = []
    for method, count in sorted(calls.items(), key=lambda item: item[1]):
        least = costs.of(count, every=max(1, count // ALWAYS_TIMED))
        if least > budget:
            too_many.append(method)
        else:
            kept[method] = count
            budget -= least
    every = _every(kept, allowed, costs)
    cost = costs.start + sum(costs.of(n, every=every if n > ALWAYS_TIMED else 1) for n in kept.values())
    return CallBudget(
        {method: every if n > ALWAYS_TIMED else 1 for method, n in kept.items()},
        tuple(too_many),
        cost / seconds if seconds > 0 else 0.0,
    )


def _every(kept: Mapping[Method, int], budget: float, costs: CallCosts) -> int:
    """The smallest number that keeps all within the budget."""
    rare = sum(n for n in kept.values() if n <= ALWAYS_TIMED)
    often = sum(n for n in kept.values() if n > ALWAYS_TIMED)
    left = budget - rare * costs.timed - often * costs.counted
    wanted = often * (costs.timed - costs.counted)
    most = max(1, max(kept.values(), default=0) // ALWAYS_TIMED)
    return most if left <= 0 else min(most, max(1, math.ceil(wanted / left)))
