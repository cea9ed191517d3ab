"""Negative feature-wise sampling: everything on but one option, as far as the constraints allow."""

from __future__ import annotations

import numpy as np

from bot.model.space import Configuration, Level, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.feature_wise import one_each


def negative_feature_wise(
    space: Space,
    solver: ConstraintSolver,
    count: int | None,
    *,
    rng: np.random.Generator,  # noqa: ARG001  # the form all strategies share
) -> list[Configuration]:
    """One configuration per flag switched off, and per other value of a choice or number, all flags on.

    Needs no randomness. Source: Medeiros et al., A Comparison of 10 Sampling Algorithms for
    Configurable Systems (ICSE 2016), "one-disabled".
    """
    origin = tuple(True if o.kind == "flag" else o.default for o in space.options)
    wanted = [
        Level(o.name, "off", False) if o.kind == "flag" else Level(o.name, "=", value)
        for o in space.options
        for value in o.values
        if value is not True and (o.kind == "flag" or value != o.default)
    ]
    return one_each(solver, wanted, origin, count=count)
