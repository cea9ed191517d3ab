"""Ranges of middle length: halving alone, and handed over to explanations where trials are noisy.

python -m benchmarks.change_points.middle [--seeds 5] [--first 20000] [--seconds 900] [--only halving]

The programs of `failing.py` (each trial beside one at the last revision), shorter, with more options or more
steps; 500 pairs of trials at most. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.change_points.failing import World, searched
from benchmarks.known_runs import carry_on, known_runs
from bot.compose.searching import AskedRange, long_range, search_of
from bot.flows.ranges.chaining import Chained
from bot.model.change_points import ChangePointSearch
from bot.model.subject import Subject
from bot.sampling.constraints import ConstraintSolver

RUNS = Path(__file__).with_name("results") / "middle.jsonl"
TABLE = Path(__file__).with_name("results") / "middle.md"
CASES = ((150, 24, 6, 0), (200, 12, 6, 0), (200, 12, 6, 1), (400, 12, 6, 0), (200, 12, 0, 0))
"""Revisions, options, steps, and whether some options are young and some need or forbid another one."""
NOISES, TRIALS = (0.0, 0.005, 0.01, 0.02, 0.03), 500
SEARCHES = ("halving", "ours")
KEYS = ("search", "revisions", "options", "steps", "failing", "noise", "seed")


def run(
    name: str, revisions: int, options: int, steps: int, failing: int, noise: float, seed: int
) -> dict[str, Any]:
    """How one search ends."""
    began = time.process_time()
    kind = (3, 1, 3) if failing else (0, 0, 0)
    world = World(*kind, 0.0, noise, seed, revisions=revisions, options=options, steps=steps)
    search = {"halving": halving, "ours": ours}[name](world, seed, TRIALS)
    case = dict(zip(KEYS, (name, revisions, options, steps, failing, noise, seed), strict=True))
    return case | searched(world, search, TRIALS) | {"cpu": round(time.process_time() - began, 1)}


def halving(world: World, seed: int, trials: int) -> ChangePointSearch:
    """The search of long ranges alone."""
    solver, rng = ConstraintSolver(world.space), np.random.default_rng([seed, 2])
    return Chained(long_range(world.space, world.revisions, solver, rng=rng, trials=trials))


def ours(world: World, seed: int, trials: int) -> ChangePointSearch:
    """The search that users get."""
    asked, rng = AskedRange("", "", trials=trials), np.random.default_rng([seed, 2])
    return search_of(asked, subject(world.names), world.revisions, rng=rng, anchor=world.revisions - 1)


def subject(names: Sequence[str]) -> Subject:
    """A table of some switches."""
    program = {"table": "perf.csv", "revision": "revision", "metric": "seconds"}
    options = {name: {"flag": f"--{name}"} for name in names}
    return Subject.model_validate({"program": program, "options": options})


def write_table() -> None:
    """One row for each kind of range and noise."""
    runs: dict[tuple[float, ...], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for line in RUNS.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        runs[tuple(one[key] for key in KEYS[1:-1])][one["search"]].append(one)
    lines = [
        "# Ranges of middle length",
        "",
        f"At most {TRIALS} pairs of trials. Steps found, told wrongly, mean trials, median CPU seconds of the"
        " search.",
        "",
        "| revisions | options | some fail | noise | ranges | halving | wrong | trials"
        " | ours | wrong | trials | CPU s |",
        "|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (revisions, options, steps, failing, noise), by_search in sorted(runs.items()):
        row = [f"{revisions}", f"{options}", "yes" if failing else "", f"{noise:.1%}"]
        row.append(str(max(map(len, by_search.values()))))
        for name in SEARCHES:
            some = by_search[name]
            found, wrong = (sum(one[k] for one in some) for k in ("found", "wrong"))
            row += [f"{found} of {steps * len(some)}", f"{wrong}"]
            row.append(f"{np.mean([one['trials'] for one in some]):.0f}" if some else "")
        row.append(f"{np.median([one['cpu'] for one in by_search['ours']]):.1f}")
        lines.append(f"| {' | '.join(row)} |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _missing(seeds: Sequence[int], searches: Sequence[str]) -> list[tuple[Any, ...]]:
    """Runs that are not known yet."""
    known = known_runs(RUNS, KEYS)
    cases = [
        (name, *case, noise, seed) for seed, case, noise, name in product(seeds, CASES, NOISES, searches)
    ]
    return [case for case in cases if case not in known]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=20000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--only", choices=SEARCHES, default=None)
    asked = parser.parse_args()
    searches = SEARCHES if asked.only is None else (asked.only,)
    seeds = range(asked.first, asked.first + asked.seeds)
    carry_on(RUNS, _missing(seeds, searches), run, seconds=asked.seconds)
    write_table()
    print(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
