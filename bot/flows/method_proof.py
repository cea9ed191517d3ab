"""Proves a method guilty: head without the change of its text, beside head, in the flagged configuration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bot.analysis.distributions import student_quantile
from bot.flows.job import Job
from bot.model.profiles import Method
from bot.model.space import Configuration
from bot.model.trials import Track, Wish

LEAST_SECONDS = 5.0
"""With less time left nothing is built."""
LEAST_SHARE = 0.25
"""A method that explains less of the change is not worth a build."""
LEAST_PAIRS, MOST_PAIRS = 4, 16
WELL_KNOWN = 0.1
"""Half of the interval's width that needs no more pairs."""


@dataclass(frozen=True)
class Proof:
    """The share of a change that the revert takes away and its 90 % interval, or why there is none."""

    restored: float | None = None
    interval: tuple[float, float] | None = None
    note: str = ""


def prove(
    job: Job, method: Method, configuration: Configuration, *, ratio: float, metric: str, seconds: float
) -> Proof:
    """Builds and measures within `seconds`; `ratio`: head / base of the metric in this configuration."""
    if job.open_reverted is None or method.file is None or seconds < LEAST_SECONDS:
        return Proof()
    job.progress.stage(f"measuring head without the change of {method.name}")
    bench, note = job.open_reverted(method, seconds)
    if bench is None:
        return Proof(note=note)
    track: Track = "wall" if metric == "wall" else "duet"
    wish = Wish(configuration, track=track)
    logs: list[float] = []

    def wishes() -> Iterator[Wish]:
        for _ in itertools.takewhile(lambda _: not _enough(logs, ratio), range(MOST_PAIRS)):
            yield wish

    for pair in bench.measure(wishes()):
        values = [trial.metrics.get(metric, 0.0) for trial in (pair.first, pair.second)]
        if pair.ok and min(values) > 0:
            logs.append(math.log(values[1] / values[0]))
    if len(logs) < LEAST_PAIRS:
        return Proof(note=f"There was no time to measure head without the change of `{method.name}`.")
    restored, half = _share(logs, ratio)
    return Proof(restored, (restored - half, restored + half))


def _enough(logs: list[float], ratio: float) -> bool:
    return len(logs) >= LEAST_PAIRS and _share(logs, ratio)[1] <= WELL_KNOWN


def _share(logs: list[float], ratio: float) -> tuple[float, float]:
    """Mean log(head / reverted) over that of the whole change, and half its 90 % interval (Student's t)."""
    values = np.array(logs) / math.log(ratio)
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()), float(student_quantile(0.95, len(values) - 1)) * error
