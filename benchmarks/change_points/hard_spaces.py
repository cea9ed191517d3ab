"""Constrained spaces in which neither everything on nor one option alone is a valid configuration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bot.model.errors import ConstraintError
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

CHOICES, NUMBERS = 0.25, 0.15  # share of the options; the rest are flags
VALUES = (3, 4, 5)  # of a choice or number
GROUPS = 1 / 8  # pairs of flags for each option of which exactly one must be on
NEEDED = 1 / 16  # triples of flags for each option of which one at least must be on
IMPLICATIONS, EXCLUSIONS = 1 / 4, 1 / 6  # for each option, between any levels


def hard_space(count: int, rng: np.random.Generator) -> Space:
    """A random space of so many options; every level of it is possible, and none is everywhere."""
    kinds = rng.permutation(
        ["choice"] * round(CHOICES * count)
        + ["number"] * round(NUMBERS * count)
        + ["flag"] * (count - round(CHOICES * count) - round(NUMBERS * count))
    )
    space = Space(tuple(_option(i, str(kind), rng) for i, kind in enumerate(kinds)))
    flags = [o.name for o in space.options if o.kind == "flag"]
    for _ in range(max(round(GROUPS * count), 1)):
        a, b = rng.choice(flags, 2, replace=False)
        space = _with(space, f"{a} xor {b}")
    for _ in range(max(round(NEEDED * count), 1)):
        space = _with(space, " or ".join(rng.choice(flags, 3, replace=False)))
    for _ in range(round(IMPLICATIONS * count)):
        a, b = _levels(space, rng)
        space = _with(space, f"{a} implies {b}")
    for _ in range(round(EXCLUSIONS * count)):
        a, b = _levels(space, rng)
        space = _with(space, f"not ({a} and {b})")
    return space


def _option(number: int, kind: str, rng: np.random.Generator) -> Option:
    if kind == "flag":
        return Option(f"f{number:02d}", "flag", (False, True), False)
    count = int(rng.choice(VALUES))
    if kind == "choice":
        values = tuple("abcde"[:count])
        return Option(f"c{number:02d}", "choice", values, values[0])
    return Option(f"n{number:02d}", "number", (0, 1, 2, 4, 8)[:count], 0)


def _levels(space: Space, rng: np.random.Generator) -> tuple[str, str]:
    """Two levels of different options as the constraint language writes them."""
    one, other = rng.choice(len(space.options), 2, replace=False)
    picked = [space.options[i].levels[rng.integers(len(space.options[i].levels))] for i in (one, other)]
    return str(picked[0]), str(picked[1])


def _with(space: Space, sentence: str) -> Space:
    """The space with one more constraint, unless that contradicts or decides a level."""
    more = replace(space, constraints=(*space.constraints, sentence))
    try:
        return space if ConstraintSolver(more).dead_levels() else more
    except ConstraintError:
        return space
