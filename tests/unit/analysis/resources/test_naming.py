"""A feature is named when its counts moved the way the time did, and nothing else ever is."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.analysis.resources.naming import MOST_NAMES, Named, named
from bot.model.resources import FEATURE_OF, Count, Feature

COSTS: Mapping[Count, float] = {
    "instructions": 1e-10,
    "branch_misses": 5e-9,
    "first_misses": 12e-9,
    "last_misses": 10e-9,
    "page_faults": 500e-9,
    "filesystem_calls": 3e-6,
    "memory_calls": 1e-6,
}
BASE: dict[Count, float] = {
    "instructions": 1e9,
    "branch_misses": 2e6,
    "first_misses": 1e6,
    "last_misses": 1e5,
    "page_faults": 1204,
    "filesystem_calls": 900,
    "memory_calls": 80,
}
any_counts = st.dictionaries(st.sampled_from(sorted(FEATURE_OF)), st.floats(0, 1e12), max_size=13)


def found(head: Mapping[Count, float], *, change: float = 0.005) -> Named:
    return named([BASE, BASE], [BASE | dict(head)], costs=COSTS, change=change)


def features(of: Named) -> list[Feature]:
    return [one.feature for one in of.features]


def test_the_feature_whose_counts_grew_is_named_with_its_cost() -> None:
    told = found({"page_faults": 9870, "instructions": 1.001e9})
    (one,) = told.features
    assert (one.feature, one.share, one.score) == ("vm", 1.0, 1.0)
    assert one.seconds == pytest.approx(8666 * 500e-9)
    assert [count.count for count in one.counts] == ["page_faults"]
    assert told.explained == pytest.approx(one.seconds / 0.005)


def test_a_speed_up_is_named_likewise() -> None:
    told = found({"filesystem_calls": 100}, change=-0.002)
    assert features(told) == ["filesystem"] and told.features[0].seconds < 0


def test_what_moved_against_the_time_is_told_and_not_named() -> None:
    told = found({"filesystem_calls": 100})
    assert not told.features and told.explained == pytest.approx(800 * 3e-6 / -0.005)
    assert next(one for one in told.counts if one.count == "filesystem_calls").moved


def test_a_slow_down_without_counts_is_not_explained() -> None:
    assert found({}, change=0.1).explained == 0.0
    assert found({"page_faults": 9870}, change=0.1).explained == pytest.approx(0.0433, abs=1e-3)


def test_a_count_that_moved_without_a_time_effect_is_still_named_and_nothing_is_left_unexplained() -> None:
    told = found({"page_faults": 9870}, change=0.0)
    assert features(told) == ["vm"] and told.explained is None


def test_an_access_of_memory_counts_to_memory_alone() -> None:
    told = found({"first_misses": 1.1e6, "last_misses": 2e5})
    assert features(told) == ["memory"]
    assert told.features[0].seconds == pytest.approx(1e5 * 22e-9)
    assert features(found({"first_misses": 1.1e6})) == ["cache"]


def test_a_feature_that_costs_next_to_nothing_of_the_change_is_not_named_for_want_of_others() -> None:
    told = found({"instructions": 1.01e9}, change=0.05)
    assert not told.features and told.explained == pytest.approx(0.02)


def test_a_small_relative_growth_of_a_dear_feature_ranks_behind_a_large_one_of_a_cheap_one() -> None:
    told = found({"instructions": 1.02e9, "filesystem_calls": 1400})
    assert features(told) == ["filesystem", "cpu"]


def test_two_counts_of_one_feature_are_one_name() -> None:
    told = found({"page_faults": 9870, "memory_calls": 3000})
    assert [[one.count for one in f.counts] for f in told.features] == [["page_faults", "memory_calls"]]


@pytest.mark.parametrize(
    ("count", "head"), [("page_faults", 1250), ("instructions", 1.004e9), ("memory_calls", 129)]
)
def test_a_change_below_the_gates_is_not_worth_a_name(count: Count, head: float) -> None:
    assert not found({count: head}).features


def test_one_run_of_base_names_nothing() -> None:
    assert not named([BASE], [BASE | {"page_faults": 9870}], costs=COSTS, change=0.005).features


def test_the_spread_of_base_is_a_guard() -> None:
    noisy = [BASE | {"page_faults": 1204.0}, BASE | {"page_faults": 2900.0}]
    assert not named(noisy, [BASE | {"page_faults": 9870}], costs=COSTS, change=0.005).features


def test_two_runs_of_a_noisy_count_that_agree_by_chance_are_not_trusted_where_more_differ() -> None:
    runs = [BASE | {"page_faults": n} for n in (5000.0, 6000.0, 5200.0, 5900.0)]
    assert not named(runs, [BASE | {"page_faults": 6500}], costs=COSTS, change=0.005).features
    assert named(runs, [BASE | {"page_faults": 1e5}] * 4, costs=COSTS, change=0.005).features


def test_runs_of_both_sides_that_agree_by_chance_are_not_trusted_either() -> None:
    def runs(*counts: float) -> list[dict[Count, float]]:
        return [BASE | {"page_faults": n} for n in counts]

    base = runs(7697.0, 7699.0)
    assert not named(base, runs(7756.0, 7758.0), costs=COSTS, change=0.005).features
    assert named(base, runs(9646.0, 9648.0), costs=COSTS, change=0.005).features


def test_growth_is_told_without_the_start_of_an_interpreter_and_counts_as_they_are() -> None:
    head: dict[Count, float] = BASE | {"page_faults": 3604, "instructions": 1.012e9}
    plain = named([BASE] * 2, [head], costs=COSTS, change=0.002)
    told = named(
        [BASE] * 2, [head], costs=COSTS, change=0.002, start_up={"instructions": 0.999e9, "waits": 9}
    )
    assert (features(plain), features(told)) == (["vm", "cpu"], ["cpu", "vm"])
    assert told.counts == plain.counts


def test_few_runs_of_a_noisy_count_leave_a_doubt_that_more_runs_settle() -> None:
    noisy = [BASE | {"page_faults": 1204.0}, BASE | {"page_faults": 1300.0}]
    told = named(noisy, [BASE | {"page_faults": 3000}], costs=COSTS, change=0.001)
    assert not told.features and [one.count for one in told.counts if one.doubtful] == ["page_faults"]
    settled = named(noisy * 2, [BASE | {"page_faults": 3000}] * 4, costs=COSTS, change=0.001)
    assert features(settled) == ["vm"] and not any(one.doubtful for one in settled.counts)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1.0, 1e300])
def test_values_that_are_no_counts_are_left_out(bad: float) -> None:
    hostile: dict[Count, float] = {"page_faults": bad}
    for base in ([hostile, BASE, BASE], [BASE, BASE]):
        told = named(base, [hostile], costs=COSTS, change=0.005)
        assert not told.features and "page_faults" not in {one.count for one in told.counts}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0, 0.0])
def test_a_count_whose_events_have_no_cost_is_told_and_not_named(bad: float) -> None:
    told = named([BASE] * 2, [BASE | {"page_faults": 9870}], costs={"page_faults": bad}, change=1.0)
    assert not told.features and any(one.head == 9870 for one in told.counts)


@given(any_counts, any_counts)
def test_equal_counts_name_nothing(counts: dict[Count, float], more: dict[Count, float]) -> None:
    assert not named([counts] * 3, [counts, counts], costs=COSTS, change=1.0).features
    assert len(named([counts] * 2, [more], costs=COSTS, change=0.0).features) <= MOST_NAMES


@given(any_counts, any_counts, st.floats(1e-3, 1e3), st.sampled_from([-1.0, 0.0, 1.0]))
def test_names_do_not_depend_on_the_speed_of_the_machine(
    base: dict[Count, float], head: dict[Count, float], speed: float, change: float
) -> None:
    slow = {count: cost * speed for count, cost in COSTS.items()}
    one = named([base] * 2, [head], costs=COSTS, change=change)
    other = named([base] * 2, [head], costs=slow, change=change * speed)
    assert {f.feature: round(f.score, 6) for f in one.features} == {
        f.feature: round(f.score, 6) for f in other.features
    } or any(abs(f.share - 0.15) < 1e-9 for f in (*one.features, *other.features))


@given(any_counts, any_counts, st.sampled_from([-1.0, 1.0]))
def test_a_name_always_moved_the_way_the_time_did(
    base: dict[Count, float], head: dict[Count, float], change: float
) -> None:
    for one in named([base] * 2, [head], costs=COSTS, change=change).features:
        assert one.seconds * change > 0 and 0.15 <= one.share <= 1 + 1e-9 and 0 <= one.score <= 1 + 1e-9
