"""Which methods a fine profiler can watch within the overhead it may have, from how often they are called."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.profiles import Method, Profile

OVERHEAD = 0.1
"""Share of the trial that watching may add."""


def affordable(
    methods: Sequence[Method], coarse: Profile | None, *, seconds_per_call: float, overhead: float
) -> tuple[list[Method], list[str]]:
    """The methods to watch, rarest called first as far as the overhead goes, and a note on those left out.

    coarse: a profile with exact calls; without it, and without a method's count, nothing is left out.
    """
    distinct = list(dict.fromkeys(methods))
    if coarse is None:
        return distinct, []
    costs = {method: cost.calls or 0 for method, cost in coarse.methods.items()}
    budget = overhead * coarse.seconds / seconds_per_call
    kept: list[Method] = []
    left: list[Method] = []
    for method in sorted(distinct, key=lambda m: (costs.get(m, 0), m)):
        calls = costs.get(method, 0)
        if calls <= budget:
            budget -= calls
            kept.append(method)
        else:
            left.append(method)
    if not left:
        return kept, []
    return kept, [
        f"Methods called too often to be watched within {overhead:.0%} overhead (first: {left[0].name}, "
        f"{costs[left[0]]} calls) are only counted, by the coarse profile: {len(left)} in all."
    ]
