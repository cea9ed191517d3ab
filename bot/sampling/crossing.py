"""Valid configurations between one and others: each value is that of either."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bot.model.space import Configuration

LEAST_KEPT = 0.2
"""Share of the one's own values that is kept at least, on average."""


def crossings(
    one: Configuration,
    others: Sequence[Configuration],
    valid: Callable[[Configuration], Configuration | None],
    *,
    count: int,
    rng: np.random.Generator,
) -> list[Configuration]:
    """At most `count` distinct ones, between one and each of the others in turn.

    valid: the valid configuration near a wanted one, if there is any. The share of kept values differs, so
    that terms of one level and of several hold in some and not in others.
    """
    found: dict[Configuration, None] = {}
    for turn in range(count if others else 0):
        other = others[turn % len(others)]
        kept = rng.random(len(one)) < rng.uniform(LEAST_KEPT, 1.0)
        wanted = tuple(a if keep else b for a, b, keep in zip(one, other, kept.tolist(), strict=True))
        near = valid(wanted)
        if near is not None:
            found[near] = None
    return list(found)
