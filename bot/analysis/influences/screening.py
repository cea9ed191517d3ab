"""Which methods are worth a full choice of models: those that cost something and vary with the options."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from bot.analysis.influences.costs import CostTable, Quantity
from bot.analysis.influences.variances import variances

Effort: TypeAlias = Literal["full", "cheap", "none"]
FULL = 300
"""Methods that get the full choice at most; the costliest of those that vary."""
RELEVANT = 1e-3
"""Share of the system's cost, as the mean or the range over configurations, worth the full choice."""
VARIES = 2.0
"""Times the variation that repetitions alone would show between means, from where options matter."""
SLIGHTLY = 1e-9


def efforts(costs: CostTable, *, most: int = FULL) -> list[Effort]:
    """For each method: every kind of model, a few quick ones, or none because it never ran or never varies.

    Relevance is measured in seconds, without them in instructions, else in calls. A method whose cost does
    not vary over configurations beyond noise, in any quantity, gets a constant ("none"): the published
    insight that only few methods depend on the configuration (section III-B).
    """
    quantity = main_quantity(costs)
    means = np.nan_to_num(costs.means(quantity))
    total = float(means.sum(axis=1).mean()) or 1.0
    weight = np.maximum(means.mean(axis=0), np.ptp(means, axis=0)) / total
    varying = np.zeros(len(costs.methods), dtype=bool)
    for name in costs.quantities:
        repetitions = max(float(costs.ran[name].sum(axis=1).mean()), 1.0)
        found = variances(costs, name)
        within = np.nan_to_num(found.measurement) / np.sqrt(repetitions)
        varying |= np.nan_to_num(found.configuration) > np.maximum(VARIES * within, SLIGHTLY)
    order = np.argsort(-weight, kind="stable")
    worth = [int(j) for j in order if varying[j] and weight[j] >= RELEVANT]
    chosen = set(worth[:most])
    return ["full" if j in chosen else "cheap" if varying[j] else "none" for j in range(len(costs.methods))]


def main_quantity(costs: CostTable) -> Quantity:
    """What influences are told in: seconds, else instructions, else calls."""
    order: tuple[Quantity, ...] = ("seconds", "instructions", "calls")
    return next(q for q in order if q in costs.quantities)
