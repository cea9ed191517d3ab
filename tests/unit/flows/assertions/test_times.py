"""Times of assertions come from durations in the history."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from bot.flows.assertions.times import times
from bot.model.assertions import ALWAYS, AssertedGroup, Assertion, Condition
from bot.model.duration_history import DurationRecorder, DurationTable
from bot.model.history import RunRecord
from bot.model.profiles import CallSeries, Method, Profile, Tool
from bot.model.report import RevisionRef

READ = Method("read", "a.c")
RUN = RunRecord(
    id="r", mode="nightly", started=datetime(2026, 1, 1, tzinfo=UTC), subject="s", program="p", ref="",
    label="", tool_version="1", options={}, metrics={},
)  # fmt: skip


def table(seconds: list[float]) -> DurationTable:
    empty = np.zeros(0)
    series = CallSeries(
        READ, (), len(seconds), sum(seconds), np.array(seconds), empty, empty.astype(np.int64)
    )
    recorder = DurationRecorder()
    tool = Tool("t", "1", "fine", frozenset({"durations"}))
    recorder.add(
        Profile(tool, "ok", 1.0, series=[series], unprofiled=1.0), RevisionRef(revision="a", label="a"), {}
    )
    return recorder.table(RUN)


def entry(method: str, *places: float) -> Assertion:
    expected = (1.0, *([0.0] * len(places)))
    return Assertion(method, "a.c", places, (AssertedGroup(Condition(ALWAYS, {}), expected, 1),))


def test_a_border_lies_where_its_share_of_all_calls_ends() -> None:
    tables = [table([1e-3] * 30 + [1e-2] * 10), table([1e-3] * 30 + [1e-2] * 10)]
    found = times(tables, [entry("read", 0.75), entry("write", 0.5)])
    (border,) = found[entry("read").id]
    assert 1e-3 < border < 1.1e-3 and set(found) == {entry("read").id}


@pytest.mark.parametrize("calls", [0, 5])
def test_a_method_with_hardly_a_call_has_no_times(calls: int) -> None:
    assert times([table([1e-3] * calls)], [entry("read", 0.5)]) == {}
