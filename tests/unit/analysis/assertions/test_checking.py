from __future__ import annotations

from dataclasses import replace
from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bot.analysis.assertions.checked import Checked
from bot.analysis.assertions.checking import check, proposed
from bot.model.assertions import AssertedGroup, Assertion, CallObservation, Condition, NamedPath
from tests.unit.analysis.assertions.checking_calls import (
    EDGES,
    READ,
    SLOW,
    TWO,
    USUAL,
    WRITE,
    Calls,
    trials,
)

ONE_EACH = replace(
    TWO,
    places=(0.6,),
    groups=tuple(
        replace(group, expected=shares)
        for group, shares in zip(TWO.groups, ((1.0, 0.0), (0.0, 1.0)), strict=True)
    ),
)
"""Read is fast, write is slow in each call."""


def checked(
    head: list[CallObservation], base: list[CallObservation] | None = None, *, assertion: Assertion = TWO
) -> Checked:
    return check(assertion, trials(seed=1) if base is None else base, head, false_alarms=0.01)


def one_path(durations: list[float], n: int = 4) -> list[CallObservation]:
    return [CallObservation(i, i + 1, {READ: np.array(durations)}) for i in range(n)]


def test_an_unchanged_method_holds() -> None:
    found = checked(trials(seed=2))
    assert found.outcome == "held"
    assert [g.outcome for g in found.groups] == ["held", "held"]
    assert found.why == ("every group holds",)
    assert found.groups[0].interval[0] < 1.0 < found.groups[0].interval[1]


def test_the_border_lies_between_the_clusters_of_this_machine() -> None:
    twice = trials({p: replace(c, factor=2.0) for p, c in USUAL.items()}, seed=1)
    assert 1.5e-3 < checked(trials(seed=2)).borders[0] < 8e-3
    assert 3e-3 < checked(twice, twice).borders[0] < 16e-3


def test_more_calls_of_one_group_move_no_border() -> None:
    often = {**USUAL, READ: Calls(0.99, calls=2000)}
    found = checked(trials(often, seed=2), trials(often, seed=1))
    assert found.outcome == "held"
    assert 1.5e-3 < found.borders[0] < 8e-3


def test_a_slower_machine_on_both_sides_changes_nothing() -> None:
    found = checked(trials(seed=2, slow=3.0), trials(seed=1, slow=3.0))
    assert found.outcome == "held"


def test_calls_that_moved_to_the_slow_cluster_are_told_from_what_to_what() -> None:
    found = checked(trials({**USUAL, READ: Calls(0.41)}, seed=2))
    assert found.outcome == "violated"
    assert found.slower
    moved, held = found.groups
    assert (moved.outcome, held.outcome) == ("violated", "held")
    assert moved.moved == "slower"
    assert "99 % -> 4" in moved.said
    assert "fast" in moved.said
    assert found.why[0] == f"`e1`: {moved.said}"


def test_a_group_within_the_slowest_cluster_that_gets_slower_is_seen() -> None:
    paths = {READ: Calls(1.0), WRITE: Calls(0.0)}
    assertion = replace(
        TWO,
        places=(0.5,),
        groups=tuple(
            replace(g, expected=e) for g, e in zip(TWO.groups, ((1.0, 0.0), (0.0, 1.0)), strict=True)
        ),
    )
    found = checked(
        trials({**paths, WRITE: Calls(0.0, factor=1.8)}, seed=2), trials(paths, seed=1), assertion=assertion
    )
    assert [g.outcome for g in found.groups] == ["held", "violated"]
    assert found.groups[1].head == pytest.approx((0.0, 1.0))
    assert "takes 1.8x as long" in found.groups[1].said
    assert found.groups[1].ratio == pytest.approx(1.8, rel=0.1)


def test_a_method_that_gets_slower_everywhere_violates_though_no_group_moved_against_the_other() -> None:
    found = checked(trials({p: replace(c, factor=2.0) for p, c in USUAL.items()}, seed=2))
    assert {g.outcome for g in found.groups} == {"violated"}


def test_a_method_that_got_faster_violates_but_not_to_anybodys_harm() -> None:
    found = checked(trials({**USUAL, WRITE: Calls(0.9)}, seed=2))
    assert found.outcome == "violated"
    assert not found.slower
    assert found.groups[1].moved == "faster"


