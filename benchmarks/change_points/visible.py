"""Is what a bisection claims to have seen true? `python -m benchmarks.change_points.visible [--searches 36]`.

Each search runs twice: on a program that never changes, which gives the claim for one option, and on the same
one where that option's cost moves by just so much. Four of five moves should be found, by term and place (the
exact revision in a short range).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.change_points.middle import subject
from bot.analysis.change_points.visible import visible_steps
from bot.compose.searching import AskedRange, search_of
from bot.model.change_points import ChangePoint, Observation, Seeing
from bot.model.report import Visible
from bot.model.space import Configuration, Option, Space

SHORT = (
    *((3, 8, 0.02, True), (5, 12, 0.001, True), (8, 40, 0.01, True)),
    *((8, 40, 0.001, False), (8, 40, 0.01, False), (14, 37, 0.02, False)),
)
LONG = ((8, 200, 0.001, False), (8, 200, 0.01, False), (8, 200, 0.03, False), (16, 500, 0.01, False))
"""Options, revisions, noise of a value, and whether values are ratios to the last revision."""
NEAR = 5


def searched(
    options: int,
    revisions: int,
    noise: float,
    *,
    anchored: bool,
    seed: int,
    step: tuple[int, int, float] | None = None,
) -> tuple[Sequence[ChangePoint], Visible]:
    """What a search finds, and what it claims, at its end; step: option, revision, size of a move."""
    rng = np.random.default_rng(seed)
    space = Space(tuple(Option(f"o{i}", "flag", (False, True), default=False) for i in range(options)))
    costs = 1.0 + rng.uniform(0.0, 0.1, options)
    drawing, last = np.random.default_rng(seed + 1), revisions - 1
    anchor = last if anchored else None
    search = search_of(AskedRange("", ""), subject(space.names), revisions, rng=drawing, anchor=anchor)

    def seconds(configuration: Configuration, revision: int) -> float:
        value = float(np.prod(costs[np.array(configuration, dtype=bool)]))
        moved = step is not None and configuration[step[0]] and revision >= step[1]
        return value * (1.0 + step[2]) if moved and step else value

    observations: list[Observation] = []
    while wishes := search.wishes():
        taken = []
        for probe in wishes:
            value = seconds(probe.configuration, probe.revision) * math.exp(rng.normal(0.0, noise))
            beside = seconds(probe.configuration, last) if anchored else 1.0
            taken.append(Observation(probe, value / beside, anchor=beside))
        observations += taken
        search.partial_fit(taken)
    visible = search.visible_ if isinstance(search, Seeing) else visible_steps(space, observations, revisions)
    return search.change_points_, visible


def main() -> None:
    """Prints how many moves of the claimed size were found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=36, help="of each case")
    parser.add_argument("--first", type=int, default=1000, help="seed")
    parser.add_argument("--ranges", choices=("short", "long", "both"), default="both")
    asked = parser.parse_args()
    cases = SHORT * (asked.ranges != "long") + LONG * (asked.ranges != "short")
    print(
        "| options | revisions | noise | ratios | searches | claimed (median) | moves found | false alarms |"
    )
    print("|---:|---:|---:|---|---:|---:|---:|---:|")
    for options, revisions, noise, anchored in cases:
        run = partial(searched, options, revisions, noise, anchored=anchored)
        rng = np.random.default_rng(options + revisions)
        claims, found, alarms = [], 0, 0
        for seed in range(asked.first, asked.first + asked.searches):
            nothing, visible = run(seed=seed)
            alarms += bool(nothing)
            option = int(rng.integers(options))
            edge = max(revisions // 10, 1)
            at = int(rng.integers(edge, revisions - edge + 1))
            size = visible.options[option].slow_down or math.nan
            claims.append(size)
            points, _ = run(seed=seed, step=(option, at, size))
            near = NEAR if revisions > 100 else 0
            found += any(p.term == (f"o{option}",) and abs(p.revision - at) <= near for p in points)
        print(
            f"| {options} | {revisions} | {noise:.1%} | {'yes' if anchored else 'no'} | {asked.searches} "
            f"| {np.median(claims):.1%} | {found / asked.searches:.0%} | {alarms} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
