"""The published measurements of machines and applications, read from beside the project, never copied."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PATH = Path(__file__).resolve().parents[3] / "shared/data/quiho/results.csv.gz"
BROKEN = ("oom-pipe", "stack")
"""Constant, and broken: they say nothing of a machine."""
MOST_REPETITIONS = 12
UNSTEADY = 0.10
MARIADB = "1499030038000"
ENGINES = "1499724178000"
PROXIES = "1512873230"
STREAM = "1498013938000"

Floats = NDArray[np.float64]
Raw = dict[str, dict[tuple[str, str], dict[str, dict[int, list[float]]]]]


@dataclass(frozen=True)
class Campaign:
    """rates: (n_machines, n_stressors, repetitions), NaN where there is none."""

    name: str
    machines: Sequence[str]
    stressors: Sequence[str]
    rates: Floats

    def steady(self) -> Campaign:
        """Without broken stressors and those that vary by more than 10 % on the middling machine."""
        spread = np.nanstd(self.rates, axis=2, ddof=1) / np.nanmean(self.rates, axis=2)
        kept = [
            j
            for j, name in enumerate(self.stressors)
            if name not in BROKEN and np.nanmedian(spread[:, j]) < UNSTEADY
        ]
        return Campaign(self.name, self.machines, [self.stressors[j] for j in kept], self.rates[:, kept])


@cache
def _raw() -> Raw:
    found: Raw = defaultdict(lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(list))))
    with gzip.open(PATH, "rt", newline="") as file:
        for row in csv.DictReader(file):
            # The stressor `null` was written as an empty string.
            test = row["test"] or "null"
            key = (row["benchmark"], test)
            machine = row["machine"].partition(".")[0]
            found[row["timestamp"]][key][machine][int(row["repetition"])].append(float(row["result"]))
    return found


def campaigns() -> list[Campaign]:
    """All campaigns, by time."""
    return [campaign(name) for name in sorted(_raw())]


@cache
def campaign(name: str) -> Campaign:
    """What stress-ng gave; keys that occur twice are averaged."""
    found = _raw()[name]
    stressors = sorted(test for benchmark, test in found if benchmark == "stressng")
    machines = sorted({m for (b, _), by in found.items() if b == "stressng" for m in by})
    rates = np.full((len(machines), len(stressors), MOST_REPETITIONS), np.nan)
    for j, stressor in enumerate(stressors):
        for i, machine in enumerate(machines):
            for repetition, values in found["stressng", stressor].get(machine, {}).items():
                rates[i, j, repetition] = np.mean(values) or np.nan
    return Campaign(name, machines, stressors, rates)


def applications(name: str) -> list[tuple[str, str]]:
    """Benchmarks and tests of a campaign that are no stressors."""
    return sorted(key for key in _raw()[name] if key[0] != "stressng")


def results(name: str, benchmark: str, test: str) -> Floats:
    """Of an application on each machine and repetition, (n_machines, repetitions), NaN: none."""
    found = _raw()[name][benchmark, test]
    values = np.full((len(campaign(name).machines), MOST_REPETITIONS), np.nan)
    for i, machine in enumerate(campaign(name).machines):
        for repetition, measured in found.get(machine, {}).items():
            if repetition < MOST_REPETITIONS:
                values[i, repetition] = np.mean(measured)
    return values
