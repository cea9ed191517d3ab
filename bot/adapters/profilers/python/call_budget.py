"""Which calls the fine profiler can afford to time, from how often methods are called."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bot.model.profiles import Method

CALL_SECONDS, SKIP_SECONDS = 5e-6, 0.6e-6
"""Of a call that is timed, arguments included, and of one that is only counted: rough, in a real program."""
START_SECONDS = 0.015
"""To load the agent, to calibrate it and to write what it saw."""
ALWAYS_TIMED = 1000
"""Methods with no more calls are timed at each."""


@dataclass(frozen=True)
class CallBudget:
    """Of which method one in how many calls is timed; `too_many`: methods that cannot even be counted.

    overhead: the share of the run that is expected to be added.
    """

    every: Mapping[Method, int]
    too_many: tuple[Method, ...] = ()
    overhead: float = 0.0


def call_budget(calls: Mapping[Method, int], *, seconds: float, target: float) -> CallBudget:
    """Takes methods from the rarest on, while counting their calls and timing some fits; times what fits.

    calls: expected of each method. seconds: of a run without profiler. target: share, 0.1 for 10 %.
    """
    budget = allowed = max(0.0, target * seconds - START_SECONDS)
    kept: dict[Method, int] = {}
    too_many = []
    for method, count in sorted(calls.items(), key=lambda item: item[1]):
        least = _cost(count, every=max(1, count // ALWAYS_TIMED))
        if least > budget:
            too_many.append(method)
        else:
            kept[method] = count
            budget -= least
    every = _every(kept, allowed)
    cost = START_SECONDS + sum(_cost(n, every=every if n > ALWAYS_TIMED else 1) for n in kept.values())
    return CallBudget(
        {method: every if n > ALWAYS_TIMED else 1 for method, n in kept.items()},
        tuple(too_many),
        cost / seconds if seconds > 0 else 0.0,
    )


def _cost(calls: int, *, every: int) -> float:
    timed = calls / every
    return timed * CALL_SECONDS + (calls - timed) * SKIP_SECONDS


def _every(kept: Mapping[Method, int], budget: float) -> int:
    """The smallest number that keeps all within the budget."""
    rare = sum(n for n in kept.values() if n <= ALWAYS_TIMED)
    often = sum(n for n in kept.values() if n > ALWAYS_TIMED)
    left = budget - rare * CALL_SECONDS - often * SKIP_SECONDS
    wanted = often * (CALL_SECONDS - SKIP_SECONDS)
    most = max(1, max(kept.values(), default=0) // ALWAYS_TIMED)
    return most if left <= 0 else min(most, max(1, math.ceil(wanted / left)))
