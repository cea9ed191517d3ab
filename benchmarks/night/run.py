"""Prints the table of simulated nights: changes found within two nights, their cost, false change points.

python -m benchmarks.night.run [--worlds 10] [--seed 1] [--minutes 10] [--table]

Every world is appended to results/worlds.jsonl as it ends, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.night.play import ours, random_trials
from benchmarks.night.table import markdown
from benchmarks.night.world import KINDS, World

RESULTS = Path(__file__).parent / "results"
CELLS = (
    (16, 0.0, 80), (16, 0.01, 80), (16, 0.02, 110), (16, 0.03, 160),
    (32, 0.0, 80), (32, 0.01, 80), (32, 0.02, 110), (32, 0.03, 170),
)  # fmt: skip
"""Options, noise of a trial, and trials of one of our nights at most."""
OTHERS = (
    (16, 0.01, 110, "heavy tails"),
    (16, 0.01, 160, "record"),
    (32, 0.01, 160, "record"),
    (16, 0.0, 80, "restless"),
    (32, 0.0, 80, "restless"),
    (16, 0.02, 110, "young"),
    (32, 0.02, 110, "young"),
    (16, 0.02, 110, "large"),
    (32, 0.02, 110, "large"),
    (16, 0.02, 110, "broken"),
    (32, 0.02, 110, "broken"),
)
"""The same of other kinds of worlds."""
MULTIPLES = (1, 2, 4)
"""Uniform sampling gets so many times the trials that ours spent on the same world."""


def play(options: int, noise: float, budget: int, kind: str, seed: list[int]) -> dict[str, Any]:
    """One world: our nights, then uniform sampling with multiples of their cost."""
    key = [*seed, options, round(1000 * noise), *([KINDS.index(kind)] if kind != KINDS[0] else [])]
    began = time.process_time()
    world = World(options, noise, np.random.default_rng(key), kind=kind)
    mine = ours(world, budget, np.random.default_rng([*key, 1]))
    cost = round(float(np.mean(mine["trials"])))
    result: dict[str, Any] = {"ours": {**mine, "cpu_seconds": time.process_time() - began}}
    for multiple in MULTIPLES:
        world = World(options, noise, np.random.default_rng(key), kind=kind)
        result[f"uniform x{multiple}"] = random_trials(
            world, multiple * cost, np.random.default_rng([*key, 2])
        )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=10, help="of each cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0, help="no world begins after so many")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    chosen = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "worlds.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = [d for d in done if d["seed"] == chosen.seed]
    cells = [(*cell, KINDS[0]) for cell in CELLS] + list(OTHERS)
    have = {(d["options"], d["noise"], d["kind"], d["world"]) for d in done}
    end = time.monotonic() + 60.0 * chosen.minutes
    for world in range(chosen.worlds):
        for options, noise, budget, kind in cells:
            if (options, noise, kind, world) in have or chosen.table or time.monotonic() > end:
                continue
            key = {"seed": chosen.seed, "options": options, "noise": noise, "kind": kind, "budget": budget}
            found = play(options, noise, budget, kind, [chosen.seed, world])
            done.append({**key, "world": world, **found})
            with path.open("a") as out:
                out.write(json.dumps(done[-1]) + "\n")
    text = markdown(cells, done)
    (RESULTS / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