def test_calls_that_are_delayed_into_the_slow_cluster_are_slower_though_they_are_the_shortest_there() -> None:
    head = trials(seed=2)
    for trial in head:
        trial.durations[WRITE][:] += 4e-3 * (trial.durations[WRITE] < 3e-3)
    group = checked(head).groups[1]
    assert (group.outcome, group.moved) == ("violated", "slower")
    assert "% -> 0 % fast" in group.said


def test_fewer_fast_calls_that_take_less_on_average_are_different_and_not_slower() -> None:
    head = trials({**USUAL, WRITE: Calls(0.05)}, seed=2)
    for trial in head:
        trial.durations[WRITE][:] *= 0.4
    assert checked(head).groups[1].moved in ("differently", "faster")


def test_one_disturbed_trial_is_no_violation() -> None:
    head = trials(seed=2)
    head[1] = trials(n=1, seed=3, slow=3.0)[0]
    assert checked(head).outcome != "violated"


def test_a_disturbance_of_the_machine_does_not_hide_a_group_that_moved_against_the_other() -> None:
    head = [
        trials({**USUAL, READ: Calls(0.99, factor=2.0)}, n=1, seed=i, slow=1.0 + 0.3 * i)[0] for i in range(4)
    ]
    found = checked(head)
    assert [g.moved for g in found.groups] == ["slower", None]


def test_calls_that_now_and_then_wait_for_a_core_move_no_group() -> None:
    rng = np.random.default_rng(0)

    def waiting(n: int, fast: float, slow: float) -> CallObservation:
        # Two or three of forty slow calls wait: the longest 5 % count as if they were no further out.
        calls = {READ: np.full(60, fast), WRITE: np.full(40, slow) + 0.1 * (rng.random(40) < 0.06)}
        return CallObservation(n, n + 1, calls)

    told = []
    for _ in range(50):
        base = [waiting(n, 3e-5, 7e-4) for n in range(4)]
        head = [waiting(n, 2e-4, 7e-4) for n in range(4)]
        found = check(ONE_EACH, base, head, false_alarms=0.01)
        told.append([group.outcome for group in found.groups])
    assert all(read == "violated" for read, _ in told)
    assert not any(write == "violated" for _, write in told)


def test_a_path_that_moved_within_its_group_is_named() -> None:
    paths: dict[NamedPath, Calls] = {
        ("main", f"read{i}", "read", "fetch"): Calls(0.99, calls=100) for i in range(5)
    }
    slow = ("main", "read3", "read", "fetch")
    base = trials({**paths, WRITE: Calls(0.31)}, seed=1)
    head = trials({**paths, WRITE: Calls(0.31), slow: Calls(0.99, factor=2.0, calls=100)}, seed=2)
    found = checked(head, base)
    assert [g.outcome for g in found.groups] == ["violated", "held"]
    assert found.groups[0].paths == (slow,)
    assert "over main > read3 > read > fetch" in found.groups[0].said


def test_another_mix_of_paths_is_no_move_of_their_group() -> None:
    short, long = ("main", "a", "read", "fetch"), ("main", "b", "read", "fetch")
    base = {short: Calls(1.0, calls=300), long: Calls(1.0, factor=1.6, calls=100), WRITE: Calls(0.3)}
    head = {**base, short: Calls(1.0, calls=50), long: Calls(1.0, factor=1.6, calls=400)}
    assert checked(trials(head, seed=2), trials(base, seed=1)).outcome == "held"


def test_a_new_path_is_named_and_its_calls_count_to_the_group_whose_condition_it_fulfils() -> None:
    new = ("main", "cached", "read", "fetch")
    same = checked(trials({**USUAL, new: Calls(0.99)}, seed=2))
    assert (same.outcome, same.new_paths, same.ambiguous) == ("held", (new,), ())
    assert "new path main > cached > read > fetch" in same.why
    worse = checked(trials({**USUAL, new: Calls(0.3)}, seed=2))
    assert worse.groups[0].outcome == "violated"
    assert worse.groups[0].paths == (new,)


def test_a_new_path_of_which_nothing_is_asserted_is_no_silent_pass() -> None:
    both = replace(TWO, groups=(*TWO.groups, AssertedGroup(Condition("e1", EDGES), (0.9, 0.1), 1)))
    new: NamedPath = ("main", "cached", "read", "fetch")
    only = replace(TWO, groups=(TWO.groups[1],))
    base = trials({WRITE: Calls(0.31)}, seed=1)
    only = replace(only, places=(0.31,))
    found = checked(trials({WRITE: Calls(0.31), new: Calls(0.9)}, seed=2), base, assertion=only)
    assert (found.outcome, found.ambiguous) == ("undecided", (new,))
    assert "fulfil no condition, or several" in " ".join(found.why)
    assert checked(trials(seed=2), assertion=both).outcome == "undecided"


