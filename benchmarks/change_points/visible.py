"""Is what a bisection claims to have seen true? `python -m benchmarks.change_points.visible [--searches 36]`.

Each search runs twice: on a program that never changes, which gives the claim for one option, and on the same
one where that option's cost moves by just so much. Four of five moves should be found, by term and place.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

import numpy as np

from bot.analysis.change_points.visible import visible_steps
from bot.flows.change_points.search import ChangePointFinder
from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import ChangePoint, ChangePointSearch, Observation
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

CASES = ((8, 40, 0.01), (14, 37, 0.02), (8, 200, 0.01), (8, 200, 0.03), (16, 500, 0.01))
"""Options, revisions, noise of a trial; the first two are short ranges."""
NEAR = 5


def searched(
    options: int, revisions: int, noise: float, *, seed: int, step: tuple[int, int, float] | None = None
) -> tuple[Sequence[ChangePoint], Space, list[Observation]]:
    """A search to its end; step: option, revision and relative size of a move."""
    rng = np.random.default_rng(seed)
    space = Space(tuple(Option(f"o{i}", "flag", (False, True), default=False) for i in range(options)))
    costs = 1.0 + rng.uniform(0.0, 0.1, options)
    kind = ShortRangeFinder if ShortRangeFinder.fits(space, revisions) else ChangePointFinder
    search: ChangePointSearch = kind(
        space, revisions, ConstraintSolver(space), rng=np.random.default_rng(seed + 1)
    )
    observations: list[Observation] = []
    while wishes := search.wishes():
        taken = []
        for probe in wishes:
            value = float(np.prod(costs[np.array(probe.configuration, dtype=bool)]))
            if step is not None and probe.configuration[step[0]] and probe.revision >= step[1]:
                value *= 1.0 + step[2]
            taken.append(Observation(probe, value * math.exp(rng.normal(0.0, noise))))
        observations += taken
        search.partial_fit(taken)
    return search.change_points_, space, observations


def main() -> None:
    """Prints how many moves of the claimed size were found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=36, help="of each case")
    parser.add_argument("--cases", type=int, default=len(CASES), help="so many of the first ones")
    asked = parser.parse_args()
    print("| options | revisions | noise | searches | claimed (median) | moves found | false alarms |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for options, revisions, noise in CASES[: asked.cases]:
        rng = np.random.default_rng(options + revisions)
        claims, found, alarms = [], 0, 0
        for seed in range(1000, 1000 + asked.searches):
            nothing, space, observations = searched(options, revisions, noise, seed=seed)
            alarms += bool(nothing)
            option = int(rng.integers(options))
            at = int(rng.integers(revisions // 10, revisions - revisions // 10))
            size = visible_steps(space, observations, revisions).options[option].slow_down or math.nan
            claims.append(size)
            points, _, _ = searched(options, revisions, noise, seed=seed, step=(option, at, size))
            found += any(p.term == (f"o{option}",) and abs(p.revision - at) <= NEAR for p in points)
        print(
            f"| {options} | {revisions} | {noise:.0%} | {asked.searches} | {np.median(claims):.1%} "
            f"| {found / asked.searches:.0%} | {alarms} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
