"""How often checks are right about real processes: a small program that times its own calls over three paths.

python -m benchmarks.assertions.check_programs [--rounds 60] [--seconds 600]

Every trial is a process of its own, four at base and four at head in turn, beside whatever else the machine
does. In every third round delays are planted under each of the paths. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rates import upper_bound
from bot.adapters.processes.threads import one_thread
from bot.analysis.assertions.checking import check, proposed
from bot.model.assertions import AssertedGroup, Assertion, CallObservation, Condition, NamedPath

RUNS = Path(__file__).with_name("results") / "check_programs.jsonl"
TABLE = Path(__file__).with_name("results") / "check_programs.md"
TRIALS, FALSE_ALARMS, FIRST = 4, 0.01, 2026
"""Processes a side; the rate of false alarms that is asked for; the first seed."""
PROGRAM = """
import json, sys, time, zlib
small = [bytes(i * j % 251 for i in range(400)) for j in range(1, 9)]
inputs = {"small": small, "large": [part * 12 for part in small]}
inputs["dump"] = [{f"k{i}": list(range(10)) for i in range(12)}]
slower = {via: float(share) for via, share in (word.split("=") for word in sys.argv[2:])}
took = {via: [] for via in inputs}
def pack(via, value):
    began = time.perf_counter()
    json.dumps(value) if via == "dump" else zlib.compress(value, 1)
    until = began + (time.perf_counter() - began) * (1.0 + slower.get(via, 0.0))
    while via in slower and time.perf_counter() < until:
        pass
    took[via].append(time.perf_counter() - began)
for i in range(int(sys.argv[1])):
    for via, every in (("small", 1), ("large", 2), ("dump", 3)):
        if i % every == 0:
            pack(via, inputs[via][i % len(inputs[via])])
json.dump(took, sys.stdout)
"""
EDGES = {"e1": ("dump", "pack")}
EITHER = tuple(
    AssertedGroup(Condition(text, EDGES), vector, 1)
    for text, vector in (("e1", (1.0, 0.0)), ("not e1", (0.0, 1.0)))
)
PLANTED = {"unchanged": None, "dump=1.0": 0, "large=1.0": 1, "small=0.5": 1, "small=1.0": 1}
"""By how much each call over a path takes longer, as a share of itself, and the path's group."""


def path(via: str) -> NamedPath:
    return ("main", via, "pack")


def trial(at: float, calls: int, *delays: str) -> CallObservation:
    """One process."""
    words = [sys.executable, "-c", PROGRAM, str(calls), *delays]
    took = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return CallObservation(at, at + 1.0, {path(via): np.array(durations) for via, durations in took.items()})


def mined() -> Assertion:
    """As it would be in the file."""
    rough = Assertion("pack", None, (0.18,), EITHER)
    return proposed(rough, [trial(i, 1500) for i in range(6)])


def run(assertion: Assertion, kind: str, seed: int) -> dict[str, Any]:
    """One comparison."""
    rng = np.random.default_rng(seed)
    calls, delays = int(rng.integers(200, 1500)), () if kind == "unchanged" else (kind,)
    sides: tuple[list[CallObservation], list[CallObservation]] = ([], [])
    for number in range(TRIALS):
        for side in (0, 1) if rng.random() < 0.5 else (1, 0):
            sides[side].append(trial(number, calls, *(delays if side else ())))
    found = check(assertion, *sides, false_alarms=FALSE_ALARMS)
    moved = [i for i, group in enumerate(found.groups) if group.outcome == "violated"]
    said = {"outcome": found.outcome, "right": moved == [PLANTED[kind]], "why": found.why}
    return {"kind": kind, "seed": seed, "calls": calls, **said}


def write_table() -> None:
    """One row for each kind."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in RUNS.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        kinds[told["kind"]].append(told)
    lines = [
        "# Checks of a real program",
        "",
        f"{TRIALS} processes a side, 200 to 1,500 rounds of calls each; by how much each call over a path",
        "takes longer, as a share of itself (`dump` takes about 11 microseconds, `small` and `large` about",
        "70: one group). The machine was busy: calls took up to four times as long in some comparisons.",
        "",
        "At most: the violated ones' 95 % upper bound (Clopper and Pearson).",
        "",
        "| at head | comparisons | violated | at most | right group | undecided |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for kind, group in PLANTED.items():
        if found := kinds[kind]:
            share = {o: sum(f["outcome"] == o for f in found) / len(found) for o in ("violated", "undecided")}
            most = upper_bound(round(share["violated"] * len(found)), len(found))
            right = f"{sum(f['right'] for f in found) / len(found):.1%}" if group is not None else "-"
            told = f"{share['violated']:.1%} | {most:.1%} | {right} | {share['undecided']:.1%}"
            lines.append(f"| {kind} | {len(found)} | {told} |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    asked = parser.parse_args()
    RUNS.parent.mkdir(exist_ok=True)
    told = RUNS.read_text(encoding="utf-8").splitlines() if RUNS.exists() else []
    known = {(one["kind"], one["seed"]) for one in map(json.loads, told)}
    end = time.monotonic() + asked.seconds
    with one_thread(), RUNS.open("a", encoding="utf-8") as file:
        assertion = mined()
        for seed in range(FIRST, FIRST + asked.rounds):
            for kind in PLANTED:
                often = kind == "unchanged" or seed % 3 == 0
                if often and (kind, seed) not in known and time.monotonic() < end:
                    file.write(json.dumps(run(assertion, kind, seed)) + "\n")
    write_table()
    print(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
