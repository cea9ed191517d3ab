"""Watched trials from history: series of calls, as cost tables are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.hindsight import configurations
from bot.model.duration_history import NO_BIN, DurationTable, lower_edges
from bot.model.profiles import CallSeries
from bot.model.space import Configuration, Space

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class WatchedTrial:
    """One trial: its calls as histograms; known: methods of which it is known whether they were called."""

    configuration: Configuration
    series: tuple[CallSeries, ...]
    known: frozenset[str]


def newest(table: DurationTable) -> DurationTable:
    """The rows of the revision that was watched last: methods may have changed since the others."""
    if not len(table):
        return table
    started = np.array([run.started.timestamp() for run in table.runs])[table.run]
    return table.where(table.revision == table.revision[int(np.argmax(started))])


def watched_trials(space: Space, table: DurationTable) -> list[WatchedTrial]:
    """The trials of a table whose configurations the space still has."""
    found, codes = configurations(table, space)
    return [
        _trial(table, rows, found[code])
        for rows in _parts(np.arange(len(table)), trials_of(table))
        if (code := codes[table.configuration[rows[0]]]) >= 0
    ]


def trials_of(table: DurationTable) -> Ints:
    """Number of the watched trial of each row, shape (n,)."""
    key = table.run.astype(np.int64) << 32 | table.profile
    return np.asarray(np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64))


def _trial(table: DurationTable, rows: Ints, configuration: Configuration) -> WatchedTrial:
    parts = list(_parts(rows, table.method))
    counted = {table.method[r] for r in rows[~_timed(table, rows)] if table.count[r]}
    series = [_series(table, own) for p in parts if len(own := p[_timed(table, p)])]
    known = {table.methods[code].name for p in parts if (code := table.method[p[0]]) not in counted}
    return WatchedTrial(configuration, tuple(series), frozenset(known))


def _parts(rows: Ints, column: NDArray[np.integer]) -> Iterator[Ints]:
    """The rows with the same value in a column, for each value."""
    order = rows[np.argsort(column[rows], kind="stable")]
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(column[order])) + 1)


def _timed(table: DurationTable, rows: Ints) -> NDArray[np.bool_]:
    """Whether durations are known, or at least their sum, which is all that a JVM tells; shape (n,)."""
    return np.asarray((table.bin[rows] != NO_BIN) | (table.seconds[rows] > 0))


def _series(table: DurationTable, rows: Ints) -> CallSeries:
    """The histogram of a method's calls in a trial, all paths together; or only their sum."""
    method, seconds = table.methods[table.method[rows[0]]], float(table.seconds[rows].sum())
    first, last = int(table.bin[rows].min()), int(table.bin[rows].max())
    if first == NO_BIN:
        return CallSeries.summed(method, (), int(table.count[rows].sum()), seconds)
    counts = np.bincount(table.bin[rows] - first, table.count[rows]).astype(np.int64)
    edges = lower_edges(np.arange(first, last + 2))
    return CallSeries(method, (), int(counts.sum()), seconds, np.empty(0), edges, counts)
