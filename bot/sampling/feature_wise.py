"""Feature-wise sampling: every option enabled once, the others off as far as the constraints allow."""

from __future__ import annotations

import numpy as np

from bot.model.space import Configuration, Level, Space
from bot.sampling.constraints import ConstraintSolver


def feature_wise(
    space: Space,
    solver: ConstraintSolver,
    count: int | None,
    *,
    rng: np.random.Generator,  # noqa: ARG001  # the form all strategies share
) -> list[Configuration]:
    """One configuration per flag switched on and per value that a choice or number has besides its default.

    Needs no randomness. Source: Siegmund et al., Predicting Performance via Automated Feature-Interaction
    Detection (ICSE 2012), "feature-wise"; minimal configurations, so that single influences stand alone.
    """
    origin = tuple(False if o.kind == "flag" else o.default for o in space.options)
    wanted = [
        Level(o.name, "on") if o.kind == "flag" else Level(o.name, "=", value)
        for o in space.options
        for value in o.values
        if value is not False and (o.kind == "flag" or value != o.default)
    ]
    return one_each(solver, wanted, origin, count=count)


def one_each(
    solver: ConstraintSolver, wanted: list[Level], origin: Configuration, *, count: int | None
) -> list[Configuration]:
    """For each level a valid configuration that holds it near the origin; impossible levels are left out.

    Where all are impossible, the valid configuration nearest to the origin stands alone.
    """
    sample: dict[Configuration, None] = {}
    for level in wanted:
        if count is not None and len(sample) >= count:
            break
        found = solver.complete([level], near=origin)
        if found is not None:
            sample[found] = None
    alone = None if sample else solver.complete(near=origin)
    return list(sample) if alone is None else [alone]
