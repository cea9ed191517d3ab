"""Random sampling, uniform over the valid configurations as far as that can be had cheaply."""

from __future__ import annotations

import numpy as np

from bot.model.space import Configuration, Space, Value
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.sampler import random_values

LISTED = 1024  # a group of options with at most this many valid value tuples is listed and drawn from exactly
REJECTIONS = 32  # draws of a larger group that are tried before the solver repairs one
RETRIES = 20  # draws that were seen before, until the solver is asked for a new one


class UniformDraw:
    """Draws single configurations.

    Groups of options that share no constraint are drawn independently. A group that is listed (or that no
    constraint touches) is exactly uniform. A larger one is drawn by rejection, uniform whenever a draw is
    accepted; after `REJECTIONS` failures the solver completes a random assignment, which favours
    configurations that many assignments lie close to. Exact uniformity there would need model counting
    (Oh et al., Uniform Sampling from Kconfig Feature Models, 2019), which does not pay for a sample of tens.
    """

    def __init__(self, space: Space, solver: ConstraintSolver) -> None:
        self._space = space
        self._solver = solver
        self._lists: list[tuple[tuple[int, ...], list[Configuration]]] = []
        self._rest_is_free = True
        for part in solver.parts:
            if len(part) == 1 and solver.free(part):
                continue
            values = solver.part_values(part, LISTED)
            if values is None:
                self._rest_is_free = False
            else:
                self._lists.append((part, values))

    def __call__(self, rng: np.random.Generator) -> Configuration:
        """One valid configuration."""
        drawn = self._draw(rng)
        if self._rest_is_free:
            return drawn
        for _ in range(REJECTIONS):
            if self._solver.valid(drawn):
                return drawn
            drawn = self._draw(rng)
        found = self._solver.complete(near=drawn)
        assert found is not None, "a solver exists only for satisfiable constraints"
        return found

    def _draw(self, rng: np.random.Generator) -> Configuration:
        values: list[Value] = list(random_values(self._space, rng))
        for part, listed in self._lists:
            for index, value in zip(part, listed[rng.integers(len(listed))], strict=True):
                values[index] = value
        return tuple(values)


def random_uniform(
    space: Space, solver: ConstraintSolver, count: int | None, *, rng: np.random.Generator
) -> list[Configuration]:
    """`count` (None: one per option) configurations drawn without replacement; see `UniformDraw`."""
    wanted = len(space.options) if count is None else count
    draw = UniformDraw(space, solver)
    sample: dict[Configuration, None] = {}
    misses = 0
    while len(sample) < wanted:
        drawn: Configuration | None = draw(rng)
        if drawn in sample:
            misses += 1
            if misses < RETRIES:
                continue
            drawn = solver.complete(near=random_values(space, rng), excluding=sample)
            if drawn is None:
                break
        misses = 0
        assert drawn is not None
        sample[drawn] = None
    return list(sample)
