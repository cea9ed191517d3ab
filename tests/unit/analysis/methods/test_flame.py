"""Differential flame graphs: what is conserved, what is shared out, what is cut and what is left out."""

from itertools import pairwise, product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from bot.analysis.methods.flame import LEAST, MOST_DEPTH, MOST_NODES, flame
from bot.analysis.methods.identity import Pairing, pair
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile, Tool
from bot.model.report_methods import FlameNode

TOOL = Tool("callgrind", "3.19", "coarse", frozenset({"instructions", "edges"}))
Own = dict[str, float]
Edges = dict[tuple[str, str], float]


def profile(own: Own, edges: Edges) -> Profile:
    """A profile of methods named by letters."""
    return Profile(
        TOOL,
        "ok",
        1.0,
        methods={Method(n): MethodCost(self_share=s) for n, s in own.items()},
        edges={(Method(a), Method(b)): EdgeCost(None, t) for (a, b), t in edges.items()},
    )


def drawn(base: Profile, head: Profile, seconds: tuple[float, float] = (1.0, 1.0)) -> tuple[FlameNode, ...]:
    return flame(base, head, pair(base.methods, head.methods), seconds)


def paths(nodes: tuple[FlameNode, ...]) -> dict[str, tuple[float, float]]:
    """Call path -> seconds at base and head, rounded."""
    names: list[str] = []
    for node in nodes:
        names.append(f"{names[node.parent]}>{node.method}" if node.parent >= 0 else node.method)
    return {name: (round(n.base, 6), round(n.head, 6)) for name, n in zip(names, nodes, strict=True)}


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Any calls between a few methods, cycles and calls of nothing included."""
    names = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True))
    parts = [draw(st.integers(0, 20)) for _ in names]
    whole = max(sum(parts), 1)
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names))
    edges = draw(st.dictionaries(pairs, st.integers(0, 30).map(float), max_size=20))
    return profile({n: p / whole for n, p in zip(names, parts, strict=True)}, edges)


@given(profiles(), profiles())
def test_children_cost_together_at_most_what_their_parent_does(base: Profile, head: Profile) -> None:
    nodes = drawn(base, head, (2.0, 3.0))
    inside = np.zeros((len(nodes), 2))
    for i, node in enumerate(nodes):
        assert node.parent < i
        if node.parent >= 0:
            inside[node.parent] += (node.base, node.head)
    for node, (b, h) in zip(nodes, inside, strict=True):
        assert b <= node.base + 1e-9 and h <= node.head + 1e-9


@given(profiles(), profiles())
def test_roots_cost_together_what_all_methods_cost(base: Profile, head: Profile) -> None:
    nodes = drawn(base, head, (2.0, 3.0))
    roots = [n for n in nodes if n.parent < 0]
    left_out = 8 * LEAST  # no more methods than that
    for side, seconds, one in (("base", 2.0, base), ("head", 3.0, head)):
        whole = seconds * sum(c.self_share for c in one.methods.values())
        assert whole - left_out * seconds - 1e-9 <= sum(getattr(n, side) for n in roots) <= whole + 1e-9


@given(profiles())
def test_equal_profiles_show_no_difference(one: Profile) -> None:
    assert all(n.base == n.head for n in drawn(one, one))


@given(profiles(), profiles())
def test_no_method_is_twice_on_a_path_and_each_path_is_there_once(base: Profile, head: Profile) -> None:
    nodes = drawn(base, head)
    named = paths(nodes)
    assert len(named) == len(nodes)
    assert all(len(set(p.split(">"))) == len(p.split(">")) for p in named)


def test_a_methods_cost_is_shared_out_to_its_callers_as_their_calls_cost() -> None:
    base = profile(
        {"main": 0.1, "a": 0.2, "b": 0.1, "c": 0.6},
        {("main", "a"): 65, ("main", "b"): 25, ("a", "c"): 45, ("b", "c"): 15},
    )
    head = profile(
        {"main": 0.1, "a": 0.1, "b": 0.1, "c": 0.7},
        {("main", "a"): 25, ("main", "b"): 65, ("a", "c"): 10, ("b", "c"): 60},
    )
    assert paths(drawn(base, head, (10.0, 20.0))) == {
        "main": (10.0, 20.0),
        "main>a": (6.5, 4.0),
        "main>b": (2.5, 14.0),
        "main>a>c": (4.5, 2.0),
        "main>b>c": (1.5, 12.0),
    }


def test_a_cycle_is_cut_where_it_comes_back_to_its_strongest_entry() -> None:
    calls = {
        ("main", "walk"): 90.0,
        ("walk", "visit"): 120.0,
        ("visit", "walk"): 70.0,
        ("main", "visit"): 2.0,
    }
    one = profile({"main": 0.1, "walk": 0.5, "visit": 0.4}, calls)
    found = paths(drawn(one, one))
    assert found["main>walk"] == (0.893443, 0.893443)
    assert found["main>walk>visit"] == (0.393443, 0.393443)
    assert not any(p.endswith("visit>walk") for p in found)


def test_a_cycle_that_nobody_enters_begins_where_most_is_given_away() -> None:
    one = profile({"main": 0.2, "again": 0.8}, {("main", "again"): 90.0, ("again", "main"): 5.0})
    assert paths(drawn(one, one)) == {"main": (1.0, 1.0), "main>again": (0.8, 0.8)}


def test_a_cycle_is_cut_at_the_same_call_in_both_builds() -> None:
    own = {"main": 0.2, "f": 0.4, "g": 0.4}
    base = profile(own, {("main", "f"): 9.0, ("main", "g"): 1.0, ("f", "g"): 5.0, ("g", "f"): 4.0})
    head = profile(own, {("main", "f"): 4.9, ("main", "g"): 5.0, ("f", "g"): 5.0, ("g", "f"): 4.0})
    assert "main>g>f" not in paths(drawn(base, head))


def test_renamed_methods_are_one_path_and_new_and_vanished_ones_have_nothing_on_one_side() -> None:
    base = profile({"main": 0.5, "old": 0.3, "gone": 0.2}, {("main", "old"): 3.0, ("main", "gone"): 2.0})
    head = profile({"main": 0.5, "now": 0.3, "new": 0.2}, {("main", "now"): 3.0, ("main", "new"): 2.0})
    pairing = Pairing(
        {Method("main"): Method("main"), Method("old"): Method("now")}, (Method("gone"),), (Method("new"),)
    )
    assert paths(flame(base, head, pairing, (1.0, 1.0))) == {
        "main": (1.0, 1.0),
        "main>now": (0.3, 0.3),
        "main>gone": (0.2, 0.0),
        "main>new": (0.0, 0.2),
    }


def test_calls_without_a_cost_share_evenly() -> None:
    one = profile({"a": 0.4, "b": 0.4, "c": 0.2}, {("a", "c"): 0.0, ("b", "c"): 0.0})
    assert paths(drawn(one, one))["a>c"] == (0.1, 0.1)


def test_what_costs_next_to_nothing_is_left_out() -> None:
    one = profile({"main": 0.996, "tiny": 0.004}, {("main", "tiny"): 1.0})
    assert list(paths(drawn(one, one))) == ["main"]
    more = profile({"main": 0.994, "tiny": 0.006}, {("main", "tiny"): 1.0})
    assert list(paths(drawn(one, more))) == ["main", "main>tiny"]


def test_depth_and_number_are_bounded() -> None:
    names = [f"m{i:03}" for i in range(100)]
    chain = profile(dict.fromkeys(names, 0.01), dict.fromkeys(pairwise(names), 1.0))
    assert len(drawn(chain, chain)) == MOST_DEPTH
    layers = [[f"{layer}{i}" for i in range(10)] for layer in "abcd"]
    calls = {edge for one, other in pairwise(layers) for edge in product(one, other)}
    wide = profile(dict.fromkeys(layers[-1], 0.1), dict.fromkeys(calls, 1.0))
    assert len(drawn(wide, wide)) == 110  # from the third layer on a path costs a thousandth
    deep = [(f"d{i}", f"e{i}") for i in range(10)] + [(f"e{i}", f"f{i}") for i in range(10)]
    wide = profile(
        dict.fromkeys([f"f{i}" for i in range(10)], 0.1),
        dict.fromkeys(
            [*product(layers[0], layers[1]), *zip(layers[1], [d for d, _ in deep], strict=False), *deep], 1.0
        ),
    )
    assert len(drawn(wide, wide)) == MOST_NODES


@pytest.mark.parametrize("own", [{}, {"main": 0.0}, {"main": -1.0}])
def test_nothing_seen_is_nothing_drawn(own: Own) -> None:
    assert drawn(profile(own, {}), profile(own, {})) == ()
    assert drawn(profile(own, {}), profile({"main": 1.0}, {}))[0].base == 0.0


def test_of_ten_thousand_methods_only_the_costly_ones_are_drawn() -> None:
    rng = np.random.default_rng(3)
    names = [f"m{i}" for i in range(10_000)]
    own = dict.fromkeys(names, 1e-5) | {"main": 0.5, "hot": 0.4}
    edges = {(names[a], names[b]): 1e-3 for a, b in rng.integers(0, len(names), (30_000, 2)).tolist()}
    edges |= {("main", name): 1.0 for name in names[:5_000]} | {("main", "hot"): 9.0, ("hot", "m7"): 1.0}
    one = profile(own, edges)
    found = paths(drawn(one, one))
    assert {"main", "main>hot"} <= set(found) and len(found) < 10
