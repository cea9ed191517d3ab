"""Compares our influence models with the published ones on the same samples and random probes.

python -m benchmarks.influences.run [--systems 12] [--seed 1] [--minutes 10] [--recorded FOLDER] [--table]

Generated systems (`systems.py`), fresh ones for every seed; with --recorded also the nine Java systems whose
measurements the published models' authors made public (a folder with their `*.pkl.gz` files). Every case is
appended to results/cases.jsonl as it ends, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.influences.recorded import SYSTEMS, read
from benchmarks.influences.systems import generate
from benchmarks.influences.table import markdown
from bot.analysis.influences.costs import CostTable, Quantity, noise_floor
from bot.analysis.influences.learning import InfluenceModels, Learnt
from bot.analysis.published.influences.coarse import CoarseModels
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.published.influences import influence_sample
from bot.sampling.random_uniform import random_uniform

RESULTS = Path(__file__).parent / "results"
KINDS = ("feature-wise", "pair-wise", "random")
METHODS = 18
SAMPLE, RECORDED_SAMPLE = 200, 250
"""Configurations of a sample at most, to keep a case short; of larger designs a random part."""
PROBE = 100
HEAVIEST = 15
"""Methods whose time is judged: those with the most time in the probe."""


def compared(sample: CostTable, probe: CostTable, rng: np.random.Generator) -> dict[str, Any]:
    """Errors on the probe of both learners, for the time of the heaviest methods and the calls of all."""
    weight = np.nan_to_num(np.nanmean(probe.means("seconds"), axis=0))
    heaviest = [int(j) for j in np.argsort(-weight, kind="stable")[:HEAVIEST] if weight[j] > 0]
    began = time.process_time()
    published = CoarseModels(rng=rng).fit(sample, probe)
    middle = time.process_time()
    ours = InfluenceModels(rng=rng).fit(sample, probe)
    result: dict[str, Any] = {
        "configurations": len(sample.configurations),
        "published_cpu_seconds": round(middle - began, 2),
        "ours_cpu_seconds": round(time.process_time() - middle, 2),
    }
    judged: dict[Quantity, list[int]] = {"seconds": heaviest, "calls": list(range(len(probe.methods)))}
    for quantity, methods in judged.items():
        result[quantity] = [
            _line(ours.models_[quantity][j], published.errors_[quantity][j], probe.runs(quantity, j))
            for j in methods
        ]
    system = ours.system_
    result["whole"] = [_number(system.error), _number(system.noise_floor), system.kind]
    return result


def _line(ours: Learnt, published: float, runs: np.ndarray) -> list[Any]:
    """Error of the published model, of ours, the noise floor, our model's kind and state."""
    floor = noise_floor(runs)
    return [_number(published), _number(ours.error), _number(floor), ours.kind, ours.state]


def _number(value: float) -> float | None:
    return round(float(value), 5) if np.isfinite(value) else None


def generated(systems: int, seed: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """Cases: their key, and how to make sample, probe and random stream."""
    for k in range(systems):
        for kind in KINDS:
            yield {"source": "generated", "system": k, "kind": kind, "seed": seed}, _made(k, kind, seed)


def _made(k: int, kind: str, seed: int) -> Any:
    def make() -> tuple[CostTable, CostTable, np.random.Generator]:
        system = generate(np.random.default_rng([seed, k]), methods=METHODS)
        rng = np.random.default_rng([seed, k, KINDS.index(kind)])
        solver = ConstraintSolver(system.space)
        if kind == "random":
            # As many as the pair-wise design has: what a night of random configurations would cost.
            count = len(influence_sample(system.space, solver, "pair-wise", rng=rng))
            sample = random_uniform(system.space, solver, min(count, SAMPLE), rng=rng)
        else:
            sample = influence_sample(system.space, solver, kind, rng=rng)  # type: ignore[arg-type]
        if len(sample) > SAMPLE:
            sample = [sample[i] for i in np.sort(rng.choice(len(sample), SAMPLE, replace=False))]
        probe = random_uniform(system.space, solver, PROBE, rng=rng)
        return system.measure(sample, rng), system.measure(probe, rng), rng

    return make


def recorded(folder: Path, seed: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """The same for the authors' files; only the heaviest methods, as many as were scored before."""
    for name in SYSTEMS:
        for kind in KINDS[:2]:
            if kind == "feature-wise" or SYSTEMS[name][1]:
                yield (
                    {"source": "recorded", "system": name, "kind": kind, "seed": seed},
                    _read(folder, name, kind, seed),
                )


def _read(folder: Path, name: str, kind: str, seed: int) -> Any:
    def make() -> tuple[CostTable, CostTable, np.random.Generator]:
        rng = np.random.default_rng([seed, *name.encode(), KINDS.index(kind)])
        tables = read(folder, name)
        sample, probe = tables[kind], tables["random"]
        if len(sample.configurations) > RECORDED_SAMPLE:
            rows = rng.choice(len(sample.configurations), RECORDED_SAMPLE, replace=False)
            sample = sample.select(np.sort(rows))
        weight = np.nan_to_num(np.nanmean(probe.means("seconds"), axis=0))
        heaviest = np.argsort(-weight, kind="stable")[:HEAVIEST]
        return _only(sample, heaviest), _only(probe, heaviest), rng

    return make


def _only(costs: CostTable, methods: np.ndarray) -> CostTable:
    names = tuple(costs.methods[j] for j in methods)
    quantities = {q: v[:, methods] for q, v in costs.quantities.items()}
    return CostTable(costs.space, costs.configurations, names, quantities)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0, help="no case begins after so many")
    parser.add_argument("--recorded", type=Path, help="folder with the authors' files")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # means over methods that no run has
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "cases.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    have = {(d["source"], d["system"], d["kind"], d["seed"]) for d in done}
    end = time.monotonic() + 60.0 * chosen.minutes
    cases = list(generated(chosen.systems, chosen.seed))
    if chosen.recorded is not None:
        cases += recorded(chosen.recorded, chosen.seed)
    for key, make in cases:
        if tuple(key.values()) in have or chosen.table or time.monotonic() > end:
            continue
        done.append({**key, **compared(*make())})
        with path.open("a") as out:
            out.write(json.dumps(done[-1]) + "\n")
    text = markdown(done)
    (RESULTS / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
