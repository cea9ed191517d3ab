"""Measures the CPU time of every release in the judge's configurations, beside the newest one on one core.

python -m benchmarks.releases.seconds [--rounds 3] [--core 3]

The judge's instructions are exact, but an instruction is not a second: a scanning loop of the regular
expression engine runs several times as many of them per second as the interpreter does. This exhaustive
measurement says what the steps are in seconds. Nothing of Suspects' bench is used. Stopped, it goes on.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.releases.judge import (
    EXAMPLE,
    WORK,
    checkout,
    environment,
    make_range,
    read_counts,
    releases_in,
)
from bot.adapters.documents.subject_file import load_subject
from bot.model.invocation import invocation
from bot.model.space import Configuration, Space
from bot.model.subject import Subject

SECONDS = Path(__file__).with_name("results") / "seconds.csv"
SEED = 5
Ratios = dict[tuple[str, Configuration], list[float | None]]
"""CPU time / that of the newest release, by release and configuration, one for each round; None: failed."""


def read_ratios(space: Space) -> Ratios:
    """What was measured so far."""
    found: Ratios = {}
    if SECONDS.exists():
        with SECONDS.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                cell = (row["release"], tuple(row[name] == "1" for name in space.names))
                found.setdefault(cell, []).append(float(row["ratio"]) if row["ratio"] else None)
    return found


def start(tree: Path, subject: Subject, configuration: Configuration, core: int) -> subprocess.Popen[bytes]:
    """One trial on a core, in its checkout."""
    told = invocation(subject, configuration)
    workload = next(iter(subject.workloads.values())).path
    words = ["taskset", "--cpu-list", str(core), *(w.replace("{workload}", workload) for w in told.words)]
    return subprocess.Popen(
        words,
        cwd=tree,
        env=environment(told.env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def ended(trial: subprocess.Popen[bytes]) -> float | None:
    """User and system seconds of a trial; None: it failed."""
    _, status, usage = os.wait4(trial.pid, 0)
    trial.returncode = os.waitstatus_to_exitcode(status)
    return None if trial.returncode else usage.ru_utime + usage.ru_stime


def pair(trees: Sequence[Path], subject: Subject, configuration: Configuration, core: int) -> float | None:
    """CPU time of the first tree's trial / the second's, both together on one core."""
    trials = [start(tree, subject, configuration, core) for tree in trees]
    first, second = [ended(trial) for trial in trials]
    return first / second if first and second else None


def measure(rounds: int, core: int) -> None:
    """Adds the rounds that are missing, in random order, each pair started in random order."""
    subject = load_subject(EXAMPLE / "suspects.yml")
    cells = list(read_counts(subject.space))
    repository = make_range(WORK / "range")
    trees = {r: checkout(repository, r, subject) for r in releases_in(repository)}
    newest = list(trees)[-1]
    rng = np.random.default_rng(SEED)
    done = read_ratios(subject.space)
    new = not SECONDS.exists()
    with SECONDS.open("a", buffering=1, newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(["release", *subject.space.names, "ratio"])
        for turn in range(rounds):
            for i in rng.permutation(len(cells)):
                release, configuration = cells[i]
                if len(done.get(cells[i], ())) > turn or release == newest:
                    continue
                order = (1, -1)[int(rng.integers(2))]
                ratio = pair([trees[release], trees[newest]][::order], subject, configuration, core)
                told = "" if ratio is None else f"{ratio**order:.4f}"
                writer.writerow([release, *(int(bool(v)) for v in configuration), told])
            print(f"round {turn + 1} of {rounds}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    arguments = parser.parse_args()
    measure(arguments.rounds, arguments.core)


if __name__ == "__main__":
    main()
