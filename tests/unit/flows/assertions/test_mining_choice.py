"""What mining watches together in one trial."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.flows.assertions.mining_choice import AT_ONCE, CALLERS_CALLS, TIMED, Price, choose, with_callers
from bot.flows.assertions.mining_state import Candidate
from bot.flows.methods.call_graph import CallGraph
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile, Tool

TOOL = Tool("coarse", "1", "coarse", frozenset({"calls", "edges"}))
PRICE = Price(overhead=0.1, trial=1.0, call=1e-6, sampled=False)
"""200,000 calls in a trial beside one without the tool."""


def method(name: str) -> Method:
    return Method(name, "a.c")


def graph(calls: dict[str, int], *edges: tuple[str, str]) -> CallGraph:
    return CallGraph(
        Profile(
            TOOL,
            "ok",
            1.0,
            {method(name): MethodCost(0.1, calls=count) for name, count in calls.items()},
            {(method(a), method(b)): EdgeCost(1, 1.0) for a, b in edges},
        )
    )


def chosen(candidates: list[Candidate], known: CallGraph, price: Price = PRICE) -> list[str]:
    return [c.method.name for c in choose(candidates, known, utility=lambda _: 1.0, price=price)]


def test_methods_that_share_callers_are_watched_together_for_one_price() -> None:
    known = graph({"all": 150_000, "f": 20_000, "g": 20_000}, ("all", "f"), ("all", "g"))
    both = [Candidate(method(name), 0.1, callers=True) for name in ("f", "g")]
    assert with_callers(both[0], known) == [method("f"), method("all")]
    assert chosen(both, known) == ["f", "g"]


def test_a_method_that_is_too_dear_comes_last_however_hot() -> None:
    known = graph({"dear": 250_000, "cheap": 100, "other": 100})
    some = [Candidate(method(name), heat) for name, heat in (("dear", 0.9), ("cheap", 0.1), ("other", 0.2))]
    assert chosen(some, known) == ["other", "cheap"]
    assert chosen(some[:1], known) == ["dear"]


def test_a_method_whose_calls_are_too_short_as_far_as_is_known_comes_last() -> None:
    known = CallGraph(
        Profile(
            TOOL,
            "ok",
            1.0,
            {
                method("short"): MethodCost(0.6, self_seconds=0.6, calls=1_000_000),
                method("long"): MethodCost(0.3, self_seconds=0.3, calls=100),
                method("main"): MethodCost(0.1, self_seconds=0.1, calls=1),
            },
            {
                (method("main"), method("short")): EdgeCost(1, 0.6),
                (method("main"), method("long")): EdgeCost(1, 0.3),
            },
        )
    )
    some = [Candidate(method(name), heat) for name, heat in (("short", 0.6), ("long", 0.3))]
    free = Price(overhead=10.0, trial=1.0, call=1e-6, sampled=False, shortest=1e-6)
    assert chosen(some, known, free) == ["short", "long"]  # 0.6 us, whose median may be 1.2
    assert chosen(some, known, replace(free, shortest=2e-6)) == ["long", "short"]


def test_what_does_not_fit_makes_room_for_what_does() -> None:
    known = graph({"a": 150_000, "b": 150_000, "c": 50_000})
    some = [Candidate(method(name), heat) for name, heat in (("a", 0.3), ("b", 0.2), ("c", 0.1))]
    assert chosen(some, known) == ["a", "c"]


def test_a_method_that_others_perturb_is_not_watched_with_those_below_it() -> None:
    known = graph({"top": 10, "low": 10, "aside": 10}, ("top", "low"))
    some = [
        Candidate(method("top"), 0.3, alone=True),
        Candidate(method("low"), 0.2),
        Candidate(method("aside"), 0.1),
    ]
    assert chosen(some, known) == ["top", "aside"]


def test_what_is_called_very_often_is_not_watched_with_what_is_above_it() -> None:
    known = CallGraph(
        Profile(
            TOOL,
            "ok",
            1.0,
            {
                method("top"): MethodCost(0.1, self_seconds=0.1, calls=10),
                method("often"): MethodCost(0.8, self_seconds=0.8, calls=90_000),
                method("seldom"): MethodCost(0.1, self_seconds=0.1, calls=1_000),
            },
            {
                (method("top"), method("often")): EdgeCost(90_000, 0.4),
                (method("top"), method("seldom")): EdgeCost(1_000, 0.1),
                (method("main"), method("top")): EdgeCost(10, 0.6),
            },
        )
    )
    assert known.share(method("top")) == pytest.approx(0.6) and known.share(method("main")) == 0.0
    assert known.within([method("top")]) == pytest.approx(1.0)
    assert known.within([method("often")]) == pytest.approx(0.8) and known.within([]) == 0.0
    some = [Candidate(method(name), 0.1) for name in ("often", "seldom", "top")]
    assert chosen(some, known) == ["often", "seldom"]
    assert chosen(some[1:], known) == ["seldom", "top"]


def test_callers_that_are_called_far_more_often_are_not_watched() -> None:
    known = graph({"often": CALLERS_CALLS + 1_100, "seldom": 10, "f": 100}, ("often", "f"), ("seldom", "f"))
    assert with_callers(Candidate(method("f"), 0.1, callers=True), known) == [method("f"), method("seldom")]


def test_there_is_a_limit_of_what_is_watched_at_once() -> None:
    names = [f"f{i}" for i in range(AT_ONCE + 5)]
    known = graph(dict.fromkeys(names, 10))
    assert len(chosen([Candidate(method(name), 0.1) for name in names], known)) == AT_ONCE


def test_a_tool_that_times_only_some_calls_costs_less() -> None:
    every, some = PRICE, Price(0.1, 1.0, 1e-6, sampled=True)
    assert some.of(TIMED) == pytest.approx(every.of(TIMED))
    assert some.of(1_000_000) < 0.2 * every.of(1_000_000)
    assert every.rests(1_000_000) == 9 and every.rests(100_000) == 0


def test_time_within_calls_follows_the_share_of_each_caller_and_ends_in_recursions() -> None:
    shares = {"main": 0.1, "top": 0.1, "side": 0.2, "read": 0.6}
    calls = [("main", "top", 0.4), ("main", "side", 0.5), ("top", "read", 0.3), ("side", "read", 0.3)]
    recursion = [("read", "again", 0.2), ("again", "read", 0.0)]
    known = CallGraph(
        Profile(
            TOOL,
            "ok",
            1.0,
            {method(name): MethodCost(share, calls=1) for name, share in shares.items()},
            {(method(a), method(b)): EdgeCost(1, total) for a, b, total in (*calls, *recursion)},
        )
    )
    assert known.within([method("top")]) == pytest.approx(0.1 + 0.6 / 2)
    assert known.within([method("top"), method("side")]) == pytest.approx(0.9)
