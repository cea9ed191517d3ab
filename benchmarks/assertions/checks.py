"""How often checks of assertions are right: unchanged methods, and slow paths planted under one call path.

python -m benchmarks.assertions.checks [--cases 100] [--seed 900000] [--seconds 600]

A method has 1 to 4 groups of 1 to 6 call paths and 200 to 5,000 calls in a trial; its assertion was mined on
another machine. Trials of base and head take turns on a machine with noise of 2 to 10 % and heavy tails,
disturbed trials (1.5 times slower), bursts, drift, a clock with ticks; calls come in runs, and paths wander
by themselves (`check_worlds.py`). Goes on where it was stopped. The rules were tuned on seeds below 20,000.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.assertions.check_worlds import World, draw, machine, measured, mined, planted
from benchmarks.known_runs import known_runs
from bot.adapters.processes.threads import one_thread
from bot.analysis.assertions.checking import check

RUNS = Path(__file__).with_name("results") / "checks.jsonl"
TABLE = Path(__file__).with_name("results") / "checks.md"
FALSE_ALARMS = 0.01
LEAST_CALLS = 20
"""In a trial over the path that is planted under."""


@dataclass(frozen=True)
class Kind:
    """What is planted, and where. size: delay in mean durations of the path's calls, or a factor on all.

    noise: of the machine, and how often it is disturbed, times the usual. assertions: that share the rate.
    """

    name: str
    where: str = "nowhere"
    size: float = 0.0
    trials: int = 4
    often: int = 1
    noise: float = 1.0
    assertions: int = 1

    def head(self, world: World, rng: np.random.Generator) -> tuple[World, set[int]]:
        """The world at head, and the groups that are to be found."""
        groups = {i: set(np.flatnonzero(np.array(world.group) == i).tolist()) for i in set(world.group)}
        if self.where == "nowhere":
            return world, set()
        if self.where == "everywhere":
            paths = set(range(len(world.paths)))
            return planted(world, paths, lambda b: replace(b, factor=self.size)), set(groups)
        frequent = [i for i in range(len(world.paths)) if world.weights[i] * world.calls >= LEAST_CALLS]
        path = int(rng.choice(frequent))
        group = world.group[path]
        usual = world.behaviours[path]
        delay = self.size * float(np.dot(usual.shares, usual.seconds))
        share = rng.uniform(0.3, 0.6) if "share" in self.where else 1.0
        paths = groups[group] if "group" in self.where else {path}
        return planted(world, paths, lambda b: replace(b, delayed=share, delay=delay)), {group}


KINDS = (
    Kind("unchanged", often=10),
    Kind("unchanged", trials=3, often=3),
    Kind("unchanged, machine three times as noisy", often=3, noise=3.0),
    Kind("all 5 % slower (another build)", "everywhere", 1.05, often=3),
    *(Kind(f"one path, every call +{size:.0%}", "path", size) for size in (0.5, 1.0, 2.0)),
    *(Kind("one path, every call +100%", "path", 1.0, trials) for trials in (3, 6)),
    *(
        Kind(f"one path, a third to 60 % of its calls +{size:.0%}", "path, share", size)
        for size in (2.0, 4.0)
    ),
    *(Kind(f"one group, every call +{size:.0%}", "group", size) for size in (0.5, 1.0)),
    Kind("one group, a third to 60 % of its calls +200%", "group, share", 2.0),
    *(Kind(f"everywhere {factor:g} times", "everywhere", factor) for factor in (1.5, 2.0)),
    *(
        Kind(f"one path, every call +{size:.0%}; one of 20 assertions", "path", size, assertions=20)
        for size in (1.0, 2.0)
    ),
    Kind("one group, every call +100%; one of 20 assertions", "group", 1.0, assertions=20),
    Kind("unchanged", trials=8, often=10),  # as often as a pull request looks where there is time
    Kind("one path, every call +50%", "path", 0.5, trials=8),
    Kind("one path, a third to 60 % of its calls +200%", "path, share", 2.0, trials=8),
    Kind("one group, every call +50%", "group", 0.5, trials=8),
    Kind("everywhere 1.5 times", "everywhere", 1.5, trials=8),
)


def run(kind: Kind, seed: int) -> dict[str, Any]:
    """One comparison."""
    rng = np.random.default_rng(seed)
    world = draw(rng)
    assertion, usual = mined(world, rng), machine(rng)
    on = replace(usual, noise=kind.noise * usual.noise, disturbed=kind.noise * usual.disturbed)
    head, wanted = kind.head(world, rng)
    base_trials, head_trials = measured(world, head, on, kind.trials, rng)
    began = time.process_time()
    found = check(assertion, base_trials, head_trials, false_alarms=FALSE_ALARMS / kind.assertions)
    moved = {i for i, group in enumerate(found.groups) if group.outcome == "violated"}
    return {"kind": kind.name, "trials": kind.trials, "seed": seed, "outcome": found.outcome} | {
        "right": bool(moved) and (moved == wanted or (kind.where == "everywhere" and moved <= wanted)),
        "slower": found.slower,
        "more": found.more_trials,
        "cpu": time.process_time() - began,
    }


def write_table() -> None:
    """One row for each kind."""
    kinds: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for line in RUNS.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        kinds[told["kind"], told["trials"]].append(told)
    lines = [
        "# Checks of assertions, base against head",
        "",
        f"Rate of false alarms: {FALSE_ALARMS:.0%}. Right: exactly the planted group is called violated",
        "(everywhere: any). At least, at most: 95 % (Clopper and Pearson). Asked: more trials",
        "a side that an undecided outcome asks for, median.",
        "",
        "| change at head | trials a side | cases | violated | at least, at most | right group | undecided "
        "| asked | CPU ms |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for kind in KINDS:
        if not (found := kinds[kind.name, kind.trials]):
            continue
        n, violated = len(found), sum(f["outcome"] == "violated" for f in found)
        ends = stats.binomtest(violated, n).proportion_ci(0.95)
        undecided = [f["more"] for f in found if f["outcome"] == "undecided"]
        right = (
            f"{sum(f['right'] for f in found) / n:.1%}"
            if kind.size and not kind.name.startswith("all 5")
            else "-"
        )
        lines.append(
            f"| {kind.name} | {kind.trials} | {n} | **{violated / n:.1%}** | {ends.low:.1%}, {ends.high:.1%} "
            f"| {right} | {len(undecided) / n:.1%} | {np.median(undecided) if undecided else 0:.0f} | "
            f"{1e3 * np.median([f['cpu'] for f in found]):.0f} |"
        )
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=900_000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    asked = parser.parse_args()
    RUNS.parent.mkdir(exist_ok=True)
    known = known_runs(RUNS, ("kind", "trials", "seed"))
    end = time.monotonic() + asked.seconds
    with one_thread(), RUNS.open("a", encoding="utf-8") as file:
        for number, kind in enumerate(KINDS):
            for seed in range(asked.seed, asked.seed + asked.cases * kind.often):
                own = seed + 10_000 * number
                if (kind.name, kind.trials, own) not in known and time.monotonic() < end:
                    file.write(json.dumps(run(kind, own)) + "\n")
    write_table()
    print(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
