"""The levels of options whose influence is asked, and a probe that has both sides of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.model.space import Configuration, Level, Option, Space

THRESHOLDS = 5
"""Values of a number at which it is cut, its ends counted; the cut that matters most to a method is told."""
SIDES = 2
"""Configurations of a probe that a side of a level must have: one tells no spread."""
DRAWS = 50
"""Draws among which a probe is chosen; of 5 of 16 configurations one draw in three lacks a side of a flag."""


def main_levels(space: Space) -> list[Level]:
    """Levels whose influence is asked: flags on, values of choices, numbers from each of a few values on."""
    return [level for option in space.options for level in levels_of(space, option)]


def levels_of(space: Space, option: Option) -> list[Level]:
    """The same of one option."""
    if len(option.values) < 2:
        return []
    if option.kind == "flag":
        return [Level(option.name, "on")]
    if option.kind == "choice":
        values = (
            [v for v in option.values if v != option.default] if len(option.values) == 2 else option.values
        )
        return [Level(option.name, "=", v) for v in values]
    numbers = sorted(option.values, key=float)
    asked = asked_values(space, option.name, THRESHOLDS)[1:]
    # From the largest on is the largest alone: the term is called so.
    return [
        Level(option.name, "=" if float(v) == asked[-1] else ">=", v) for v in numbers if float(v) in asked
    ]


def asked_values(space: Space, option: str, most: int) -> list[float]:
    """At most so many of a number's values, spread over them, the ends among them."""
    values = sorted(float(v) for v in space.options[space.index[option]].values)
    picks = np.unique(np.linspace(0, len(values) - 1, min(len(values), most)).round().astype(int))
    return [values[k] for k in picks]


def probe_rows(
    space: Space, configurations: Sequence[Configuration], count: int, *, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows of `count` of these configurations, in order: a random draw in which no side of a level lacks.

    Of `DRAWS` draws the first that has `SIDES` of each, else that with the most. Configurations are looked
    at and costs are not, so what is held out judges a model as honestly as any draw.
    """
    levels = main_levels(space)
    holds = np.array([[space.holds(level, c) for level in levels] for c in configurations], dtype=bool)
    holds = holds.reshape(len(configurations), len(levels))
    best, most = np.arange(0), -1
    for _ in range(DRAWS):
        rows = np.sort(rng.permutation(len(configurations))[:count])
        on = holds[rows].sum(axis=0)
        found = int((np.minimum(on, count - on) >= SIDES).sum())
        if found > most:
            best, most = rows, found
        if most == len(levels):
            break
    return best
