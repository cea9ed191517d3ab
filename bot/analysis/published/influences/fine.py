"""Second step: the calls of the hard methods without the longest ones, as histograms, and learnt again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.influences.costs import CostTable, Floats, Quantity
from bot.model.profiles import CallSeries
from bot.model.space import Configuration, Space

DROPPED = 0.01
"""Longest calls of a run that are left out (section IV-D): few of them outweigh all others (insight 3)."""
BINS = 100
"""Of a histogram; a choice, the paper names no number."""


@dataclass(frozen=True)
class CallSummary:
    """The calls of one method in one run without the longest 1 %.

    seconds: their sum. calls: how many remain. mean, deviation: of their durations. edges, counts: their
    histogram, shapes (BINS + 1,) and (BINS,).
    """

    seconds: float
    calls: int
    mean: float
    deviation: float
    edges: Floats
    counts: NDArray[np.int64]


def summary(series: Sequence[CallSeries]) -> CallSummary | None:
    """Summary of all calls of one method in one run (its call paths together); None: it was not called.

    Where a series came as a histogram, its calls count with the middle of their bin.
    """
    parts = [_durations(s) for s in series]
    durations, calls = (
        (np.concatenate([part[k] for part in parts]) for k in range(2)) if parts else (_NONE, _NONE)
    )
    order = np.argsort(durations, kind="stable")
    durations, calls = durations[order], calls[order]
    total = int(calls.sum())
    if not total:
        return None
    left = max(1, total - int(DROPPED * total))
    kept = np.diff(np.minimum(np.cumsum(calls), left), prepend=0)
    durations, kept = durations[kept > 0], kept[kept > 0]
    mean = float(np.average(durations, weights=kept))
    deviation = float(np.sqrt(np.average((durations - mean) ** 2, weights=kept)))
    counts, edges = np.histogram(durations, bins=BINS, weights=kept)
    return CallSummary(mean * left, left, mean, deviation, edges, counts.astype(np.int64))


_NONE = np.zeros(0)


def _durations(series: CallSeries) -> tuple[Floats, Floats]:
    """Durations, and how many calls took so long; there may be too many of these to list them one by one.

    Where only their sum is known, all are as long as their mean.
    """
    if not len(series.durations) and not len(series.counts) and series.seconds:
        return np.array([series.seconds / series.calls]), np.array([float(series.calls)])
    if len(series.durations) or not len(series.counts):
        return series.durations, np.ones(len(series.durations))
    return (series.edges[:-1] + series.edges[1:]) / 2, series.counts.astype(np.float64)


def fine_costs(
    space: Space,
    runs: Sequence[tuple[Configuration, Sequence[Sequence[CallSeries] | None]]],
) -> CostTable:
    """Costs for `CoarseModels.fit` as the fine profiler saw them: seconds and calls without the longest ones.

    runs: for each configuration its repetitions, each all series of one run; None: the run failed.
    """
    named = [[None if run is None else _by_method(run) for run in repetitions] for _, repetitions in runs]
    methods = sorted({name for row in named for run in row if run is not None for name in run})
    shape = (len(runs), len(methods), max((len(r) for r in named), default=0))
    seconds, calls = np.full(shape, np.nan), np.full(shape, np.nan)
    for i, row in enumerate(named):
        for k, run in enumerate(row):
            for j, name in enumerate(methods):
                found = None if run is None else run.get(name)
                if found is not None:
                    seconds[i, j, k], calls[i, j, k] = found.seconds, found.calls
    quantities: dict[Quantity, Floats] = {"seconds": seconds, "calls": calls}
    return CostTable(space, tuple(c for c, _ in runs), tuple(methods), quantities)


def _by_method(run: Sequence[CallSeries]) -> dict[str, CallSummary]:
    groups: dict[str, list[CallSeries]] = {}
    for series in run:
        groups.setdefault(series.method.name, []).append(series)
    found = {name: summary(group) for name, group in groups.items()}
    return {name: s for name, s in found.items() if s is not None}
