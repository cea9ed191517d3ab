"""Measures how long learning takes and how much memory, all workers together, at a given size.

python -m benchmarks.influences.scale [--methods 5000] [--configurations 500] [--jobs 4]
"""

from __future__ import annotations

import argparse
import os
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.influences.systems import generate
from bot.adapters.workers import workers
from bot.analysis.influences.costs import CostTable
from bot.analysis.influences.explaining import explain
from bot.analysis.influences.learning import InfluenceModels
from bot.analysis.influences.screening import FULL
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.random_uniform import random_uniform

RESULTS = Path(__file__).parent / "results"
PROBE = 60


class Memory(threading.Thread):
    """Watches the proportional memory of this process and its descendants; `most_`: the peak in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most_ = 0
        self._over = threading.Event()

    def run(self) -> None:
        """Looks once a second until it is stopped."""
        while not self._over.wait(1.0):
            self.most_ = max(self.most_, sum(map(_proportional, _family(os.getpid()))))

    def stop(self) -> None:
        """Ends the watch."""
        self._over.set()
        self.join()


def _family(process: int) -> list[int]:
    found = [process]
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(word) for word in path.read_text().split()]
        except OSError:
            continue
        found += [p for child in children for p in _family(child)]
    return found


def _proportional(process: int) -> int:
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", type=int, default=5000)
    parser.add_argument("--configurations", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--most", type=int, default=FULL, help="methods that get the full choice")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    rng = np.random.default_rng([chosen.seed, 11])
    system = generate(rng, methods=chosen.methods)
    solver = ConstraintSolver(system.space)
    sample = _small(system.measure(random_uniform(system.space, solver, chosen.configurations, rng=rng), rng))
    probe = _small(system.measure(random_uniform(system.space, solver, PROBE, rng=rng), rng))
    memory = Memory()
    memory.start()
    began, used = time.monotonic(), sum(os.times()[:4])
    with workers("local", jobs=chosen.jobs):
        models = InfluenceModels(rng=rng, most=chosen.most).fit(sample, probe)
        learnt, population = time.monotonic(), random_uniform(system.space, solver, 400, rng=rng)
        found = explain(models, population, valid=solver.valid, rng=rng)
    ended = time.monotonic()
    memory.stop()
    efforts = Counter(m.effort for m in models.models_["seconds"])
    states = Counter(m.state for m in models.models_["seconds"] if m.effort == "full")
    errors = {q: [m.error for m in models.models_[q] if m.effort == "full"] for q in models.models_}
    text = (
        f"{chosen.methods:,} methods x {len(sample.configurations)} configurations "
        f"({len(sample.quantities)} quantities), {chosen.jobs} workers: learnt in {learnt - began:.0f} s, "
        f"explained in {ended - learnt:.0f} s ({len(found):,} influences); "
        f"{sum(os.times()[:4]) - used:.0f} CPU seconds; "
        f"at most {memory.most_ / 2**30:.2f} GiB in all processes; "
        f"load before {os.getloadavg()[2]:.1f}.\n"
        f"Effort: {dict(efforts)}; of full ones {dict(states)}; median error on the probe: "
        + ", ".join(f"{q} {100 * float(np.nanmedian(e)):.2g} %" for q, e in errors.items())
        + ".\n"
    )
    with (RESULTS / "scale.md").open("a") as out:
        out.write(text + "\n")
    print(text)


def _small(costs: CostTable) -> CostTable:
    """In single precision, as a night would keep thousands of methods."""
    quantities = {q: v.astype(np.float32) for q, v in costs.quantities.items()}
    return CostTable(costs.space, costs.configurations, costs.methods, quantities)


if __name__ == "__main__":
    main()
