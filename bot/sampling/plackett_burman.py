"""Plackett-Burman sampling with more than two levels, for number options."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bot.model.space import Configuration, Level, Option, Space
from bot.sampling.constraints import ConstraintSolver

PRIMES = (3, 5, 7)  # levels of a design; options with more values are measured at seven of them


def plackett_burman(
    space: Space,
    solver: ConstraintSolver,
    count: int | None,
    *,
    rng: np.random.Generator,  # noqa: ARG001  # the form all strategies share
    binary: Sequence[Configuration] | None = None,
) -> list[Configuration]:
    """Every row of the design for the number options, in each of the `binary` configurations.

    Flags and choices come from `binary` (by default the default configuration alone); the solver moves them
    where a row's numbers do not fit, and a row that no valid configuration has is left out. Needs no
    randomness. Source: Plackett and Burman, The Design of Optimum Multifactorial Experiments (Biometrika
    1946); Wang and Wu, A Hidden Projection Property of Plackett-Burman and Related Designs
    (Statistica Sinica 1995).
    """
    numbers = [o for o in space.options if o.kind == "number" and len(o.values) > 1]
    backgrounds = [solver.default()] if binary is None else list(binary)
    if not numbers:
        return list(dict.fromkeys(backgrounds))[:count]
    levels = next((p for p in PRIMES if p >= max(len(o.values) for o in numbers)), PRIMES[-1])
    rows = design(len(numbers), levels)
    found = (
        solver.complete(_held(numbers, row, levels), near=background)
        for background, row in itertools.product(backgrounds, rows)
    )
    return list(dict.fromkeys(c for c in found if c is not None))[:count]


def _held(numbers: Sequence[Option], row: npt.NDArray[np.int64], levels: int) -> list[Level]:
    """The value of each number option for the levels of a row, spread over its values end to end."""
    return [
        Level(o.name, "=", o.values[round(int(level) * (len(o.values) - 1) / (levels - 1))])
        for o, level in zip(numbers, row, strict=True)
    ]


def design(factors: int, levels: int) -> npt.NDArray[np.int64]:
    """Orthogonal array, shape (levels ** r, factors): two columns hold every pair of levels equally often.

    The first row is a seed, the next rows are its cyclic shifts, the last row is all zero. Columns of one
    period's (levels ** r - 1) / (levels - 1) positions are orthogonal; r is the smallest with enough of them.

    Raises:
        ValueError: fewer than one factor or a number of levels that is no odd prime in `PRIMES`.
    """
    if factors < 1 or levels not in PRIMES:
        raise ValueError(f"no design with {factors} factors of {levels} levels")
    r = 2
    while (levels**r - 1) // (levels - 1) < factors:
        r += 1
    row = seed(levels, r)
    shifts = np.stack([np.roll(row, k)[:factors] for k in range(len(row))])
    return np.concatenate([shifts, np.zeros((1, factors), dtype=np.int64)])


def seed(levels: int, r: int) -> npt.NDArray[np.int64]:
    """A maximal-length sequence of GF(levels), length levels ** r - 1, from the first primitive recurrence.

    s[i] = c[0] s[i-r] + ... + c[r-1] s[i-1]; in one period every non-zero window of r occurs exactly once
    (Golomb, Shift Register Sequences, 1967), which is what makes the design orthogonal.
    """
    length = levels**r - 1
    for coefficients in itertools.product(range(levels), repeat=r):
        sequence = list(itertools.islice(_recurrence(coefficients, levels), length + r))
        windows = {tuple(sequence[i : i + r]) for i in range(length)}
        if len(windows) == length:
            return np.array(sequence[:length], dtype=np.int64)
    raise AssertionError("every prime field has a primitive polynomial of every degree")


def _recurrence(coefficients: Sequence[int], modulus: int) -> Iterator[int]:
    state = [0] * (len(coefficients) - 1) + [1]
    while True:
        yield state[0]
        following = sum(c * s for c, s in zip(coefficients, state, strict=True)) % modulus
        state = [*state[1:], following]
