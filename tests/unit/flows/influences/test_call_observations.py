"""Fine profiles become observations that mining and checking share."""

from __future__ import annotations

import numpy as np
import pytest

from bot.flows.influences.call_observations import MOST_POINTS, nested, observed, recursive
from bot.model.assertions import GAP, edges_of
from bot.model.profiles import CallSeries, Method, Profile, Tool

MAIN, PARSE, READ = Method("main"), Method("parse", "p.c"), Method("read", "r.c")
EDGES = {("main", "parse"), ("parse", "read"), ("main", "read")}
NONE = np.zeros(0)


def calls(method: Method, *path: Method, seconds: list[float]) -> CallSeries:
    return CallSeries(
        method, path, len(seconds), sum(seconds), np.array(seconds), NONE, np.zeros(0, np.int64)
    )


def profile(*series: CallSeries, cost: float = 0.0) -> Profile:
    tool = Tool("t", "1", "fine", frozenset({"durations"}), seconds_per_call=cost)
    return Profile(tool, "ok", 1.0, series=series)


def test_calls_are_grouped_by_method_and_named_path() -> None:
    found = observed(
        profile(
            calls(READ, MAIN, PARSE, seconds=[2.0, 1.0]),
            calls(READ, MAIN, seconds=[3.0]),
            calls(PARSE, MAIN, seconds=[4.0]),
        ),
        start=5.0,
        end=6.0,
    )
    assert set(found) == {READ, PARSE}
    assert {path: d.tolist() for path, d in found[READ].durations.items()} == {
        ("main", "parse", "read"): [2.0, 1.0],
        ("main", "read"): [3.0],
    }
    assert found[READ].every.tolist() == [1.0, 2.0, 3.0] and found[READ].start == 5.0


def test_callers_that_were_not_watched_leave_a_gap() -> None:
    found = observed(profile(calls(READ, MAIN, seconds=[1.0])), start=0, end=1, edges={("parse", "read")})
    assert list(found[READ].durations) == [("main", GAP, "read")]
    found = observed(profile(calls(READ, MAIN, PARSE, seconds=[1.0])), start=0, end=1, edges=EDGES)
    assert list(found[READ].durations) == [("main", "parse", "read")]


def test_only_callers_that_are_watched_for_a_method_are_told_of_its_calls() -> None:
    seen = profile(calls(READ, MAIN, PARSE, seconds=[1.0]), calls(READ, MAIN, seconds=[2.0]))
    found = observed(seen, start=0, end=1, edges=EDGES, wanted={READ: [READ, PARSE]})
    assert {path: d.tolist() for path, d in found[READ].durations.items()} == {
        ("parse", "read"): [1.0],
        ("read",): [2.0],
    }
    both = observed(seen, start=0, end=1, edges=EDGES, wanted={PARSE: [PARSE]})
    assert set(both[READ].durations) == {("main", "parse", "read"), ("main", "read")}


def test_of_a_recursive_method_calls_at_all_depths_count_and_it_is_known_as_one() -> None:
    found = profile(calls(READ, MAIN, seconds=[3.0]), calls(READ, MAIN, READ, seconds=[1.0, 1.0]))
    assert observed(found, start=0, end=1)[READ].every.tolist() == [1.0, 1.0, 3.0]
    assert recursive(found) == {READ}


def test_many_calls_are_thinned_out_evenly_by_path() -> None:
    long = calls(READ, MAIN, seconds=np.linspace(0, 1, 3 * MOST_POINTS).tolist())
    rare = calls(READ, PARSE, seconds=[7.0, 8.0])
    kept = observed(profile(long, rare), start=0, end=1)[READ].durations
    assert len(kept["main", "read"]) == pytest.approx(MOST_POINTS, rel=0.01)
    assert kept["main", "read"].mean() == pytest.approx(0.5, abs=0.01)
    assert len(kept["parse", "read"]) >= 1


def test_a_histogram_stands_for_its_calls() -> None:
    bins = CallSeries(
        READ, (MAIN,), 10**6, 1.0, NONE, np.array([1.0, 3.0, 5.0]), np.array([900_000, 100_000])
    )
    (kept,) = observed(profile(bins), start=0, end=1)[READ].durations.values()
    assert set(kept.tolist()) == {2.0, 4.0} and len(kept) == pytest.approx(MOST_POINTS, rel=0.01)
    assert (kept == 2.0).mean() == pytest.approx(0.9, abs=0.01)


def test_a_method_without_durations_is_not_observed() -> None:
    empty = CallSeries(READ, (MAIN,), 5, 0.0, NONE, NONE, np.zeros(0, np.int64))
    assert observed(profile(empty), start=0, end=1) == {}


def test_what_watched_calls_below_add_is_a_share_of_the_callers_time() -> None:
    found = profile(
        calls(PARSE, MAIN, seconds=[1.0]), calls(READ, MAIN, PARSE, seconds=[0.01] * 10), cost=0.02
    )
    assert nested(found) == {PARSE: pytest.approx(0.2), READ: 0.0}


def test_a_gap_is_no_call_that_an_assertion_could_speak_of() -> None:
    assert edges_of(("main", GAP, "read", "fill")) == {("read", "fill")}
