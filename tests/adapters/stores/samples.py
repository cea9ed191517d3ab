"""Measurements, profiles, durations and machines of small runs, and what they mean in full words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import numpy as np

from bot.model.duration_history import DurationRecorder, DurationTable
from bot.model.history import KnownOption, Measurements, RunMode, RunRecord
from bot.model.machines import FingerprintTable, Stressed
from bot.model.profile_history import ProfileRecorder, ProfileTable
from bot.model.profiles import CallSeries, Method, MethodCost, Profile, Tool
from bot.model.recording import Recorder
from bot.model.report import Environment, RevisionRef
from bot.model.space import Option, Space
from bot.model.trials import Pair, Trial, Wish

FIRST = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
SPACE = Space(
    (
        Option("extreme", "flag", (False, True), False),
        Option("check", "choice", ("none", "64"), "none"),
        Option("level", "number", (0, 6.5, 9), 6.5),
    )
)


def record(number: int = 0, *, program: str = "xz", mode: RunMode = "nightly") -> RunRecord:
    return RunRecord(
        id=f"run-{number}",
        mode=mode,
        started=FIRST + timedelta(hours=number),
        subject="xz",
        program=program,
        ref="refs/heads/main",
        label="main",
        tool_version="0.1.0",
        environment=Environment(cpu="a processor", cores=4, kernel="6.1", tools={"gcc": "12.2"}),
        options={
            "extreme": KnownOption(kind="flag", values=(False, True), default=False),
            "level": KnownOption(kind="number", values=(0, 6.5, 9), default=6.5),
        },
    )


def sides(number: int = 0) -> dict[str, RevisionRef]:
    return {
        "base": RevisionRef(revision=f"{number:040x}", label=f"v{number}"),
        "head": RevisionRef(revision=f"{number + 1:040x}", label=f"v{number + 1}"),
    }


def run(number: int = 0, *, pairs: int = 3, program: str = "xz", mode: RunMode = "nightly") -> Measurements:
    """A run with pairs over three configurations; the last pair's second trial failed."""
    recorder = Recorder()
    revisions = sides(number)
    for i in range(pairs):
        configuration = (bool(i % 2), "64" if i % 3 else "none", (0, 6.5, 9)[i % 3])
        second = (
            Trial("timeout", detail="hangs")
            if i == pairs - 1
            else Trial("ok", {"cpu": 2.0 + i, "max_rss": 1e6}, exit_code=0, repetitions=4)
        )
        first = Trial("ok", {"cpu": 1.0 + i + number / 7, "max_rss": 1e6 + i}, exit_code=0, repetitions=4)
        recorder.pair(
            Pair(Wish(configuration), first, second, 3.0),
            {"base": revisions["base"], "head": revisions["head"]},
            SPACE,
            workload="text",
        )
    return recorder.measurements(record(number, program=program, mode=mode))


ONE = Method("shop.cart:Cart.price", "shop/cart.py", 3)
TWO = Method("lzma_mf_hc4_find::<a, b>")
FINE = Tool("suspects agent", "1", "fine", frozenset({"calls", "durations"}))
TOOL = Tool("cProfile", "3.12", "coarse", frozenset({"calls", "seconds"}))


def profiles(number: int = 0, *, count: int = 3, program: str = "xz") -> ProfileTable:
    """A run of profiles over three configurations; the last of them failed."""
    recorder = ProfileRecorder()
    for i in range(count):
        costs = {ONE: MethodCost(0.75, 0.3 + number, calls=7 + i), TWO: MethodCost(0.25, instructions=10**i)}
        failed = i == count - 1
        recorder.add(
            Profile(TOOL, "timeout" if failed else "ok", 0.5, {} if failed else costs),
            sides(number)["head"],
            SPACE.as_dict((bool(i % 2), "64" if i % 3 else "none", (0, 6.5, 9)[i % 3])),
            drawn=bool(i % 2),
            unprofiled=0.1 if i % 2 else float("nan"),
        )
    return recorder.table(record(number, program=program))


def durations(number: int = 0, *, count: int = 3, program: str = "xz") -> DurationTable:
    """A run of watched trials over three configurations; the second method is called in the first alone."""
    recorder = DurationRecorder()
    nothing = np.zeros(0)
    for i in range(count):
        seconds = np.array([0.25, 0.5, 0.5]) * (1 + number)
        given = (("self=Cart", f"n=int {i}"), ("n=int 9",), ("n=int 9",))
        series = [CallSeries(ONE, (TWO,), 3, 1.25, seconds, nothing, nothing.astype(np.int64), given)]
        if i == 0:
            edges, counts = np.array([1e-6, 2e-6, 4e-6]), np.array([10, 1])
            series.append(CallSeries(TWO, (), 11, 2e-5, nothing, edges, counts))
        recorder.add(
            Profile(FINE, "ok", 2.5, series=series, unprofiled=2.0 if i else float("nan")),
            sides(number)["head"],
            SPACE.as_dict((bool(i % 2), "64" if i % 3 else "none", (0, 6.5, 9)[i % 3])),
            uncalled=(TWO,) if i else (),
        )
    return recorder.table(record(number, program=program))


def fingerprints(number: int = 0, *, program: str = "xz") -> FingerprintTable:
    """The fingerprint of a machine on which one stressor gives nothing, and another one sometimes."""
    nan = float("nan")
    rates = {"cpu": (9.5, 9.75 + number), "af-alg": (nan, nan), "stream": (nan, 2.5)}
    return FingerprintTable.of(Stressed("stress-ng 0.15.06", rates), record(number, program=program))


def profile_meaning(part: ProfileTable | DurationTable | FingerprintTable) -> list[tuple[object, ...]]:
    """Each row in full words."""
    tables = [(getattr(part, name), getattr(part, code)) for name, code in part.tables.items()]
    plain = [name for name in part.kinds if name not in part.tables.values()]
    return [
        (
            *(_whole(table[codes[i]]) if codes[i] >= 0 else None for table, codes in tables),
            *(repr(getattr(part, name)[i].item()) for name in plain),
        )
        for i in range(len(part))
    ]


def _whole(entry: object) -> object:
    match entry:
        case Method():
            return (entry, entry.line)
        case Mapping():
            return sorted((name, repr(value)) for name, value in entry.items())
    return entry


def same(first: Measurements, second: Measurements) -> bool:
    """Whether both mean the same, whatever their codes are."""
    return meaning(first) == meaning(second)


def meaning(part: Measurements) -> list[tuple[object, ...]]:
    """Each row in full words."""
    rows = []
    for i in range(len(part)):
        metric = part.metrics[part.metric[i]] if part.metric[i] >= 0 else None
        rows.append(
            (
                part.runs[part.run[i]],
                part.revisions[part.revision[i]],
                tuple(sorted((k, repr(v)) for k, v in part.configurations[part.configuration[i]].items())),
                metric,
                repr(float(part.value[i])),
                part.workloads[part.workload[i]],
                *(
                    int(column[i])
                    for column in (
                        part.outcome, part.exit_code, part.trial, part.pair, part.second, part.track,
                        part.repetitions,
                    )
                ),
            )
        )  # fmt: skip
    return rows
