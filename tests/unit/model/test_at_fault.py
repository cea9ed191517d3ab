"""Values with which nothing works."""

from __future__ import annotations

from itertools import product

from bot.model.at_fault import at_fault, together_at_fault

ALL = [dict(zip(("a", "b", "c"), values, strict=True)) for values in product((False, True), repeat=3)]


def test_a_value_with_which_nothing_works_is_at_fault() -> None:
    assert at_fault([o for o in ALL if o["b"]], [o for o in ALL if not o["b"]]) == [{"b": True}]


def test_each_of_two_broken_values_is_at_fault() -> None:
    failed = [o for o in ALL if o["a"] or o["c"]]
    assert at_fault(failed, [o for o in ALL if o not in failed]) == [{"c": True}, {"a": True}]


def test_what_only_came_along_with_a_broken_value_is_not() -> None:
    failed = [{"a": True, "b": True}, {"a": True, "b": True}, {"a": True, "b": True}, {"a": True, "b": False}]
    assert at_fault(failed, [{"a": False, "b": False}]) == [{"a": True}]


def test_values_that_never_failed_apart_are_told_together() -> None:
    failed = [{"level": 2, "deep": True, "c": c} for c in (0, 1, 2)]
    worked = [{"level": 1, "deep": False, "c": c} for c in (0, 1, 2)]
    assert at_fault(failed, worked) == [{"level": 2, "deep": True}]
    assert at_fault(failed, [*worked, {"level": 2, "deep": False, "c": 0}]) == [{"deep": True}]


def test_a_value_that_worked_once_is_not() -> None:
    assert at_fault([o for o in ALL if o["b"]], ALL) == []


def test_two_failures_are_too_few() -> None:
    assert at_fault([{"a": True}] * 2, [{"a": False}]) == []


def test_where_nothing_fails_nothing_is() -> None:
    assert at_fault([], ALL) == []


WIDE = [dict(zip("abcdef", values, strict=True)) for values in product((False, True), repeat=6)]


def test_two_values_that_only_fail_together_are_found() -> None:
    failed = [o for o in WIDE if o["b"] and not o["e"]]
    worked = [o for o in WIDE if o not in failed]
    assert at_fault(failed, worked) == []
    assert together_at_fault(failed, worked) == {"b": True, "e": False}


def test_two_values_that_seldom_meet_are_no_explanation() -> None:
    failed = [{"a": True, "b": True}] * 3
    assert together_at_fault(failed, [{"a": True, "b": False}, {"a": False, "b": True}]) == {}


def test_failures_without_two_values_of_their_own_have_no_explanation() -> None:
    failed = [o for o in WIDE if sum(o.values()) > 4]
    assert together_at_fault(failed, [o for o in WIDE if o not in failed]) == {}
