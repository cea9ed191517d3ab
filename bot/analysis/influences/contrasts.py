"""Pairs of configurations that differ in a term only, and the measured ones that stand on either side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bot.analysis.influences.costs import Floats
from bot.model.space import Configuration, Level, Space, Term, Value

Valid = Callable[[Configuration], bool]
BACKGROUNDS = 300
"""Configurations in which a term is switched to see its influence in the model."""
TRIES = 3
"""Values of the other side that are tried for one background, where constraints forbid some."""


@dataclass(frozen=True)
class Contrast:
    """A term switched on and off in the same backgrounds.

    versions: of each background, one configuration per corner, shape (n_backgrounds, n_corners) as nested
    tuples. signs: of the corners, shape (n_corners,): their signed sum is the influence. sides: for each
    configuration of the probe, then of the sample, its corner, -1: it could not be switched; shape (n,).
    """

    term: Term
    versions: tuple[tuple[Configuration, ...], ...]
    signs: Floats
    sides: NDArray[np.intp]


def contrast(
    space: Space,
    levels: Sequence[Level],
    population: Sequence[Configuration],
    *,
    probe: Sequence[Configuration],
    sample: Sequence[Configuration] = (),
    valid: Valid,
    rng: np.random.Generator,
    most: int = BACKGROUNDS,
) -> Contrast | None:
    """The contrast of one level (on minus off), or of two (what both do beyond the sum of each).

    Only backgrounds count in which every corner is valid: elsewhere the term cannot be switched alone.
    None: there is none, or a corner has fewer than two probe configurations.
    """
    corners = list(product((True, False), repeat=len(levels)))
    signs = np.array([(-1.0) ** corner.count(False) for corner in corners])
    switch = _Switch(space, levels, corners, valid=valid, rng=rng)
    versions = []
    for configuration in population:
        found = switch(configuration)
        if found is not None:
            versions.append(found)
        if len(versions) >= most:
            break
    sides = np.full(len(probe) + len(sample), -1, dtype=np.intp)
    for i, configuration in enumerate((*probe, *sample)):
        if switch(configuration) is not None:
            sides[i] = corners.index(tuple(space.holds(level, configuration) for level in levels))
    fresh = sides[: len(probe)]
    counts = np.bincount(fresh[fresh >= 0], minlength=len(corners))
    if not versions or counts.min() < 2:
        return None
    return Contrast(tuple(sorted(str(level) for level in levels)), tuple(versions), signs, sides)


class _Switch:
    """Makes the versions of a configuration: its own corner as it is, the others with changed options."""

    def __init__(
        self,
        space: Space,
        levels: Sequence[Level],
        corners: Sequence[tuple[bool, ...]],
        *,
        valid: Valid,
        rng: np.random.Generator,
    ) -> None:
        self._places = [space.index[level.option] for level in levels]
        self._levels, self._corners, self._valid, self._rng = levels, corners, valid, rng
        self._values = [
            {side: [v for v in space.options[i].values if level.holds(v) == side] for side in (True, False)}
            for i, level in zip(self._places, levels, strict=True)
        ]

    def __call__(self, configuration: Configuration) -> tuple[Configuration, ...] | None:
        own = tuple(
            level.holds(configuration[i]) for i, level in zip(self._places, self._levels, strict=True)
        )
        if any(not values[side] for values in self._values for side in (True, False)):
            return None
        for _ in range(TRIES):
            other = [self._draw(values[not side]) for values, side in zip(self._values, own, strict=True)]
            found = tuple(self._version(configuration, own, corner, other) for corner in self._corners)
            if all(version == configuration or self._valid(version) for version in found):
                return found
        return None

    def _draw(self, values: Sequence[Value]) -> Value:
        return values[int(self._rng.integers(len(values)))]

    def _version(
        self,
        configuration: Configuration,
        own: tuple[bool, ...],
        corner: tuple[bool, ...],
        other: Sequence[Value],
    ) -> Configuration:
        result = list(configuration)
        for place, was, wanted, value in zip(self._places, own, corner, other, strict=True):
            if was != wanted:
                result[place] = value
        return tuple(result)
