"""Which configurations to measure next: far from each other, and around what is suspected."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain, zip_longest

import numpy as np

from bot.model.space import Configuration, Level, Space, Value, distance
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.distance import distance_based
from bot.sampling.sampler import all_off

N_EXPLORE = 75
"""Configurations that explore, each iteration (section 3.4.2); the number is the reference's."""
N_EXPLOIT = 3
"""Configurations against under-, and as many against over-approximation of a candidate (the reference's)."""
VARIED = 0.5
"""Of the options that may vary around a candidate, the share that does (section 3.4.2)."""


class Acquisition:
    """Draws configurations that were not measured yet (section 3.4.2).

    With `candidates` only these exist: the nearest one by Hamming distance that was not used yet stands for
    the one that is wanted (section 4.2.2).
    """

    def __init__(
        self, space: Space, solver: ConstraintSolver, candidates: Iterable[Configuration] | None = None
    ) -> None:
        self._space = space
        self._solver = solver
        self._unused = None if candidates is None else dict.fromkeys(candidates)

    def initial(self, count: int, *, rng: np.random.Generator) -> list[Configuration]:
        """At most `count` configurations by distance-based sampling (section 3.1)."""
        return self._fresh(distance_based(self._space, self._solver, count, rng=rng), (), count)

    def next(
        self,
        count: int,
        suspected: Sequence[Sequence[Level]],
        *,
        known: Container[Configuration],
        rng: np.random.Generator,
    ) -> list[Configuration]:
        """At most `count` new configurations, by turns exploring and exploiting.

        Args:
            count: wanted number.
            suspected: for each candidate commit the levels associated with it; none: every configuration.
            known: configurations measured already.
            rng: source of randomness.
        """
        exploring = distance_based(self._space, self._solver, min(count, N_EXPLORE), rng=rng)
        order = rng.permutation(len(suspected))
        exploiting = chain.from_iterable(self._around(suspected[i], rng) for i in order)
        turns = chain.from_iterable(zip_longest(exploring, exploiting))
        return self._fresh(turns, known, count)

    def _around(self, levels: Sequence[Level], rng: np.random.Generator) -> Iterator[Configuration | None]:
        """Configurations that show options missing from a candidate, or wrongly blamed for it."""
        for _ in range(N_EXPLOIT):
            yield self._completed(levels, self._others_varied(levels, rng))
            removed = rng.integers(0, math.ceil(len(levels) * VARIED) + 1)
            kept = [levels[i] for i in rng.permutation(len(levels))[removed:]]
            yield self._completed(kept, all_off(self._space))

    def _others_varied(self, levels: Sequence[Level], rng: np.random.Generator) -> Configuration:
        """Under-approximation: half of the options that are not blamed take any value, the others none."""
        blamed = {level.option for level in levels}
        values: list[Value] = list(all_off(self._space))
        others = [i for i, option in enumerate(self._space.options) if option.name not in blamed]
        for i in rng.choice(others, size=round(len(others) * VARIED), replace=False) if others else ():
            allowed = self._space.options[i].values
            values[i] = allowed[int(rng.integers(len(allowed)))]
        return tuple(values)

    def _completed(self, held: Sequence[Level], near: Configuration) -> Configuration | None:
        """The valid configuration near one with levels held; None: the levels exclude each other."""
        return self._solver.complete(held, near=near)

    def _fresh(
        self, wanted: Iterable[Configuration | None], known: Container[Configuration], count: int
    ) -> list[Configuration]:
        """The first `count` of the wanted ones, or of those that stand for them, without known ones."""
        found: dict[Configuration, None] = {}
        for one in wanted:
            if len(found) >= count:
                break
            served = one if one is None or self._unused is None else self._nearest(one, known)
            if served is not None and served not in known:
                found[served] = None
        return list(found)

    def _nearest(self, wanted: Configuration, known: Container[Configuration]) -> Configuration | None:
        """Takes the nearest unused candidate out of the stock."""
        assert self._unused is not None
        unused = [c for c in self._unused if c not in known]
        nearest = min(unused, key=lambda c: distance(c, wanted), default=None)
        if nearest is not None:
            del self._unused[nearest]
        return nearest