def test_a_group_that_is_not_reached_any_more_is_named() -> None:
    found = checked(trials({WRITE: Calls(0.31)}, seed=2))
    assert (found.outcome, found.vanished) == ("undecided", (0,))
    assert "`e1`: no calls at head" in found.why


def test_an_edge_that_no_path_has_any_more_is_named() -> None:
    stale = Condition("e1 or e2", {**EDGES, "e2": ("legacy", "fetch")})
    found = checked(
        trials(seed=2), assertion=replace(TWO, groups=(replace(TWO.groups[0], when=stale), TWO.groups[1]))
    )
    assert found.gone == (("legacy", "fetch"),)
    assert "no path has the edge legacy > fetch any more" in found.why


@pytest.mark.parametrize(
    ("base", "head", "where"), [(4, 0, "at head"), (0, 4, "at base"), (0, 0, "at base and head")]
)
def test_a_method_without_calls_is_said_to_have_vanished(base: int, head: int, where: str) -> None:
    found = checked(trials(n=head), trials(n=base))
    assert found.outcome == "undecided"
    assert found.why[0] == f"`fetch` has no calls {where}: renamed, inlined, or not called any more"


def test_what_does_not_describe_base_is_not_the_pull_requests_fault() -> None:
    other = {**USUAL, READ: Calls(0.5)}
    found = checked(trials(other, seed=2), trials(other, seed=1))
    assert found.outcome == "undecided"
    assert found.groups[0].said.startswith("expects 99/1 % and base has ")


def test_too_few_calls_are_undecided_and_say_how_many_are_missing() -> None:
    few = {READ: Calls(0.99, calls=12), WRITE: Calls(0.31, calls=12)}
    found = checked(trials(few, seed=2), trials(few, seed=1))
    assert found.outcome == "undecided"
    assert found.more_trials > 0
    assert found.more_calls >= 12 * found.more_trials
    assert "more a side are needed" in " ".join(found.why)


def test_a_group_that_is_called_once_a_trial_is_undecided() -> None:
    once = {**USUAL, READ: Calls(0.99, calls=1)}
    found = checked(trials(once, seed=2), trials(once, seed=1))
    assert found.groups[0].outcome == "undecided"
    assert found.groups[0].said == "too few calls in a trial: 4 at base, 4 at head"
    assert isnan(found.groups[0].ratio)


def test_the_trials_that_are_asked_for_are_usually_enough() -> None:
    few = {READ: Calls(0.99, calls=25), WRITE: Calls(0.31, calls=25)}
    then = []
    for seed in range(15):
        more = checked(trials(few, seed=200 + seed), trials(few, seed=100 + seed)).more_trials
        if more:
            n = 4 + more
            then.append(checked(trials(few, n=n, seed=400 + seed), trials(few, n=n, seed=300 + seed)).outcome)
    assert len(then) > 4
    assert then.count("held") > 0.6 * len(then)


def test_three_trials_a_side_decide_nothing() -> None:
    found = checked(trials({**USUAL, READ: Calls(0.1)}, n=3, seed=2), trials(n=3, seed=1))
    assert (found.outcome, found.more_trials) == ("undecided", 1)


@pytest.mark.parametrize(
    "durations", [[], [1e-3], [1e-3] * 100, [0.0] * 100, [nan] * 100, [-1.0] * 100, [inf] * 60]
)
def test_calls_that_say_nothing_never_pass(durations: list[float]) -> None:
    found = checked(one_path(durations), one_path(durations))
    assert found.outcome == "undecided"
    assert found.why


def test_a_clock_that_jumps_is_not_trusted() -> None:
    head = trials(seed=2)
    head[0].durations[READ][:60] = -5.0
    assert "the clock is not to be trusted" in checked(head).why[0]


