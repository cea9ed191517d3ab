"""Anonymous code counts to its nearest named callers."""

from __future__ import annotations

import pytest

from bot.adapters.profilers.python.folding import Costs, Link, Row
from bot.model.profiles import EdgeCost, Method, MethodCost

A, B, C = Method("m:a"), Method("m:b"), Method("m:c")


def folded(rows: list[Row], links: list[Link]) -> Costs:
    costs = Costs()
    costs.add(rows, links)
    return costs


def test_a_lambdas_time_and_calls_go_to_its_caller() -> None:
    rows = [Row(A, 1, 6.0, 1.0), Row(None, 5, 5.0, 3.0), Row(C, 5, 2.0, 2.0)]
    costs = folded(rows, [Link(0, 1, 5, 5.0, 3.0), Link(1, 2, 5, 2.0, 2.0)])
    assert costs.methods() == {
        A: MethodCost(4 / 6, 4.0, 6.0, calls=1),
        C: MethodCost(2 / 6, 2.0, 2.0, calls=5),
    }
    assert costs.edges() == {(A, C): EdgeCost(5, 2.0)}


def test_two_callers_share_by_time_and_the_calls_of_each_are_not_known() -> None:
    rows = [Row(A, 1, 3.0, 0.0), Row(B, 1, 1.0, 0.0), Row(None, 4, 4.0, 0.0), Row(C, 8, 4.0, 4.0)]
    links = [Link(0, 2, 2, 3.0, 0.0), Link(1, 2, 2, 1.0, 0.0), Link(2, 3, 8, 4.0, 4.0)]
    edges = folded(rows, links).edges()
    assert edges == {(A, C): EdgeCost(None, 3.0), (B, C): EdgeCost(None, 1.0)}


def test_lambdas_in_lambdas_lead_to_the_named_one() -> None:
    rows = [Row(A, 1, 3.0, 0.0), Row(None, 1, 3.0, 1.0), Row(None, 1, 2.0, 2.0)]
    costs = folded(rows, [Link(0, 1, 1, 3.0, 1.0), Link(1, 2, 1, 2.0, 2.0)])
    assert costs.methods()[A].self_seconds == 3.0


def test_lambdas_that_call_each_other_in_a_circle_end() -> None:
    rows = [Row(A, 1, 3.0, 0.0), Row(None, 9, 3.0, 1.0), Row(None, 9, 3.0, 1.0)]
    links = [
        Link(0, 1, 1, 3.0, 1.0),
        Link(1, 2, 9, 2.0, 1.0),
        Link(2, 1, 8, 1.0, 0.5),
        Link(1, 1, 1, 0.1, 0.1),
    ]
    costs = folded(rows, links)
    assert costs.methods()[A].self_seconds == pytest.approx(2.6)


def test_a_long_chain_is_no_matter_of_the_stack() -> None:
    rows = [Row(A, 1, 1.0, 0.0), *(Row(None, 1, 1.0, 0.0) for _ in range(20_000)), Row(C, 1, 1.0, 1.0)]
    links = [Link(i, i + 1, 1, 1.0, 0.0) for i in range(20_001)]
    assert folded(rows, links[::-1]).edges() == {(A, C): EdgeCost(1, 1.0)}


def test_what_nobody_called_is_nobodys() -> None:
    costs = folded([Row(None, 1, 5.0, 5.0), Row(C, 1, 1.0, 1.0)], [Link(0, 1, 1, 1.0, 1.0)])
    assert costs.methods() == {C: MethodCost(1.0, 1.0, 1.0, calls=1)}
    assert costs.edges() == {}


def test_processes_and_redefinitions_add_up() -> None:
    costs = Costs()
    for _ in range(2):
        costs.add([Row(A, 1, 1.0, 0.5), Row(A, 2, 1.0, 0.5)], [Link(0, 1, 2, 1.0, 0.5)])
    assert costs.methods()[A] == MethodCost(1.0, 2.0, 4.0, calls=6)
    assert costs.edges()[A, A] == EdgeCost(4, 2.0)
