"""Proves a method guilty: head without the change of its text, beside head, in the flagged configuration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bot.analysis.distributions import student_quantile
from bot.flows.run.job import Job
from bot.model.profiles import Method
from bot.model.report import ConfigurationChange
from bot.model.space import Configuration
from bot.model.trials import Track, Wish

LEAST_SECONDS = 5.0
"""With less time left nothing is built."""
LEAST_SHARE = 0.25
"""A method that explains less of the change is not worth a build."""
LEAST_PAIRS, MOST_PAIRS = 4, 16
WELL_KNOWN = 0.1
"""Half of the interval's width that needs no more pairs."""
HARDLY_KNOWN = 0.5
"""Of a change whose own interval is wider, in shares of itself to either side, no share can be told."""


@dataclass(frozen=True)
class Proof:
    """The share of a change that the revert takes away and its 90 % interval, or why there is none."""

    restored: float | None = None
    interval: tuple[float, float] | None = None
    note: str = ""


def prove(
    job: Job, method: Method, configuration: Configuration, *, change: ConfigurationChange, seconds: float
) -> Proof:
    """Builds and measures within `seconds`; `change`: from base to head in this configuration."""
    if job.open_reverted is None or method.file is None or seconds < LEAST_SECONDS:
        return Proof()
    if not change.ratio or not change.interval or min(change.interval) <= 0.0:
        return Proof()
    size, doubt = math.log(change.ratio), math.log(change.interval[1] / change.interval[0]) / 2.0
    if doubt > HARDLY_KNOWN * abs(size):
        return Proof(
            note=f"Head was not built without the change of `{method.name}`: the pairs of its configuration "
            "do not say well enough how large the change is there. A larger --budget has more of them."
        )
    job.progress.stage(f"measuring head without the change of {method.name}")
    bench, note = job.open_reverted(method, seconds)
    if bench is None:
        return Proof(note=note)
    metric = change.metric
    track: Track = "wall" if metric == "wall" else "duet"
    wish = Wish(configuration, track=track)
    logs: list[float] = []

    def wishes() -> Iterator[Wish]:
        for _ in itertools.takewhile(lambda _: not _enough(logs, size), range(MOST_PAIRS)):
            yield wish

    for pair in bench.measure(wishes()):
        values = [trial.metrics.get(metric, 0.0) for trial in (pair.first, pair.second)]
        if pair.ok and min(values) > 0:
            logs.append(math.log(values[1] / values[0]))
    if len(logs) < LEAST_PAIRS:
        return Proof(note=f"There was no time to measure head without the change of `{method.name}`.")
    restored, half = _share(logs, size)
    # Both the revert and the whole change are known from pairs: their relative errors add up in squares.
    half = math.hypot(half, restored * doubt / size)
    return Proof(restored, (restored - half, restored + half))


def _enough(logs: list[float], size: float) -> bool:
    return len(logs) >= LEAST_PAIRS and _share(logs, size)[1] <= WELL_KNOWN


def _share(logs: list[float], size: float) -> tuple[float, float]:
    """Mean log(head / reverted) over that of the whole change, and half its 90 % interval (Student's t)."""
    values = np.array(logs) / size
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()), float(student_quantile(0.95, len(values) - 1)) * error
