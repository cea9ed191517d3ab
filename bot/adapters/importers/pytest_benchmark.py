"""Reads pytest-benchmark's JSON: one session on one commit, with statistics (and rounds) of each test."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.adapters.importers.foreign import BENCHMARK, File, Foreign, Series, checked, parsed, passed
from bot.model.errors import UsageError
from bot.model.history import Measurements
from bot.model.report import Environment
from bot.model.space import Value


class _Commit(Foreign):
    id: str | None = None
    branch: str | None = None


class _Processor(Foreign):
    brand_raw: str = ""
    count: int = 0


class _Machine(Foreign):
    release: str = ""
    system: str = ""
    python_version: str = ""
    cpu: _Processor = _Processor()


class _Stats(Foreign):
    median: float
    rounds: int
    iterations: int = 1
    data: tuple[float, ...] | None = None


class _Benchmark(Foreign):
    fullname: str
    params: dict[str, Any] | None = None
    stats: _Stats


class _Session(Foreign):
    machine_info: _Machine = _Machine()
    commit_info: _Commit = _Commit()
    benchmarks: tuple[_Benchmark, ...]
    datetime: datetime
    version: str = ""


def read(file: File) -> list[Measurements]:
    """One run; a trial for each round, or one of the median where rounds were not saved.

    Parameters of a test are options, beside its name.

    Raises:
        UsageError: the file is none of this kind, or neither it nor the person says which commit it measured.
    """
    session = checked(_Session, parsed(file), file)
    revision = file.revision or session.commit_info.id
    if not revision:
        raise UsageError(f"{file.name}: commit_info.id is missing; say with --revision what was measured")
    machine = session.machine_info
    started = session.datetime
    series = Series(
        "pytest-benchmark",
        revision=revision,
        started=started if started.tzinfo else started.replace(tzinfo=UTC),
        ref=session.commit_info.branch or "",
        version=session.version,
        environment=Environment(
            cpu=machine.cpu.brand_raw,
            cores=machine.cpu.count,
            kernel=machine.release,
            image=machine.system,
            tools={"python3": machine.python_version} if machine.python_version else {},
        ),
    )
    for test in session.benchmarks:
        values: dict[str, Value] = {BENCHMARK: test.fullname.partition("[")[0]}
        values |= {name: _plain(value) for name, value in (test.params or {}).items()}
        stats = test.stats
        if stats.data:
            for seconds in stats.data:
                series.trial(values, passed("wall", seconds, repetitions=stats.iterations))
        else:
            count = stats.rounds * stats.iterations
            series.trial(values, passed("wall", stats.median, repetitions=count))
    return [series.measurements(file.content)]


def _plain(value: Any) -> Value:
    return value if isinstance(value, bool | int | float | str) else str(value)
