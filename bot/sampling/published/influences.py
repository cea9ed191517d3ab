"""The sample of published influence models: feature-wise or pair-wise, with Plackett-Burman rows."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.covering import pair_wise
from bot.sampling.feature_wise import feature_wise
from bot.sampling.plackett_burman import plackett_burman


def influence_sample(
    space: Space,
    solver: ConstraintSolver,
    kind: Literal["feature-wise", "pair-wise", "both"] = "both",
    *,
    rng: np.random.Generator,
) -> list[Configuration]:
    """Valid, distinct configurations: of flags and choices by `kind`, each with every Plackett-Burman row.

    "both" is the union, feature-wise first: pair-wise sampling enriches it by the pairs. Numbers come from
    the Plackett-Burman design alone. Source: Weber, Apel and Siegmund, White-Box Performance-Influence
    Models (ICSE 2021), section IV-A.
    """
    settled = Space(tuple(o for o in space.options if o.kind != "number"))
    binary: dict[Configuration, None] = {}
    if kind != "pair-wise":
        binary.update(
            dict.fromkeys(_without_numbers(space, feature_wise(space, solver, None, rng=rng), solver))
        )
    if kind != "feature-wise" and len(settled.options) > 1:
        for chosen in pair_wise(settled, ConstraintSolver(settled), None, rng=rng):
            values = iter(chosen)
            wanted = tuple(o.default if o.kind == "number" else next(values) for o in space.options)
            found = solver.complete(near=wanted)
            if found is not None:
                binary[found] = None
    return plackett_burman(space, solver, None, rng=rng, binary=list(binary) or None)


def _without_numbers(
    space: Space, sample: list[Configuration], solver: ConstraintSolver
) -> list[Configuration]:
    """The sample with every number at its default, as far as the constraints allow."""
    reset = (
        tuple(o.default if o.kind == "number" else v for o, v in zip(space.options, c, strict=True))
        for c in sample
    )
    found = (solver.complete(near=c) for c in reset)
    return [c for c in found if c is not None]
