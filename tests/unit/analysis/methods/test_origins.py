"""A change that comes from a new or rewritten method is told of it, though its callees do the work."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.analysis.methods.blame import Blame, Compared, blame
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile, Tool

TOOL = Tool("a tool", "1", "coarse", frozenset({"seconds", "calls", "edges"}))
SAMPLES = 20_000
Edges = Mapping[tuple[str, str], float]


def profile(own: Mapping[str, float], total: Mapping[str, float], edges: Edges, *, seed: int = 0) -> Profile:
    """A trial of one second, a bit different each time."""
    seconds = {
        name: cost * (1 + 0.002 * ((seed + place) % 3 - 1)) for place, (name, cost) in enumerate(own.items())
    }
    everything = sum(seconds.values())
    return Profile(
        TOOL,
        "ok",
        everything,
        {
            Method(name, "a.py", 1): MethodCost(
                seconds[name] / everything, self_seconds=seconds[name], total_seconds=total[name], calls=1
            )
            for name in own
        },
        {(Method(a, "a.py"), Method(b, "a.py")): EdgeCost(1, cost) for (a, b), cost in edges.items()},
        samples=SAMPLES,
    )


def told(texts: Mapping[str, str], *, known: Mapping[str, str] | None = None) -> Blame:
    """`hoist` is new at head and makes `visit` and `test`, which others call too, 0.2 s dearer together."""
    own = {"main": 0.1, "mark": 0.1, "visit": 0.4, "test": 0.4}
    edges = {("main", "mark"): 0.9, ("mark", "visit"): 0.8, ("visit", "test"): 0.4, ("visit", "mark"): 0.1}
    total = {"main": 1.0, "mark": 0.9, "visit": 0.8, "test": 0.4}
    base = [profile(own, total, edges, seed=seed) for seed in range(3)]
    after = {**own, "hoist": 0.0, "visit": 0.5, "test": 0.5}
    edges = {
        **edges,
        ("main", "mark"): 1.1,
        ("mark", "hoist"): 0.2,
        ("hoist", "visit"): 0.2,
        ("visit", "test"): 0.5,
    }
    total = {"main": 1.2, "mark": 1.1, "visit": 1.0, "test": 0.5, "hoist": 0.2}
    head = [profile(after, total, edges, seed=seed) for seed in range(3)]
    bodies = (
        {Method(name, "a.py"): text for name, text in (known or {"mark": "a", "visit": "v"}).items()},
        {Method(name, "a.py"): text for name, text in texts.items()},
    )
    return blame(Compared(base, head, (1.0, 1.2), (1.19, 1.21), bodies))


def test_a_new_method_is_the_origin_of_what_its_callees_cost_more() -> None:
    found = told({"mark": "a, hoist", "visit": "v", "hoist": "h"})
    first = found.changes[0]
    assert (first.method.name, first.change, first.with_callees) == ("hoist", "new", True)
    assert first.share == pytest.approx(1.0, abs=0.1)
    assert sum(c.share for c in found.changes) + (found.unexplained or 0.0) == pytest.approx(1.0)


def test_without_the_texts_nothing_is_called_an_origin() -> None:
    assert not any(change.with_callees for change in told({}, known={}).changes)


def test_the_callers_of_an_origin_are_not_named_though_they_were_rewritten() -> None:
    names = [c.method.name for c in told({"mark": "a, hoist", "visit": "v", "hoist": "h"}).changes]
    assert "mark" not in names and "main" not in names


def test_a_method_whose_own_cost_moved_stays_what_is_named() -> None:
    own, total = {"main": 0.5, "leaf": 0.5}, {"main": 1.0, "leaf": 0.5}
    edges = {("main", "leaf"): 0.5}
    base = [profile(own, total, edges, seed=seed) for seed in range(3)]
    own, total = {"main": 0.5, "leaf": 0.7}, {"main": 1.2, "leaf": 0.7}
    head = [profile(own, total, {("main", "leaf"): 0.7}, seed=seed) for seed in range(3)]
    bodies = {Method("leaf", "a.py"): "x"}, {Method("leaf", "a.py"): "y"}
    (change,) = blame(Compared(base, head, (1.0, 1.2), (1.19, 1.21), bodies)).changes
    assert (change.method.name, change.with_callees) == ("leaf", False)


def test_of_nested_new_methods_one_is_told_and_no_share_twice() -> None:
    own = {"main": 0.2, "leaf": 0.8}
    base = [profile(own, {"main": 1.0, "leaf": 0.8}, {("main", "leaf"): 0.8}, seed=seed) for seed in range(3)]
    own = {"main": 0.2, "outer": 0.01, "inner": 0.01, "leaf": 1.0}
    total = {"main": 1.22, "outer": 0.22, "inner": 0.21, "leaf": 1.0}
    edges = {("main", "leaf"): 0.8, ("main", "outer"): 0.22, ("outer", "inner"): 0.21, ("inner", "leaf"): 0.2}
    head = [profile(own, total, edges, seed=seed) for seed in range(3)]
    texts = {Method("outer", "a.py"): "o", Method("inner", "a.py"): "i"}
    found = blame(Compared(base, head, (1.0, 1.22), (1.21, 1.23), ({}, texts)))
    (origin,) = [change for change in found.changes if change.with_callees]
    assert origin.method.name in {"outer", "inner"} and 0.8 <= origin.share <= 1.0
    assert found.unexplained is not None and found.unexplained > -0.1
