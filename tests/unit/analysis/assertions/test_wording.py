"""Conditions hold for their group's paths and for no others, are short, and do not change for nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings

from bot.analysis.assertions.separating import separate
from bot.analysis.assertions.wording import asserted
from bot.model.assertions import Assertion, PathModel
from tests.unit.analysis.assertions.models import grouped, models


def texts(model: PathModel) -> list[str]:
    found = asserted(model, mined="abc", trials=3)
    assert found is not None
    return [group.when.text for group in found.groups]


@given(models())
@settings(max_examples=200, deadline=None)
def test_a_condition_holds_for_the_paths_of_its_group_and_for_no_others(model: PathModel) -> None:
    found = asserted(model, mined="abc", trials=3)
    assert found is not None
    assert set(found.atoms) <= set(separate(model).edges)
    vectors = [(group.expected, group.calls) for group in found.groups]
    for group in model.groups:
        for path in group.paths:
            (holding,) = [g for g in found.groups if g.when.holds(path)]
            assert vectors.count((holding.expected, holding.calls)) == 1
            assert (holding.expected, holding.calls) == (group.vector, group.calls)


def test_the_paper_s_example_is_one_edge_and_its_absence() -> None:
    assert texts(grouped({"a>b>c>z": 10}, {"a>b>z": 10, "a>c>z": 10})) == ["not e1", "e1"]


def test_three_behaviours_are_two_edges_and_neither() -> None:
    model = grouped({"m>acquire>f": 5, "m>run>acquire>f": 5}, {"m>start>f": 5}, {"m>release>f": 5})
    assert sorted(texts(model)) == ["e1", "e2", "not e1 and not e2"]


def test_what_was_never_seen_may_be_either() -> None:
    model = grouped({"m>a>f": 5}, {"m>b>f": 5}, {"m>c>f": 5})
    assert sorted(texts(model)) == ["e1", "e2", "not e1 and not e2"]


def test_a_shorter_way_round_is_taken() -> None:
    model = grouped(
        {"m>a>c>f": 5, "m>a>d>f": 5, "m>b>c>f": 5, "m>b>d>f": 5}, {"m>e>c>f": 5, "m>a>g>f": 5, "m>h>i>f": 5}
    )
    both = texts(model)
    assert all(text.count("e") <= 6 for text in both)


def test_one_group_of_several_clusters_is_asserted_always() -> None:
    found = asserted(grouped({"m>a>f": 5, "m>b>f": 6}), mined="abc", trials=3)
    assert found == Assertion("f", None, (0.5,), found.groups if found else (), "abc", 3)
    assert [(g.when.text, g.calls) for g in found.groups] == [("always", 11)]


def test_nothing_is_asserted_of_one_cluster_or_of_no_calls() -> None:
    one_cluster = replace(grouped({"m>a>f": 5}, vectors=[(1.0,)]), places=(), borders=())
    assert asserted(one_cluster, mined="abc", trials=3) is None
    assert asserted(PathModel("f", None, (0.5,), (1.0,), ()), mined="abc", trials=3) is None


def test_nothing_is_asserted_of_groups_that_cannot_be_told_apart() -> None:
    assert asserted(grouped({"m>a>m>a>f": 10}, {"m>a>m>a>m>a>f": 10}), mined="abc", trials=3) is None


def test_the_words_do_not_depend_on_the_order_of_groups_or_on_calls() -> None:
    parts = [{"m>a>f": 5, "m>a>x>f": 7}, {"m>b>f": 5, "m>b>x>f": 2}, {"m>c>f": 9}]
    said = {tuple(texts(grouped(*p))) for p in permutations(parts)}
    assert len(said) == 1
    assert tuple(texts(grouped(*[dict.fromkeys(p, 1000) for p in parts]))) in said


@pytest.mark.parametrize("names", [9, 12])
def test_many_groups_of_single_callers_stay_readable(names: int) -> None:
    model = grouped(*({f"m>n{i:02}>f": 5} for i in range(names)))
    said = texts(model)
    assert len(said) == names
    assert {f"e{i}" for i in range(1, names)} < set(said)
