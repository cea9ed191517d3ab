"""What a night's half of designed configurations should be, beside its random half.

python -m benchmarks.influences.designs [--systems 12] [--seed 1] [--configurations 45]

Generated systems; the same random probe and, but for the design, the same random configurations.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.influences.run import METHODS, PROBE
from benchmarks.influences.systems import generate
from bot.analysis.influences.learning import InfluenceModels, Learnt
from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.covering import pair_wise
from bot.sampling.feature_wise import feature_wise
from bot.sampling.random_uniform import random_uniform

RESULTS = Path(__file__).parent / "results"
DESIGNS = ("each option alone, then pairs", "pairs of values", "random")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--configurations", type=int, default=45)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    found: dict[tuple[str, str], list[Learnt]] = {}
    for k in range(chosen.systems):
        for design, quantity, models in _learnt(chosen.seed, k, chosen.configurations):
            found.setdefault((design, quantity), []).extend(models)
    rows = [
        f"{chosen.systems} systems, {chosen.configurations} configurations, seed {chosen.seed}.",
        "",
        "| design of the first half | quantity | methods | learnt | median error | < 5 % | < 10 % |",
        "|---|---|---|---|---|---|---|",
    ]
    for (design, quantity), of_all in found.items():
        errors = np.nan_to_num([one.error for one in of_all], nan=1.0)
        learnt = np.mean([one.state == "learnt" for one in of_all])
        shares = (f"{100 * share:.0f} %" for share in (np.mean(errors < 0.05), np.mean(errors < 0.1)))
        middle = f"{100 * np.median(errors):.2g} %"
        cells = [design, quantity, str(len(of_all)), f"{100 * learnt:.0f} %", middle, *shares]
        rows.append(f"| {' | '.join(cells)} |")
    text = "\n".join(rows) + "\n"
    (RESULTS / "designs.md").write_text(text)
    print(text)


def _learnt(seed: int, k: int, count: int) -> Iterator[tuple[str, str, tuple[Learnt, ...]]]:
    """Of one system, design and quantity: the models of all methods."""
    system = generate(np.random.default_rng([seed, k, 7]), methods=METHODS)
    solver = ConstraintSolver(system.space)
    rng = np.random.default_rng([seed, k, 8])
    probe = system.measure(random_uniform(system.space, solver, PROBE, rng=rng), rng)
    drawn = random_uniform(system.space, solver, 2 * count, rng=rng)
    for design in DESIGNS:
        rng = np.random.default_rng([seed, k, 9])
        sample = _designed(design, system.space, solver, count, rng)[: count // 2]
        sample += [c for c in drawn if c not in sample][: count - len(sample)]
        models = InfluenceModels(rng=rng).fit(system.measure(sample, rng), probe)
        for quantity, learnt in models.models_.items():
            yield design, quantity, learnt


def _designed(
    design: str, space: Space, solver: ConstraintSolver, count: int, rng: np.random.Generator
) -> list[Configuration]:
    if design == "random":
        return []
    alone = feature_wise(space, solver, count, rng=rng) if design != "pairs of values" else []
    return list(dict.fromkeys([*alone, *pair_wise(space, solver, count, rng=rng)]))


if __name__ == "__main__":
    main()
