"""How often trials of a configuration fail, by its own past and that of others that share its values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from bot.analysis.pairs import Floats
from bot.model.space import Configuration, Value

Chosen = tuple[int, Value]
"""An option's position and its value."""

PRIOR_TRIALS = 2.0
"""What is expected without them counts like so many trials: three failures and no success outweigh it."""
OFTEN = 0.6
"""What fails more often is hopeless: with a value of two, half fails where one pair of values is broken."""


def expected_failures(
    trials: Mapping[Configuration, tuple[int, int]], configurations: Sequence[Configuration]
) -> Floats:
    """Probability that a trial of each configuration fails, (n,); trials: how many were made and failed.

    Means of Beta distributions: of a configuration that of its worst value is the prior, of a value that of
    all configurations.
    """
    return np.array([chance for chance, _ in _expected(trials, configurations)])


def doubts(
    trials: Mapping[Configuration, tuple[int, int]], configurations: Sequence[Configuration]
) -> dict[Configuration, Chosen | None]:
    """What fails more often than not, and with which value; None: by its own trials, no value explains it."""
    expected = zip(configurations, _expected(trials, configurations), strict=True)
    return {configuration: cause for configuration, (chance, cause) in expected if chance > OFTEN}


def _expected(
    trials: Mapping[Configuration, tuple[int, int]], configurations: Sequence[Configuration]
) -> list[tuple[float, Chosen | None]]:
    """Probability that a trial fails, and the value because of which it is likely to."""
    values, usual = _values({c: failed / tried for c, (tried, failed) in trials.items() if tried})
    found = []
    for configuration in configurations:
        worst = max(enumerate(configuration), key=lambda chosen: values.get(chosen, usual), default=None)
        expected = usual if worst is None else values.get(worst, usual)
        tried, failed = trials.get(configuration, (0, 0))
        found.append((_mean(failed, tried, expected), worst if expected > OFTEN else None))
    return found


def _values(share: Mapping[Configuration, float]) -> tuple[dict[Chosen, float], float]:
    """Probability of a failure with each value, and of any; share: of failed trials, of each configuration.

    A configuration speaks once, however often it was tried. What fails because of one value says nothing of
    the others in it: the worst value is settled first, and its configurations are left out.
    """
    left, settled = dict(share), dict[Chosen, float]()
    while True:
        usual = sum(left.values()) / (len(left) + PRIOR_TRIALS)
        parts: dict[Chosen, list[float]] = defaultdict(list)
        for configuration, part in left.items():
            for chosen in enumerate(configuration):
                parts[chosen].append(part)
        means = {chosen: _mean(sum(p), len(p), usual) for chosen, p in parts.items()}
        worst = max(means, key=lambda chosen: means[chosen], default=None)
        if worst is None or means[worst] <= OFTEN:
            return means | settled, usual
        settled[worst] = means[worst]
        left = {c: part for c, part in left.items() if c[worst[0]] != worst[1]}


def _mean(failed: float, tried: int, expected: float) -> float:
    """Mean of a Beta distribution after so many trials."""
    return (failed + PRIOR_TRIALS * expected) / (tried + PRIOR_TRIALS)
