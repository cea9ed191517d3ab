"""Reads a result file of asv (airspeed velocity): all benchmarks of one commit on one machine."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.adapters.importers.foreign import BENCHMARK, File, Foreign, Series, checked, moment, parsed, passed
from bot.model.errors import UsageError
from bot.model.history import Measurements
from bot.model.report import Environment
from bot.model.space import Value

VERSION = 2
_METRICS = {"time": "wall", "timeraw": "wall", "peakmem": "max_rss", "mem": "memory"}
"""First word of a benchmark's name -> metric, in seconds or bytes; other benchmarks track any number."""


class _Machine(Foreign):
    machine: str = ""
    cpu: str = ""
    num_cpu: str | int = ""
    os: str = ""


class _Results(Foreign):
    version: int
    commit_hash: str
    date: float
    env_name: str = ""
    python: str | None = None
    params: _Machine = _Machine()
    result_columns: tuple[str, ...]
    results: dict[str, list[Any] | None]


class _Result(Foreign):
    """One benchmark; the lists run over the product of the parameters' values."""

    result: list[float | None] | None = None
    params: tuple[tuple[str, ...], ...] = ()
    started_at: float | None = None
    stats_number: list[float | None] | None = None
    stats_repeat: list[float | None] | None = None
    samples: list[list[float] | None] | None = None


def read(file: File, names: Mapping[str, Sequence[str]] | None = None) -> list[Measurements]:
    """One run. `null` is a failed trial, NaN a skipped one, which is left out.

    names: benchmark -> names of its parameters (`benchmarks.json`); without, they are numbered.

    Raises:
        UsageError: the file is none of this kind; the place is named.
    """
    value = parsed(file)
    if isinstance(value, dict) and value.get("version") != VERSION:
        version = str(value.get("version"))[:40]
        raise UsageError(f"{file.name}: version {version} of asv's results is not known; 2 is")
    data = checked(_Results, value, file)
    cores = str(data.params.num_cpu)
    series = Series("asv", revision=data.commit_hash, started=moment(data.date, file))
    series.environment = Environment(
        cpu=data.params.cpu,
        cores=int(cores) if cores.isdecimal() else 0,
        kernel=data.params.os,
        image=data.env_name,
        tools={"python3": data.python} if data.python else {},
    )
    began: list[float] = []
    for name, row in data.results.items():
        found = checked(_Result, dict(zip(data.result_columns, row or [], strict=False)), file)
        if found.started_at is not None:
            began.append(found.started_at)
        _add(series, name, found, (names or {}).get(name, ()))
    if began:
        series.started = moment(min(began), file)
    return [series.measurements(file.content)]


def _add(series: Series, name: str, found: _Result, names: Sequence[str]) -> None:
    metric = _METRICS.get(name.rpartition(".")[2].partition("_")[0], "value")
    for i, chosen in enumerate(itertools.product(*found.params)):
        values: dict[str, Value] = {BENCHMARK: name}
        for place, text in enumerate(chosen):
            values[names[place] if place < len(names) else f"param{place + 1}"] = _value(text)
        result = _at(found.result, i)
        if result is not None and math.isnan(result):
            continue
        for seconds, repetitions in _samples(found, i, result):
            series.trial(values, passed(metric, seconds, repetitions=repetitions))


def _samples(found: _Result, i: int, result: float | None) -> Iterator[tuple[float | None, int]]:
    number = int(_at(found.stats_number, i) or 1)
    samples = _at(found.samples, i)
    if result is not None and samples:
        yield from ((sample, number) for sample in samples)
    else:
        yield result, number * int(_at(found.stats_repeat, i) or 1)


def _at(entries: Sequence[Any] | None, i: int) -> Any:
    return entries[i] if entries is not None and i < len(entries) else None


def _value(text: str) -> Value:
    """Parameters are stored as Python writes them: 10, 'fast', True."""
    if text in ("True", "False"):
        return text == "True"
    try:
        value = json.loads(text)
    except ValueError:
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text
    return value if isinstance(value, int | float | str) else text


def parameter_names(file: File) -> dict[str, Sequence[str]]:
    """Benchmark -> names of its parameters, from `benchmarks.json`.

    Raises:
        UsageError: the file is none of this kind.
    """
    known = parsed(file)
    if not isinstance(known, dict):
        raise UsageError(f"{file.name}: at the top: a mapping is needed")
    return {
        name: [str(entry) for entry in about.get("param_names", [])]
        for name, about in known.items()
        if isinstance(about, dict)
    }
