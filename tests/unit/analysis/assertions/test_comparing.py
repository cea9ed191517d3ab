"""Models are alike as far as they put the same paths together, and merge by what was observed."""

from __future__ import annotations

import pytest
from sklearn.metrics import adjusted_rand_score

from bot.analysis.assertions.comparing import aligned, merged, retold
from bot.model.assertions import PathModel
from tests.unit.analysis.assertions.models import grouped, path


def sets(model: PathModel) -> set[frozenset[str]]:
    return {frozenset(">".join(p) for p in group.paths) for group in model.groups}


def test_the_same_groups_in_another_order_are_the_same() -> None:
    found = aligned(grouped({"a>f": 5, "b>f": 5}, {"c>f": 1}), grouped({"c>f": 9}, {"b>f": 2, "a>f": 2}))
    assert (found.paths, found.calls, found.agreement, found.known) == (1.0, 1.0, 1.0, 3)


def test_a_path_that_moved_is_counted_by_its_calls() -> None:
    one = grouped({"a>f": 40, "b>f": 40}, {"c>f": 10, "d>f": 10})
    other = grouped({"a>f": 40, "b>f": 40, "c>f": 10}, {"d>f": 10})
    found = aligned(one, other)
    assert found.paths == pytest.approx(0.75)
    assert found.calls == pytest.approx(0.9)


def test_paths_that_one_does_not_know_do_not_count() -> None:
    assert aligned(grouped({"a>f": 5}, {"b>f": 5}), grouped({"a>f": 5}, {"x>f": 5})).known == 1
    assert aligned(grouped({"a>f": 5}), grouped({"b>f": 5})).calls == 1.0


def test_two_that_split_what_is_together_align_the_larger_part() -> None:
    found = aligned(grouped({"a>f": 30, "b>f": 10}), grouped({"a>f": 30}, {"b>f": 10}))
    assert found.calls == pytest.approx(0.75)
    assert found.agreement == 0.0


def test_agreement_is_the_adjusted_rand_index_of_calls() -> None:
    one = grouped({"a>f": 3, "b>f": 4}, {"c>f": 5})
    other = grouped({"a>f": 3}, {"b>f": 4, "c>f": 5})
    calls = {"a": 6, "b": 8, "c": 10}
    mine = [{"a": 0, "b": 0, "c": 1}[k] for k, n in calls.items() for _ in range(n)]
    theirs = [{"a": 0, "b": 1, "c": 1}[k] for k, n in calls.items() for _ in range(n)]
    assert aligned(one, other).agreement == pytest.approx(adjusted_rand_score(mine, theirs))


def test_merging_keeps_what_both_say_and_adds_up_calls() -> None:
    found = merged(grouped({"a>f": 5}, {"b>f": 6}), grouped({"b>f": 1, "x>f": 2}, {"a>f": 3}))
    assert sets(found) == {frozenset({"a>f"}), frozenset({"b>f", "x>f"})}
    assert sum(group.calls for group in found.groups) == 17


def test_a_path_in_conflict_goes_with_the_model_that_saw_more_of_it() -> None:
    one = grouped({"a>f": 50, "b>f": 5}, {"c>f": 50})
    other = grouped({"a>f": 10}, {"c>f": 10, "b>f": 30})
    assert sets(merged(one, other)) == {frozenset({"a>f"}), frozenset({"b>f", "c>f"})}
    assert merged(one, other) == merged(other, one)


def test_shares_are_weighted_by_calls() -> None:
    one = grouped({"a>f": 30}, vectors=[(1.0, 0.0)])
    other = grouped({"a>f": 10}, vectors=[(0.6, 0.4)])
    (group,) = merged(one, other).groups
    assert group.vector == pytest.approx((0.9, 0.1))
    assert group.paths == {path("a>f"): 40}


def test_shares_are_told_in_the_clusters_of_another_model() -> None:
    assert retold((0.5, 0.5), (0.5,), (0.5,)) == pytest.approx([0.5, 0.5])
    assert retold((0.8, 0.2), (0.5,), (0.25, 0.5)) == pytest.approx([0.4, 0.4, 0.2])
    assert retold((1.0,), (), (0.3,)) == pytest.approx([0.3, 0.7])


def test_merging_with_a_model_of_nothing_changes_nothing() -> None:
    some, nothing = grouped({"a>f": 5}, {"b>f": 6}), PathModel("f", None, (), (), ())
    assert sets(merged(some, nothing)) == sets(merged(nothing, some)) == sets(some)
    assert aligned(some, nothing).known == 0
