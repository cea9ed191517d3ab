"""Borders of assertions in seconds, from durations that history has: entries themselves have no times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bot.model.assertions import Assertion, Floats
from bot.model.duration_history import NO_BIN, DurationTable, lower_edges

LEAST_CALLS = 20


def times(tables: Iterable[DurationTable], entries: Sequence[Assertion]) -> Mapping[str, tuple[float, ...]]:
    """By id, the seconds of an entry's borders over all calls of its method; without those never watched."""
    calls: dict[tuple[str, str | None], Floats] = {(e.method, e.file): np.zeros(0) for e in entries}
    for table in tables:
        for code, method in enumerate(table.methods):
            key = method.name, method.file
            if key in calls:
                calls[key] = _added(calls[key], table, code)
    return {
        entry.id: _borders(entry, found)
        for entry in entries
        if (found := calls[entry.method, entry.file]).sum() >= LEAST_CALLS
    }


def _added(counts: Floats, table: DurationTable, code: int) -> Floats:
    """Calls by bin, with those of one more table."""
    rows = (table.method == code) & (table.bin != NO_BIN)
    more = np.bincount(table.bin[rows], table.count[rows], minlength=len(counts)).astype(np.float64)
    more[: len(counts)] += counts
    return more


def _borders(entry: Assertion, counts: Floats) -> tuple[float, ...]:
    """At each border's value of the distribution function, the end of the bin that reaches it."""
    reached = np.searchsorted(np.cumsum(counts) / counts.sum(), np.array(entry.places) - 1e-9)
    return tuple(lower_edges(reached + 1).tolist())
