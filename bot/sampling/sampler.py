"""The shape that every sampling strategy has."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver


class SamplingStrategy(Protocol):
    """Chooses valid, distinct configurations; the same generator state gives the same sample."""

    def __call__(
        self, space: Space, solver: ConstraintSolver, count: int | None, *, rng: np.random.Generator
    ) -> list[Configuration]:
        """At most `count` configurations; None: as many as the strategy needs."""
        ...


def all_off(space: Space) -> Configuration:
    """The origin of distances: flags off, choices and numbers at their first value."""
    return tuple(option.values[0] for option in space.options)


def random_values(space: Space, rng: np.random.Generator) -> Configuration:
    """Every option at a uniformly drawn value, constraints ignored."""
    picks = rng.random(len(space.options))
    return tuple(o.values[int(p * len(o.values))] for o, p in zip(space.options, picks, strict=True))
