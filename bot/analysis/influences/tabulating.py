"""Cost tables from coarse profiles: one column per method name, the costliest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.analysis.influences.costs import CostTable, Quantity
from bot.model.profiles import MethodCost, Profile
from bot.model.space import Configuration, Space

MOST_METHODS = 10_000
"""Methods of a table; a program with more of them keeps those with the largest share of its cost."""


def tabulate(space: Space, runs: Sequence[tuple[Configuration, Sequence[Profile | None]]]) -> CostTable:
    """Calls, seconds and instructions without callees, in single precision.

    runs: for each configuration the profiles of its repetitions; None or one that did not end well: failed.
    Methods of the same name (clones, several files) count together. Seconds that a tool gives as shares only
    are shares of the profiled trial. A quantity that no profile has is left out.
    """
    by_run = [[_costs(p) for p in profiles] for _, profiles in runs]
    weights: dict[str, float] = defaultdict(float)
    for row in by_run:
        for run in row:
            for name, (share, _) in (run or {}).items():
                weights[name] += share
    names = sorted(weights, key=lambda n: (-weights[n], n))[:MOST_METHODS]
    place = {name: j for j, name in enumerate(names)}
    shape = (len(runs), len(names), max((len(row) for row in by_run), default=0))
    tables: dict[Quantity, NDArray[np.float32]] = {}
    for i, row in enumerate(by_run):
        for k, run in enumerate(row):
            for name, (_, quantities) in (run or {}).items():
                for quantity, value in quantities.items():
                    if quantity not in tables:
                        tables[quantity] = np.full(shape, np.nan, dtype=np.float32)
                    if name in place:
                        tables[quantity][i, place[name], k] = value
    return CostTable(space, tuple(c for c, _ in runs), tuple(names), tables)


def _costs(profile: Profile | None) -> dict[str, tuple[float, dict[Quantity, float]]] | None:
    """Share and quantities of each method name; None: the run failed."""
    if profile is None or profile.outcome != "ok":
        return None
    found: dict[str, tuple[float, dict[Quantity, float]]] = {}
    for method, cost in profile.methods.items():
        share, sums = found.get(method.name, (0.0, {}))
        for quantity, value in _quantities(cost, profile).items():
            sums[quantity] = sums.get(quantity, 0.0) + value
        found[method.name] = (share + cost.self_share, sums)
    return found


def _quantities(cost: MethodCost, profile: Profile) -> dict[Quantity, float]:
    seconds = cost.self_seconds
    if seconds is None and "instructions" not in profile.tool.quantities:
        seconds = cost.self_share * profile.seconds
    given: dict[Quantity, float | None] = {
        "calls": cost.calls,
        "seconds": seconds,
        "instructions": cost.instructions,
    }
    return {name: float(value) for name, value in given.items() if value is not None}
