"""Reads `data.js` of github-action-benchmark: suites of entries, a commit and its benches each."""

from __future__ import annotations

from bot.adapters.importers.foreign import (
    BENCHMARK,
    File,
    Foreign,
    Series,
    checked,
    metric_of,
    moment,
    parsed,
    passed,
)
from bot.model.history import Measurements

PREFIX = "window.BENCHMARK_DATA ="
"""What the script begins with; the rest is JSON."""


class _Commit(Foreign):
    id: str


class _Bench(Foreign):
    name: str
    value: float
    unit: str = ""


class _Entry(Foreign):
    commit: _Commit
    date: float
    tool: str = ""
    benches: tuple[_Bench, ...]


class _Data(Foreign):
    entries: dict[str, tuple[_Entry, ...]]


def read(file: File) -> list[Measurements]:
    """A run for each entry. A bench is a trial; times are wall seconds, other units a metric of their name.

    Raises:
        UsageError: the file is none of this kind; the place is named.
    """
    data = checked(_Data, parsed(file, after=PREFIX), file)
    runs = []
    for suite, entries in data.entries.items():
        for entry in entries:
            series = Series(
                f"github-action-benchmark:{suite}",
                revision=entry.commit.id,
                started=moment(entry.date, file),
                version=entry.tool,
            )
            for bench in entry.benches:
                metric, factor = metric_of(bench.unit)
                if metric != "wall":
                    series.units[metric] = bench.unit
                series.trial({BENCHMARK: bench.name}, passed(metric, bench.value * factor))
            runs.append(series.measurements(suite.encode()))
    return runs
