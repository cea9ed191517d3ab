"""Sampling: how early pairs of levels are exercised, and what large constrained spaces cost.

`python -m benchmarks.sampling.run` prints the tables of results.md; seeds are fixed, only the times vary.
"""

from __future__ import annotations

import itertools
import resource
import time
from collections.abc import Callable, Sequence

import numpy as np

from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.covering import pair_wise, three_wise
from bot.sampling.distance import distance_based
from bot.sampling.feature_wise import feature_wise
from bot.sampling.negative_feature_wise import negative_feature_wise
from bot.sampling.one_hot import OneHot
from bot.sampling.pull_request import pull_request_sample
from bot.sampling.random_uniform import random_uniform
from bot.sampling.sampler import SamplingStrategy

SEEDS = 20
EXERCISED = 3  # configurations from which the analysis can tell a pair of levels from its two levels


def flags(count: int) -> Space:
    return Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(count)))


def large(options: int, clauses: int, *, seed: int) -> Space:
    """Clauses of two or three literals around a planted solution, so that they can be satisfied."""
    rng = np.random.default_rng(seed)
    space = flags(options)
    planted = rng.random(options) < 0.5
    sentences: list[str] = []
    while len(sentences) < clauses:
        size = int(rng.integers(2, 4))
        places, signs = rng.choice(options, size, replace=False), rng.random(size) < 0.5
        if (planted[places] == signs).any():
            literals = ((p, s) for p, s in zip(places, signs, strict=True))
            sentences.append(" or ".join(f"{'' if s else 'not '}o{p}" for p, s in literals))
    return Space(space.options, tuple(sentences))


def pair_counts(
    space: Space, sample: Sequence[Configuration]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """In how many configurations each pair of levels of different options occurs."""
    codes = OneHot(space)
    hot = np.zeros((len(sample), codes.columns))
    for row, configuration in enumerate(sample):
        hot[row, codes.encode(configuration)] = 1
    counts: np.ndarray[tuple[int], np.dtype[np.float64]] = (hot.T @ hot)[
        codes.owner[:, None] < codes.owner[None, :]
    ]
    return counts


def exercised_table() -> None:
    space = flags(13)
    samplers = {
        "pull request": pull_request_sample,
        "random": random_uniform,
        "distance-based": distance_based,
    }
    print(
        f"13 flags: share of the 312 pairs of levels in >= {EXERCISED} configurations,\n"
        f"and configurations of the least exercised pair (means of {SEEDS} seeds)\n"
    )
    print("| configurations | " + " | ".join(samplers) + " |\n|---|" + "---|" * len(samplers))
    for count in (8, 12, 16, 24, 32, 96):
        cells = []
        for sampler in samplers.values():
            counts = [
                pair_counts(
                    space, sampler(space, ConstraintSolver(space), count, rng=np.random.default_rng(s))
                )
                for s in range(SEEDS)
            ]
            share = np.mean([(c >= EXERCISED).mean() for c in counts])
            cells.append(f"{100 * share:.1f} % (least: {np.mean([c.min() for c in counts]):.1f})")
        print(f"| {count} | " + " | ".join(cells) + " |")


def timed(work: Callable[[], object]) -> tuple[object, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def _pull_request(
    space: Space, solver: ConstraintSolver, count: int | None, *, rng: np.random.Generator
) -> list[Configuration]:
    assert count is not None
    return pull_request_sample(space, solver, count, rng=rng)


def speed_table() -> None:
    print("\n| space | question | answer | CPU seconds |\n|---|---|---|---|")
    small, hundred = flags(13), flags(100)
    plain: list[tuple[str, Space, str, SamplingStrategy, int | None]] = [
        ("13 flags", small, "feature-wise", feature_wise, None),
        ("13 flags", small, "negative feature-wise", negative_feature_wise, None),
        ("13 flags", small, "pair-wise", pair_wise, None),
        ("13 flags", small, "three-wise", three_wise, None),
        (
            "13 flags",
            small,
            "pull request, 64",
            _pull_request,
            64,
        ),
        ("100 flags", hundred, "pair-wise", pair_wise, None),
        (
            "100 flags",
            hundred,
            "pull request, 96",
            _pull_request,
            96,
        ),
    ]
    for name, space, label, sampler, count in plain:
        solver = ConstraintSolver(space)
        sample, seconds = timed(lambda: sampler(space, solver, count, rng=np.random.default_rng(0)))  # noqa: B023
        assert isinstance(sample, list)
        print(f"| {name} | {label} | {len(sample)} configurations | {seconds:.2f} |")
    large_rows()


def large_rows() -> None:
    space = large(1000, 5000, seed=0)
    name = "1,000 flags, 5,000 clauses"
    solver, seconds = timed(lambda: ConstraintSolver(space))
    assert isinstance(solver, ConstraintSolver)
    print(f"| {name} | read and compiled | | {seconds:.2f} |")
    rng = np.random.default_rng(1)
    for label, sampler in (("random", random_uniform), ("distance-based", distance_based)):
        sample, seconds = timed(lambda: sampler(space, ConstraintSolver(space), 100, rng=rng))  # noqa: B023
        assert isinstance(sample, list) and all(map(solver.valid, sample))
        print(f"| {name} | {label}, 100 | {len(set(sample))} valid and distinct | {seconds:.2f} |")
    sample, seconds = timed(lambda: pull_request_sample(space, ConstraintSolver(space), 100, rng=rng))
    assert isinstance(sample, list) and all(map(solver.valid, sample))
    print(f"| {name} | pull request, 100 | {len(set(sample))} valid and distinct | {seconds:.2f} |")
    texts = [str(level) for level in space.levels]
    terms = [tuple(sorted(rng.choice(texts, 2, replace=False))) for _ in range(2001)]
    pairs = list(itertools.pairwise(terms))
    same, seconds = timed(lambda: sum(solver.equivalent(a, b) for a, b in pairs))
    print(f"| {name} | 2,000 x equivalent | {same} are | {seconds:.2f} |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {name} | peak memory of the process | {peak:.0f} MB | |")


if __name__ == "__main__":
    exercised_table()
    speed_table()
