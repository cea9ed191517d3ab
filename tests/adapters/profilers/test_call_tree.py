"""Own and total costs of methods in a tree of calling contexts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.profilers.call_tree import CallTree, TreeCosts, tree_costs
from bot.model.profiles import Method

A, B, C = Method("a"), Method("b"), Method("c")


def grown(*nodes: tuple[int, Method | None, float]) -> TreeCosts:
    tree = CallTree()
    for node in nodes:
        tree.add(*node)
    return tree_costs(tree)


def test_a_method_costs_what_it_did_itself_and_in_all_what_lies_below_it() -> None:
    costs = grown((-1, A, 1.0), (0, B, 2.0), (1, C, 4.0), (0, C, 8.0))
    assert costs.own == {A: 1.0, B: 2.0, C: 12.0}
    assert costs.total == {A: 15.0, B: 6.0, C: 12.0}
    assert costs.edges == {(A, B): 6.0, (B, C): 4.0, (A, C): 8.0}


def test_what_has_no_name_counts_to_the_nearest_caller_that_has_one() -> None:
    costs = grown((-1, None, 1.0), (0, A, 2.0), (1, None, 4.0), (2, B, 8.0), (3, None, 16.0))
    assert costs.own == {A: 6.0, B: 24.0}
    assert costs.edges == {(A, B): 24.0}


def test_a_recursion_counts_once() -> None:
    costs = grown((-1, A, 1.0), (0, B, 1.0), (1, A, 1.0), (2, B, 1.0), (3, B, 1.0))
    assert costs.total == {A: 5.0, B: 4.0}
    assert costs.edges == {(A, B): 4.0, (B, A): 3.0}


def test_methods_that_were_only_counted_cost_no_time() -> None:
    costs = grown((-1, A, 3.0), (-1, None, 1.0)).methods(seen=4.0, calls={A: 2, B: 5})
    assert (costs[A].self_share, costs[A].calls) == (0.75, 2)
    assert (costs[B].self_share, costs[B].self_seconds, costs[B].calls) == (0.0, 0.0, 5)


def test_samples_tell_what_ran_apart_from_what_it_costs() -> None:
    tree = CallTree()
    tree.add(-1, A, 1.0, samples=3)
    tree.add(0, B, 9.0, samples=1)
    found = tree_costs(tree).methods(seen=10.0)
    assert [(found[m].self_share, found[m].running_share) for m in (A, B)] == [(0.1, 0.75), (0.9, 0.25)]
    assert grown((-1, A, 1.0)).methods(seen=1.0)[A].running_share is None


def test_nothing_seen_is_no_share() -> None:
    assert grown((-1, A, 0.0)).methods(seen=0.0)[A].self_share == 0.0


@given(
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from([A, B, C, None]), st.floats(0, 10)), max_size=40)
)
def test_own_costs_sum_up_and_no_total_exceeds_the_whole(
    rows: list[tuple[int, Method | None, float]],
) -> None:
    tree = CallTree()
    for place, (parent, method, own) in enumerate(rows):
        tree.add(min(parent, place) - 1, method, own)
    costs = tree_costs(tree)
    whole = sum(tree.own)
    assert sum(costs.own.values()) <= whole + 1e-6
    assert all(costs.own.get(m, 0.0) - 1e-6 <= total <= whole + 1e-6 for m, total in costs.total.items())
    assert all(total <= costs.total[callee] + 1e-6 for (_, callee), total in costs.edges.items())


def test_a_deep_tree_is_no_recursion_of_ours() -> None:
    tree = CallTree()
    for place in range(100_000):
        tree.add(place - 1, (A, B)[place % 2], 1.0)
    assert tree_costs(tree).total[A] == pytest.approx(100_000)
