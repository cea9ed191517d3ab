"""Cost tables of whole programs from trials of several nights, each in the newest one's seconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from bot.analysis.hindsight import configurations
from bot.analysis.influences.costs import CostTable
from bot.analysis.influences.remembered import REPETITIONS, REST
from bot.model.history import Measurements
from bot.model.space import Configuration, Space

NIGHTS = 14
"""Newest runs that are looked at."""
LEAST_SHARED, SAME = 2, 0.1
"""Shared configurations, and the spread of their ratios, with which an older run counts in newer seconds."""


def trial_costs(space: Space, past: Measurements, metric: str) -> CostTable | None:
    """Seconds of the program (as the one method `REST`) in each configuration; None: there are no trials.

    Of each run the revision counts at which most configurations were measured: the tip of a night. An older
    run counts where the configurations it shares with newer ones all became slower or faster by one factor.
    """
    if metric not in past.metrics or not len(past):
        return None
    found, codes = configurations(past, space)
    kept = past.where((past.metric == past.metrics.index(metric)) & (past.value > 0))
    kept = kept.where(codes[kept.configuration] >= 0)
    known: dict[int, list[float]] = {}
    newest = sorted(np.unique(kept.run), key=lambda run: past.runs[run].started, reverse=True)[:NIGHTS]
    for run in newest:
        values = _at_one_revision(kept.where(kept.run == run), codes)
        factor = _factor(known, values) if known else 1.0
        if factor is not None:
            for code, seconds in values.items():
                known.setdefault(code, [factor * value for value in seconds])
    return _table(space, found, known) if known else None


def _at_one_revision(run: Measurements, codes: np.ndarray) -> dict[int, list[float]]:
    """Configuration -> values, at the revision of a run that has most configurations; the last of equals."""
    by_revision: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for revision, code, value in zip(run.revision, codes[run.configuration], run.value, strict=True):
        by_revision[int(revision)][int(code)].append(float(value))
    return max(reversed(by_revision.values()), key=len)


def _factor(known: Mapping[int, Sequence[float]], values: Mapping[int, Sequence[float]]) -> float | None:
    """By which an older run's seconds become the known ones; None: by none."""
    logs = [np.log(np.median(known[c]) / np.median(values[c])) for c in values if c in known]
    if len(logs) < LEAST_SHARED or np.std(logs) > SAME:
        return None
    return float(np.exp(np.median(logs)))


def _table(space: Space, found: Sequence[Configuration], known: Mapping[int, Sequence[float]]) -> CostTable:
    repetitions = min(max(map(len, known.values())), REPETITIONS)
    seconds = np.full((len(known), 1, repetitions), np.nan)
    for i, values in enumerate(known.values()):
        newest = values[-repetitions:]
        seconds[i, 0, : len(newest)] = newest
    return CostTable(space, tuple(found[code] for code in known), (REST,), {"seconds": seconds})
