"""Reads hyperfine's JSON: a result for each command, with all its runs (version 1 and 2 of the format)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from pydantic import Field

from bot.adapters.importers.foreign import BENCHMARK, File, Foreign, Series, checked, parsed
from bot.model.errors import UsageError
from bot.model.history import Measurements
from bot.model.space import Value
from bot.model.trials import Trial

_METRICS = {"time_wall_clock": "wall", "time_cpu": "cpu", "memory_peak_resident": "max_rss"}
"""Metric of version 2 -> ours; both in seconds or bytes."""


class _Result(Foreign):
    command: str
    median: float
    times: tuple[float, ...] | None = None
    memory_usage_byte: tuple[int, ...] | None = None
    exit_codes: tuple[int | None, ...] = ()
    parameters: dict[str, str | int | float] = Field(default_factory=dict)


class _Results(Foreign):
    results: tuple[_Result, ...]


class _Quantity(Foreign):
    value: float


class _Result2(Foreign):
    command: str
    name: str | None = None
    measurements: tuple[dict[str, _Quantity | int | None], ...]
    parameters: dict[str, str | int | float] = Field(default_factory=dict)


class _Metadata(Foreign):
    hyperfine_version: str = ""
    start_time: datetime | None = None


class _Results2(Foreign):
    schema_version: int
    metadata: _Metadata = _Metadata()
    results: tuple[_Result2, ...]


def read(file: File) -> list[Measurements]:
    """One run; a trial for each time. Parameters are options; without any, the command is the option.

    Raises:
        UsageError: the file is none of this kind, or nobody said which commit it measured.
    """
    if file.revision is None:
        raise UsageError(f"{file.name}: hyperfine does not say which commit it measured; add --revision")
    value = parsed(file)
    second = isinstance(value, dict) and "schema_version" in value
    series = Series("hyperfine", revision=file.revision, started=file.modified)
    if second:
        data = checked(_Results2, value, file)
        if data.schema_version != 2:
            raise UsageError(f"{file.name}: schema_version {data.schema_version} is not known; 2 is")
        series.version = data.metadata.hyperfine_version
        if data.metadata.start_time is not None:
            start = data.metadata.start_time
            series.started = start if start.tzinfo else start.replace(tzinfo=UTC)
        for result in data.results:
            values = _configuration(result.parameters, result.name or result.command)
            for measured in result.measurements:
                series.trial(values, _trial2(measured))
    else:
        for old in checked(_Results, value, file).results:
            for trial in _trials(old):
                series.trial(_configuration(old.parameters, old.command), trial)
    return [series.measurements(file.content)]


def _configuration(parameters: Mapping[str, str | int | float], command: str) -> dict[str, Value]:
    return dict(parameters) or {BENCHMARK: command}


def _trials(result: _Result) -> Iterator[Trial]:
    """All runs of a command; files without them have the median, of an unknown number of runs."""
    if result.times is None:
        yield Trial("ok", {"wall": result.median}, repetitions=max(len(result.exit_codes), 1))
        return
    for i, seconds in enumerate(result.times):
        code = result.exit_codes[i] if i < len(result.exit_codes) else None
        metrics = {"wall": seconds}
        if result.memory_usage_byte is not None and i < len(result.memory_usage_byte):
            metrics["max_rss"] = float(result.memory_usage_byte[i])
        yield Trial("exit", exit_code=code) if code else Trial("ok", metrics, exit_code=code)


def _trial2(measured: Mapping[str, _Quantity | int | None]) -> Trial:
    code = measured.get("exit_code")
    if isinstance(code, int) and code:
        return Trial("exit", exit_code=code)
    found = {
        _METRICS[name]: q.value
        for name, q in measured.items()
        if isinstance(q, _Quantity) and name in _METRICS
    }
    if not found:
        return Trial("unparsable", detail="no value")
    return Trial("ok", found, exit_code=code if isinstance(code, int) else None)
