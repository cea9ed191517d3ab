"""Durations in columns: what is kept of the calls of each method, and how much detail there is room for."""

from __future__ import annotations

import numpy as np
import pytest

from bot.model.duration_history import (
    MOST_ROWS,
    MOST_SUMMARIES,
    NO_BIN,
    OTHERS,
    UNKNOWN,
    DurationRecorder,
    DurationTable,
    bins_of,
    lower_edges,
)
from bot.model.profiles import CallPath, CallSeries, Method, Profile, Tool
from bot.model.report import RevisionRef
from tests.adapters.stores.samples import durations, profile_meaning, record

TOOL = Tool("watcher", "1", "fine", frozenset())
HEAD = RevisionRef(revision="1", label="one")
WORK, MAIN = Method("work", "work.c", 3), Method("main", "work.c", 9)
NONE = np.empty(0)


def calls(seconds: list[float], *given: str, path: CallPath = (MAIN,), scale: float = 1.0) -> CallSeries:
    """Calls of `work`; scale: all calls to those that were timed."""
    arguments = tuple((one,) for one in given)
    total = sum(seconds) * scale
    number = round(len(seconds) * scale)
    return CallSeries(WORK, path, number, total, np.array(seconds), NONE, NONE.astype(np.int64), arguments)


def recorded(*found: CallSeries, uncalled: tuple[Method, ...] = ()) -> DurationTable:
    recorder = DurationRecorder()
    profile = Profile(TOOL, "ok", 1.1, series=found, unprofiled=1.0)
    recorder.add(profile, HEAD, {"fast": True}, uncalled=uncalled)
    return recorder.table(record())


def test_a_bin_ends_where_the_next_begins_and_spans_three_percent() -> None:
    seconds = np.geomspace(1e-9, 1e3, 1000)
    bins = bins_of(seconds)
    assert (lower_edges(bins) <= seconds * (1 + 1e-9)).all()
    assert (seconds < lower_edges(bins + 1) * (1 + 1e-9)).all()
    assert (lower_edges(bins + 1) / lower_edges(bins)) == pytest.approx(1.03)
    assert bins_of(np.array([0.0, 1e-12])).tolist() == [0, 0]


def test_calls_of_like_durations_are_one_row() -> None:
    table = recorded(calls([0.01, 0.01, 0.02]))
    assert sorted(zip(table.count.tolist(), table.seconds.tolist(), strict=True)) == [(1, 0.02), (2, 0.02)]
    assert (table.methods, table.paths, table.tools) == ((WORK,), ("main",), ("watcher 1",))
    assert set(table.profiled) == {1.1} and set(table.unprofiled) == {1.0}


def test_calls_are_told_apart_by_arguments_and_path() -> None:
    table = recorded(calls([0.01] * 4, "n=int 1", "n=int 2", "n=int 1", "n=int 1"), calls([0.01], path=()))
    told = {
        (table.paths[p], table.summaries[a]): c
        for p, a, c in zip(table.path, table.arguments, table.count, strict=True)
    }
    assert told == {("main", "n=int 1"): 3, ("main", "n=int 2"): 1, ("", UNKNOWN): 1}


def test_where_calls_were_sampled_each_stands_for_several() -> None:
    table = recorded(calls([0.01, 0.03], scale=10))
    assert table.count.tolist() == [10, 10] and table.seconds.tolist() == pytest.approx([0.1, 0.3])


def test_a_histogram_keeps_calls_and_seconds() -> None:
    edges, counts = np.array([1e-6, 1.1e-6, 1.2e-6, 1.3e-6]), np.array([5, 0, 7])
    table = recorded(CallSeries(WORK, (), 12, 14e-6, NONE, edges, counts))
    assert table.count.sum() == 12 and table.seconds.sum() == pytest.approx(14e-6)
    assert (table.bin != NO_BIN).all()


def test_calls_without_durations_and_methods_without_calls_are_rows_of_their_own() -> None:
    counted = CallSeries(WORK, (), 12, 0.5, NONE, NONE, NONE.astype(np.int64))
    table = recorded(counted, uncalled=(MAIN,))
    assert table.bin.tolist() == [NO_BIN, NO_BIN]
    found = {
        table.methods[m]: (c, s) for m, c, s in zip(table.method, table.count, table.seconds, strict=True)
    }
    assert found == {MAIN: (0, 0.0), WORK: (12, 0.5)}


def test_of_many_summaries_those_with_the_most_time_are_kept() -> None:
    seconds = [0.001 * (i + 1) for i in range(100)]
    table = recorded(calls(seconds, *(f"n=int {i}" for i in range(100))))
    kept = {table.summaries[a] for a in table.arguments}
    assert kept == {UNKNOWN, *(f"n=int {i}" for i in range(100 - MOST_SUMMARIES, 100))}
    assert table.count.sum() == 100 and table.seconds.sum() == pytest.approx(sum(seconds))


def test_detail_that_has_no_room_is_left_out() -> None:
    rng = np.random.default_rng(1)
    many = [
        calls(
            list(rng.lognormal(-7, 2, 4000)),
            *(f"n=int {i % 20}" for i in range(4000)),
            path=(Method(f"caller{k}"),),
        )
        for k in range(20)
    ]
    table = recorded(*many)
    assert len(table) <= MOST_ROWS
    assert set(table.summaries) == {UNKNOWN}
    assert table.count.sum() == 80_000


def test_a_long_path_keeps_its_innermost_callers() -> None:
    path = tuple(Method(f"m{i}") for i in range(20))
    (text,) = recorded(calls([0.1], path=path)).paths
    assert text.startswith(f"{OTHERS} > m12 > ") and text.endswith(" > m19")


def test_a_profile_that_failed_or_has_no_calls_is_no_row() -> None:
    recorder = DurationRecorder()
    recorder.add(Profile(TOOL, "signal", 1.0, series=[calls([1.0])]), HEAD, {})
    recorder.add(Profile(TOOL, "ok", 1.0), HEAD, {})
    assert len(recorder) == len(recorder.table(record())) == 0


def test_joined_tables_mean_what_their_parts_meant() -> None:
    parts = [durations(0), durations(1), durations(0, program="other")]
    joined = DurationTable.concatenated(parts)
    assert profile_meaning(joined) == [row for part in parts for row in profile_meaning(part)]
    assert len(joined.methods) == 2 and len(joined.runs) == 3 and len(DurationTable.empty()) == 0
