"""Small programs whose costs are known, for tests of influence models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bot.analysis.influences.costs import CostTable, Floats, Quantity
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.random_uniform import random_uniform

Cost = Callable[[Mapping[str, Any]], float]
Program = Mapping[str, Mapping[Quantity, Cost]]

SPACE = Space(
    (
        Option("compress", "flag", (False, True), False),
        Option("encrypt", "flag", (False, True), False),
        Option("codec", "choice", ("none", "fast", "best"), "none"),
        Option("blocks", "number", (1, 2, 4, 8, 16), 4),
        Option("log", "flag", (False, True), False),
    )
)


def drawn(count: int, rng: np.random.Generator, space: Space = SPACE) -> list[Configuration]:
    """Random valid configurations."""
    return random_uniform(space, ConstraintSolver(space), count, rng=rng)


def measured(
    configurations: Sequence[Configuration],
    costs: Program,
    *,
    noise: float = 0.0,
    rng: np.random.Generator,
    repetitions: int = 5,
    space: Space = SPACE,
) -> CostTable:
    """Runs of a program whose methods have these costs; a cost of zero is a method that was not called.

    noise: relative standard deviation of seconds; counts are exact.
    """
    names = tuple(costs)
    quantities: dict[Quantity, Floats] = {}
    for quantity in dict.fromkeys(q for c in costs.values() for q in c):
        values = np.full((len(configurations), len(names), repetitions), np.nan)
        for j, name in enumerate(names):
            cost = costs[name].get(quantity)
            if cost is None:
                continue
            truth = np.array([cost(space.as_dict(c)) for c in configurations])
            spread = noise if quantity == "seconds" else 0.0
            factors = np.exp(rng.normal(0.0, spread, (len(truth), repetitions)))
            values[:, j] = np.where(truth > 0, truth, np.nan)[:, None] * factors
        quantities[quantity] = values
    return CostTable(space, tuple(configurations), names, quantities)