@pytest.mark.parametrize(
    "edited",
    [
        replace(TWO, places=(0.5, 0.2)),
        replace(TWO, places=(1.5,)),
        replace(TWO, places=(nan,)),
        replace(TWO, places=()),
        replace(TWO, groups=()),
        replace(TWO, groups=(replace(TWO.groups[0], expected=(0.9, 0.9)), TWO.groups[1])),
        replace(TWO, groups=(replace(TWO.groups[0], expected=(nan, 1.0)), TWO.groups[1])),
        replace(TWO, groups=(replace(TWO.groups[0], expected=(1.5, -0.5)), TWO.groups[1])),
    ],
)
def test_an_entry_that_contradicts_itself_is_undecided_and_says_in_what(edited: Assertion) -> None:
    found = checked(trials(seed=2), assertion=edited)
    assert found.outcome == "undecided"
    assert found.why[0]
    assert proposed(edited, trials()) == edited


durations = arrays(np.float64, st.integers(0, 40), elements=st.floats(allow_nan=True, allow_infinity=True))
observations = st.lists(
    st.dictionaries(st.sampled_from([READ, WRITE, ("main", "fetch"), ("fetch",)]), durations, max_size=3),
    max_size=6,
).map(lambda found: [CallObservation(i, i + 1, d) for i, d in enumerate(found)])


@settings(max_examples=150, deadline=None)
@given(
    observations,
    observations,
    st.sampled_from([TWO, replace(TWO, places=(0.01,)), replace(TWO, places=(0.99,))]),
)
def test_whatever_was_measured_there_is_an_outcome_with_a_reason(
    base: list[CallObservation], head: list[CallObservation], assertion: Assertion
) -> None:
    found = check(assertion, base, head, false_alarms=0.01)
    assert found.outcome in ("held", "violated", "undecided")
    assert all(found.why)
    assert found.why
    assert isinstance(proposed(assertion, head), Assertion)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.01, 100.0))
def test_the_unit_of_time_does_not_matter(factor: float) -> None:
    scaled = [
        [CallObservation(o.start, o.end, {p: d * factor for p, d in o.durations.items()}) for o in side]
        for side in (trials(seed=1), trials({**USUAL, READ: Calls(0.6)}, seed=2))
    ]
    one, other = checked(trials({**USUAL, READ: Calls(0.6)}, seed=2)), checked(scaled[1], scaled[0])
    assert [g.outcome for g in one.groups] == [g.outcome for g in other.groups]
    assert one.groups[0].head == pytest.approx(other.groups[0].head, abs=0.01)


def test_the_edited_entry_describes_head_and_holds_there() -> None:
    head = trials({**USUAL, READ: Calls(0.41)}, seed=2)
    found = checked(head)
    edited = proposed(TWO, head, borders=found.borders)
    assert [g.when for g in edited.groups] == [g.when for g in TWO.groups]
    assert edited.groups[0].expected == pytest.approx((0.41, 0.59), abs=0.05)
    assert edited.groups[0].calls == 1200
    assert edited.places[0] == pytest.approx(0.36, abs=0.03)
    again = checked(
        trials({**USUAL, READ: Calls(0.41)}, seed=3),
        trials({**USUAL, READ: Calls(0.41)}, seed=4),
        assertion=edited,
    )
    assert again.outcome == "held"


def test_the_edited_entry_of_an_unchanged_method_is_nearly_the_same() -> None:
    edited = proposed(TWO, trials(seed=2))
    for group, was in zip(edited.groups, TWO.groups, strict=True):
        assert group.expected == pytest.approx(was.expected, abs=0.05)
    assert edited.places == pytest.approx(TWO.places, abs=0.03)


def test_the_edited_entry_drops_a_cluster_and_a_group_that_are_gone() -> None:
    edited = proposed(TWO, trials({WRITE: Calls(0.0)}), borders=(4e-3,))
    assert (edited.places, len(edited.groups)) == ((), 1)
    assert edited.groups[0].expected == (1.0,)


def test_an_entry_without_borders_is_checked_by_how_long_calls_take() -> None:
    plain = Assertion("fetch", None, (), (AssertedGroup(Condition("always", {}), (1.0,), 100),))
    base = trials({READ: Calls(1.0)}, seed=1)
    assert checked(trials({READ: Calls(1.0)}, seed=2), base, assertion=plain).outcome == "held"
    found = checked(trials({READ: Calls(1.0, factor=2.0)}, seed=2), base, assertion=plain)
    assert found.outcome == "violated"
    assert found.groups[0].ratio == pytest.approx(SLOW / SLOW * 2.0, rel=0.1)


def test_a_group_without_calls_at_head_has_no_ratio() -> None:
    assert isnan(checked(trials({WRITE: Calls(0.31)}, seed=2)).groups[0].ratio)
