"""Whom searches of short ranges name where two, three or four options move something only together.

python -m benchmarks.short_ranges.together [--seeds 2] [--seed 9900] [--seconds 600]

One step in 21 revisions; options take unlike seconds, and the step is a share of what its configurations
take. Right: it alone is told, by all of its options, at its revision. Other: anything else is told. Open:
nothing is told, and the range lists a place without a sure name. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.known_runs import known_runs
from bot.adapters.processes.threads import one_thread
from bot.flows.change_points.search import ChangePointFinder
from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import ChangePointSearch, Observation, Probe
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

RUNS = Path(__file__).with_name("results") / "together.jsonl"
TABLE = Path(__file__).with_name("results") / "together.md"
REVISIONS, AT, TRIALS, THRESHOLD = 21, 10, 120, 0.02
OPTIONS, TOGETHER, SIZES, NOISES = (3, 5, 8), (2, 3, 4), (0.2, 0.5, -0.3), (0.0, 0.01)
CASES = [case for case in product(OPTIONS, TOGETHER, SIZES, NOISES) if case[1] <= case[0]]
SEARCHES, ENDS = ("short ranges", "long ranges"), ("right", "other", "open", "nothing")


def run(name: str, options: int, together: int, size: float, noise: float, seed: int) -> dict[str, Any]:
    """How one search ends."""
    rng = np.random.default_rng(seed)
    names = [f"o{i}" for i in range(options)]
    space = Space(tuple(Option(n, "flag", (False, True), False) for n in names))
    costs = rng.gamma(0.7, 0.25, options)
    search, noises = _search(name, space, seed), np.random.default_rng(seed + 2)

    def seconds(probe: Probe) -> float:
        on = np.array(probe.configuration, dtype=bool)
        moved = size * (probe.revision >= AT and bool(on[:together].all()))
        return float((1.0 + costs[on].sum()) * (1.0 + moved) * math.exp(noise * noises.standard_normal()))

    used = 0
    while used < TRIALS and (wishes := search.wishes()[: TRIALS - used]):
        search.partial_fit([Observation(probe, seconds(probe)) for probe in wishes])
        used += len(wishes)
    told = [(point.revision, point.term) for point in search.change_points_]
    doubts = search.doubts_ if isinstance(search, ShortRangeFinder) else ()
    end = "open" if doubts else "nothing"
    if told:
        end = "right" if told == [(AT, tuple(names[:together]))] else "other"
    key = {"search": name, "options": options, "together": together, "size": size, "noise": noise}
    return {**key, "seed": seed, "used": used, "end": end}


def _search(name: str, space: Space, seed: int) -> ChangePointSearch:
    solver, rng = ConstraintSolver(space), np.random.default_rng(seed + 1)
    if name == "short ranges":
        return ShortRangeFinder(space, REVISIONS, solver, rng=rng, threshold=THRESHOLD)
    return ChangePointFinder(space, REVISIONS, solver, rng=rng, trials=TRIALS)


def write_table() -> None:
    """One row for each search and size of the term."""
    ends: dict[tuple[int, int, str], Counter[str]] = defaultdict(Counter)
    trials: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    for line in RUNS.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        key = one["options"], one["together"], one["search"]
        ends[key][one["end"]] += 1
        trials[key].append(one["used"])
    lines = [
        "# Options that move something only together",
        "",
        f"{REVISIONS} revisions, at most {TRIALS} trials; steps of {', '.join(f'{s:+.0%}' for s in SIZES)},"
        f" noise {' and '.join(f'{n:.0%}' for n in NOISES)}.",
        "",
        "| options | together | search | ranges | right | other | open | nothing | trials, median |",
        "|---:|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for key in sorted(ends, key=lambda k: (k[0], k[1], SEARCHES.index(k[2]))):
        shown = " | ".join(str(ends[key][end]) for end in ENDS)
        median = f"{np.median(trials[key]):.0f}"
        lines.append(f"| {key[0]} | {key[1]} | {key[2]} | {len(trials[key])} | {shown} | {median} |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=9900)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    asked = parser.parse_args()
    RUNS.parent.mkdir(exist_ok=True)
    known = known_runs(RUNS, ("search", "options", "together", "size", "noise", "seed"))
    end = time.monotonic() + asked.seconds
    with one_thread():
        for seed, case, name in product(range(asked.seed, asked.seed + asked.seeds), CASES, SEARCHES):
            if (name, *case, seed) in known or time.monotonic() > end:
                continue
            with RUNS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(run(name, *case, seed)) + "\n")
    write_table()
    print(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
