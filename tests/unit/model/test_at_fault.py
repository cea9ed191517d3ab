"""Values with which nothing works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from bot.model.at_fault import at_fault, fitting_terms, fitting_terms_by_value, together_at_fault
from bot.model.space import Value

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


def gray(count: int, options: str = "abcdefghij") -> list[dict[str, Value]]:
    """Configurations of switches that are drawn once and for all."""
    rng = np.random.default_rng(5)
    return [{name: bool(rng.integers(2)) for name in options} for _ in range(count)]


def fitting(failed: Sequence[dict[str, Value]], worked: Sequence[dict[str, Value]]) -> list[str]:
    return [" ".join(map(str, term)) for term in fitting_terms(failed, worked)]


def parted(
    options: Sequence[dict[str, Value]], term: dict[str, Value]
) -> tuple[list[dict[str, Value]], list[dict[str, Value]]]:
    """Those with all of the values, and the others."""
    having = [one for one in options if term.items() <= one.items()]
    return having, [one for one in options if one not in having]


def test_a_pair_that_all_failures_of_a_small_sample_have_and_nothing_else_is_told() -> None:
    failed, worked = parted(gray(16), {"a": True, "d": True})
    assert (len(failed), together_at_fault(failed, worked)) == (5, {})
    assert fitting(failed, worked) == ["a d"]


def test_three_values_that_only_fail_together_are_told() -> None:
    failed, worked = parted(gray(48), {"a": True, "b": False, "h": True})
    assert fitting(failed, worked) == ["a !b h"]


def test_a_number_from_a_value_on_is_told() -> None:
    options: list[dict[str, Value]] = [{"level": n % 8, "deep": n % 3 == 0} for n in range(24)]
    failed = [one for one in options if one["level"] in (6, 7)]
    assert fitting(failed, [one for one in options if one not in failed]) == ["level>=6"]


def test_terms_that_fit_as_well_are_told_too_and_too_many_are_not() -> None:
    options = gray(16)
    failed, worked = parted([{**one, "twin": one["b"]} for one in options], {"a": True, "b": True})
    assert fitting(failed, worked) == ["a b", "a twin"]
    many = [{**one, **dict.fromkeys(("twin", "third", "fourth"), one["b"])} for one in options]
    assert fitting(*parted(many, {"a": True, "b": True})) == []


def test_failures_that_some_term_would_fit_by_chance_are_not_explained() -> None:
    failed, worked = parted([dict(one) for one in WIDE[::5]], {"a": True, "c": True})
    assert len(failed) == 3
    assert fitting(failed, worked) == []


def by_value(options: Sequence[dict[str, Value]], failing: Callable[[dict[str, Value]], bool]) -> list[str]:
    """What fits the failures for each value of an option."""
    sides = [[one for one in options if failing(one) is side] for side in (True, False)]
    assert not fitting_terms(*sides)
    return [" ".join(map(str, term)) for term in fitting_terms_by_value(*sides)]


def test_an_option_that_fails_with_each_value_of_another_one_but_one_is_told_with_each() -> None:
    kinds = ("json", "text", "xml")
    options: list[dict[str, Value]] = [{**one, "kind": kinds[n % 3]} for n, one in enumerate(gray(60))]
    told = by_value(options, lambda one: bool(one["c"]) and one["kind"] != "json")
    assert told == ["c kind=text", "c kind=xml"]
    assert not by_value(options, lambda one: bool(one["c"] if one["kind"] == "text" else one["d"]))
    spoilt = {id(one) for one in options[1::9]}
    assert not by_value(options, lambda one: (bool(one["c"]) and one["kind"] != "json") or id(one) in spoilt)


def test_two_failures_or_none_that_worked_fit_nothing() -> None:
    failed, worked = parted(gray(16), {"a": True, "b": True})
    assert fitting(failed[:2], worked) == []
    assert fitting(failed, []) == []
    assert not fitting_terms_by_value([], worked)


def test_more_terms_than_can_be_looked_through_are_left() -> None:
    rng = np.random.default_rng(1)
    wide: list[dict[str, Value]] = [
        {str(name): bool(rng.integers(2)) for name in range(600)} for _ in range(64)
    ]
    assert fitting(*parted(wide, {"3": True, "5": True, "7": True})) == []
