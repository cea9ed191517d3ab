"""Distance-based sampling: the number of selected options is spread evenly over the sample."""

from __future__ import annotations

import numpy as np

from bot.model.space import Configuration, Space, Value
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.sampler import all_off

RETRIES = 20  # configurations seen before, until the solver is asked for a new one


def distance_based(
    space: Space, solver: ConstraintSolver, count: int | None, *, rng: np.random.Generator
) -> list[Configuration]:
    """`count` (None: one per option) distinct configurations whose distances from "all off" are uniform.

    The distance is the number of options away from their first value (flags: switched on). A distance is
    drawn uniformly between the smallest and the largest reachable one, then that many options, preferring
    those selected least so far. Source: Kaltenecker et al., Distance-Based Sampling of Software
    Configuration Spaces (ICSE 2019), with its diversity optimisation.

    With constraints the solver moves a draw to a valid configuration, so a distance is met approximately.
    """
    wanted = len(space.options) if count is None else count
    origin = all_off(space)
    low, high = _reach(space, solver, origin)
    used = np.zeros(len(space.options))
    sample: dict[Configuration, None] = {}
    misses = 0
    while len(sample) < wanted:
        goal = int(rng.integers(low, high + 1))
        near = _at_distance(space, goal, used, rng)
        found = solver.complete(near=near, excluding=sample if misses >= RETRIES else ())
        if found is None:
            break
        if found in sample:
            misses += 1
            continue
        misses = 0
        sample[found] = None
        used += _away(found, origin)
    return list(sample)


def _reach(space: Space, solver: ConstraintSolver, origin: Configuration) -> tuple[int, int]:
    """Distances of the valid configurations next to all off and next to all on."""
    last = tuple(option.values[-1] for option in space.options)
    ends = [solver.complete(near=end) for end in (origin, last)]
    low, high = (int(_away(end, origin).sum()) for end in ends if end is not None)
    return min(low, high), max(low, high)


def _at_distance(
    space: Space, goal: int, used: np.ndarray[tuple[int], np.dtype[np.float64]], rng: np.random.Generator
) -> Configuration:
    """A configuration with `goal` options away from the origin, the least used ones first, ties at random."""
    # Half an occurrence of noise keeps the choice random among nearly equal options.
    order = np.argsort(used + rng.random(len(used)) * (1 + 0.5 * used.max()), kind="stable")
    selected = set(order[:goal].tolist())
    values: list[Value] = []
    for i, option in enumerate(space.options):
        others = option.values[1:]
        values.append(
            others[int(rng.integers(len(others)))] if i in selected and others else option.values[0]
        )
    return tuple(values)


def _away(
    configuration: Configuration, origin: Configuration
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """1 for each option that is not at its origin, shape (n_options,)."""
    return np.array([float(a != b) for a, b in zip(configuration, origin, strict=True)])
