"""Durations of watched calls, single or in bins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.profilers.call_series import (
    MOST_BINS,
    Watched,
    bin_of,
    lower_edges,
    median,
    merged,
    trusted,
)
from bot.model.profiles import CallSeries, Method

A, B = Method("a"), Method("b")


@given(st.integers(0, 1 << 50))
def test_a_duration_lies_between_the_edges_of_its_bin(nanoseconds: int) -> None:
    place = int(bin_of(np.array([nanoseconds]))[0])
    low, high = lower_edges(place, place) * 1e9
    assert place < MOST_BINS
    assert low * (1 - 1e-12) <= nanoseconds < high * (1 + 1e-12)
    assert high - low <= max(1.0001, 0.032 * low)


def test_threads_that_kept_single_durations_are_joined() -> None:
    parts = [
        Watched(A, (B,), 2, 30, [10, 20], given=[("x",), ("y",)]),
        Watched(A, (B,), 1, 5, [5], given=[("z",)]),
        Watched(A, (), 1, 7, [7]),
        Watched(B, (), 0, 0),
    ]
    joined, alone = merged(parts)
    assert joined.calls == 3
    assert joined.seconds == pytest.approx(35e-9)
    assert joined.durations == pytest.approx(np.array([10, 20, 5]) / 1e9)
    assert joined.arguments == (("x",), ("y",), ("z",))
    assert (alone.path, alone.arguments) == ((), ())


def test_single_durations_join_a_histogram() -> None:
    (joined,) = merged([Watched(A, (), 3, 3000, bins={40: 2, 43: 1}), Watched(A, (), 1, 1, durations=[1])])
    assert joined.counts.sum() == 4
    assert len(joined.durations) == 0
    assert (joined.counts[0], joined.counts[-1], len(joined.edges)) == (1, 1, len(joined.counts) + 1)


def series(durations: list[float]) -> CallSeries:
    none = np.zeros(0)
    return CallSeries(A, (), len(durations), sum(durations), np.array(durations), none, none.astype(np.int64))


def test_calls_too_short_for_the_tool_are_left_out_with_a_note() -> None:
    clear, notes = trusted([series([1e-6] * 3)], 50e-9)
    assert (len(clear), notes) == (1, [])
    clear, (note,) = trusted([series([1e-6] * 3)], 200e-9)
    assert clear == []
    assert note.startswith("Calls of 1 watched methods are only counted: 200 ns")


def test_the_median_of_a_histogram_is_near_that_of_its_calls() -> None:
    values = list(range(1000, 3000))
    whole = {
        int(b): int(n) for b, n in zip(*np.unique(bin_of(np.array(values)), return_counts=True), strict=True)
    }
    (binned,) = merged([Watched(A, (), len(values), sum(values), bins=whole)])
    assert median(binned) == pytest.approx(2000e-9, rel=0.03)


def test_no_durations_have_no_median() -> None:
    assert math.isnan(median(series([])))
