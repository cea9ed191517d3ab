"""Whether the machine moved since an earlier night: the same old code in the same configurations."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from bot.model.change_points import Observation
from bot.model.report import Environment
from bot.model.space import Configuration

MOVED = 4.0
"""Standard errors by which the anchor's trials of two nights must differ for the machine to have moved."""
LEAST = 0.01
"""Smaller moves are not worth a sentence."""
LEAST_ERROR = 1e-6
Anchored = Mapping[Configuration, Sequence[float]]
"""Seconds of the anchor's trials."""


def anchored(observations: Sequence[Observation], anchor: int = 0) -> Anchored:
    """The values measured at the anchor, in seconds."""
    found: dict[Configuration, list[float]] = defaultdict(list)
    for o in observations:
        if o.probe.revision == anchor and o.value > 0:
            found[o.probe.configuration].append(o.value)
    return found


def speed(now: Anchored, then: Anchored) -> tuple[float, float] | None:
    """Mean log ratio of now to then over the configurations of both, and its standard error from repetitions.

    None: no configuration is in both.
    """
    both = [c for c in now if c in then]
    if not both:
        return None
    logs = np.array([np.log(np.median(now[c]) / np.median(then[c])) for c in both])
    spread = [np.log(np.array(x)) - np.log(np.median(x)) for c in both for x in (now[c], then[c])]
    freedom = sum(len(x) - 1 for x in spread)
    noise = math.sqrt(sum(float((x**2).sum()) for x in spread) / freedom) if freedom else LEAST
    each = [noise * math.sqrt(1.0 / len(now[c]) + 1.0 / len(then[c])) for c in both]
    error = math.sqrt(sum(e**2 for e in each)) / len(both)
    return float(logs.mean()), max(error, LEAST_ERROR)


def moved(now: Anchored, then: Anchored) -> float | None:
    """By which ratio the machine became slower since then; None: it cannot be told from noise."""
    found = speed(now, then)
    if found is None or abs(found[0]) < max(LEAST, MOVED * found[1]):
        return None
    return math.exp(found[0])


def differences(now: Environment, then: Environment) -> list[str]:
    """What two nights' machines differ in, such as `processor A instead of B`; unknown is no difference."""
    pairs = [
        ("processor", then.cpu, now.cpu),
        ("cores", then.cores, now.cores),
        ("kernel", then.kernel, now.kernel),
        ("image", then.image, now.image),
    ]
    pairs += [(tool, then.tools[tool], now.tools[tool]) for tool in sorted(then.tools.keys() & now.tools)]
    return [f"{name} {b} instead of {a}" for name, a, b in pairs if a and b and a != b]
