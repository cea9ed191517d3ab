"""Programs whose releases move often: 37 revisions, 14 flags, a step in every third revision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.model.change_points import Observation, Probe
from bot.model.space import Level, Option, Space

OPTIONS, REVISIONS = 14, 37
RATE, AT_ONCE = 0.3, 0.25
"""Probability of steps in a revision; of one more in the same, twice."""
SIZES = (0.03, 0.3)
"""Of steps, as a share of the emptiest configuration."""
SMALL = 0.003
"""Standard deviation of small moves of everything and of options, in half and in a third of the revisions."""
UNEVEN = 0.01
"""Standard deviation of what a pair of options takes beside the sum of both, as a share."""

Step = tuple[int, tuple[Level, ...], float]


@dataclass(frozen=True)
class System:
    """Seconds of a program over revisions, with its steps."""

    space: Space
    steps: tuple[Step, ...]
    costs: NDArray[np.float64]
    pairs: NDArray[np.float64]
    everything: NDArray[np.float64]
    own: NDArray[np.float64]

    def seconds(self, probe: Probe) -> float:
        """Without noise."""
        on = np.array(probe.configuration, dtype=bool)
        moved = self.everything[: probe.revision + 1].sum() + self.own[on][:, : probe.revision + 1].sum()
        moved += sum(
            size
            for at, term, size in self.steps
            if probe.revision >= at and all(self.space.holds(level, probe.configuration) for level in term)
        )
        level = (1.0 + self.costs[on].sum()) * (1.0 + self.pairs[np.ix_(on, on)].sum())
        return float(max(level + moved, 0.1))

    def observed(self, wishes: Sequence[Probe], noise: float, rng: np.random.Generator) -> list[Observation]:
        """With noise."""
        return [Observation(p, self.seconds(p) * math.exp(noise * rng.standard_normal())) for p in wishes]


def draw(rng: np.random.Generator) -> System:
    """A system; of 100 steps 45 are of everything, 40 of an option, 7 of its absence, 8 of a pair."""
    names = [f"o{i:02}" for i in range(OPTIONS)]
    space = Space(tuple(Option(name, "flag", (False, True), False) for name in names))
    steps: dict[tuple[int, tuple[Level, ...]], float] = {}
    for at in range(1, REVISIONS):
        for _ in range((rng.random() < RATE) * (1 + int(rng.binomial(2, AT_ONCE)))):
            size = math.exp(rng.uniform(*np.log(SIZES))) * rng.choice([-1.0, 1.0])
            steps.setdefault((at, _term(names, rng)), float(size))
    half, third = rng.random(REVISIONS) < 0.5, rng.random((OPTIONS, REVISIONS)) < 0.3
    return System(
        space,
        tuple((at, term, size) for (at, term), size in steps.items()),
        costs=rng.gamma(0.7, 0.25, OPTIONS),
        pairs=np.triu(rng.normal(0.0, UNEVEN, (OPTIONS, OPTIONS)), 1) / 2.0,
        everything=rng.normal(0.0, SMALL, REVISIONS) * half,
        own=rng.normal(0.0, SMALL, (OPTIONS, REVISIONS)) * third,
    )


def _term(names: Sequence[str], rng: np.random.Generator) -> tuple[Level, ...]:
    drawn = rng.random()
    one, other = sorted(names[int(i)] for i in rng.choice(len(names), 2, replace=False))
    if drawn < 0.45:
        return ()
    if drawn < 0.85:
        return (Level(one, "on"),)
    if drawn < 0.92:
        return (Level(one, "off", False),)
    return (Level(one, "on"), Level(other, "on"))
