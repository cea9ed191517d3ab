"""Durations are freed of the tracer's time, kept in full up to a number, and dropped when too short."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from bot.adapters.profilers.native import series
from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.series import Bias, series_of
from bot.adapters.profilers.native.uftrace_file import Node, Recording
from bot.model.profiles import Method

F, G = Method("f", "a.c"), Method("g", "a.c")
AT = {Spot("p", 1): F, Spot("p", 2): G}


def recorded(*calls: tuple[tuple[int, ...], list[int], list[int]]) -> Recording:
    """Nodes by the offsets along their path, with nanoseconds and calls below."""
    nodes: dict[tuple[int, ...], Node] = {}
    for path, durations, below in calls:
        nodes[path] = Node(
            Spot("p", path[-1]), nodes.get(path[:-1]), len(path) - 1, array("q", durations), array("q", below)
        )
    return Recording(nodes=list(nodes.values()))


def test_durations_are_without_the_tracers_time() -> None:
    traced = series_of(
        recorded(((1,), [10_000, 20_000], [10, 0]), ((1, 2), [500] * 10, [0] * 10)),
        AT.get,
        Bias(20e-9, 100e-9),
    )
    outer, inner = traced.series
    assert outer.durations == pytest.approx([8.98e-6, 19.98e-6])
    assert (outer.method, outer.path, outer.calls) == (F, (), 2)
    assert inner.durations == pytest.approx([0.48e-6] * 10)
    assert (inner.method, inner.path) == (G, (F,))
    assert traced.methods[F].total_seconds == pytest.approx(28.96e-6)
    assert traced.methods[G].self_share == pytest.approx(4.8 / 28.96)
    assert sum(cost.self_share for cost in traced.methods.values()) == pytest.approx(1)


def test_a_recursive_method_counts_once_in_its_total() -> None:
    traced = series_of(recorded(((1,), [1000], [1]), ((1, 1), [600], [0])), AT.get, Bias())
    assert traced.methods[F].total_seconds == pytest.approx(1e-6)
    assert traced.methods[F].calls == 2


def test_calls_that_are_too_short_are_counted_but_not_timed() -> None:
    traced = series_of(
        recorded(((1,), [5000], [100]), ((1, 2), [40] * 100, [0] * 100)), AT.get, Bias(9e-9, 1e-9)
    )
    assert traced.short == [G]
    assert [s.method for s in traced.series] == [F]
    assert (traced.methods[G].calls, traced.methods[G].total_seconds) == (100, None)
    busy = series_of(
        recorded(((1,), [5000], [100]), ((1, 2), [40] * 100, [0] * 100)), AT.get, Bias(1e-9, 40e-9)
    )
    assert busy.short == [F]


def test_what_is_not_watched_is_in_no_path() -> None:
    traced = series_of(
        recorded(((3,), [9000], [2]), ((3, 1), [5000], [1]), ((3, 1, 2), [1000], [0])), AT.get, Bias()
    )
    assert [(s.method, s.path) for s in traced.series] == [(F, ()), (G, (F,))]


def test_of_very_many_calls_a_histogram_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "MOST_KEPT", 100)
    durations = [0, 1, *np.random.default_rng(3).integers(1, 10**6, 999).tolist()]
    (made,) = series_of(recorded(((1,), durations, [0] * 1001)), AT.get, Bias()).series
    assert made.durations.size == 0
    assert made.counts.sum() == made.calls == 1001
    assert made.edges.shape == (made.counts.size + 1,)
    assert made.seconds == pytest.approx(sum(durations) / 1e9)
    middle = np.interp(0.5, np.cumsum(made.counts) / made.calls, made.edges[1:])
    assert middle == pytest.approx(np.median(durations) / 1e9, rel=0.05)


def test_an_empty_recording_has_no_series() -> None:
    traced = series_of(Recording(), AT.get, Bias(1e-9, 1e-9))
    assert (dict(traced.methods), list(traced.series)) == ({}, [])
