"""What is expected to fail waits, and a few of it show whether it does."""

from collections.abc import Mapping
from typing import Any

from bot.model.space import Configuration
from bot.sampling.probation import in_order

SAMPLE: list[Configuration] = [(i,) for i in range(12)]
ODD: dict[Configuration, str | None] = {(i,): "odd" for i in range(1, 12, 2)}


def order(causes: Mapping[Any, str | None], works: bool) -> list[int]:
    begun: list[int] = []
    for (number,) in in_order(SAMPLE, causes, lambda c: works and c[0] in begun):
        assert isinstance(number, int)
        begun.append(number)
    return begun


def test_without_doubts_the_order_is_the_samples() -> None:
    assert order({}, works=True) == list(range(12))


def test_of_what_still_fails_one_is_tried_in_its_place_and_the_others_last() -> None:
    assert order(ODD, works=False) == [0, 1, 2, 4, 6, 8, 10, 3, 5, 7, 9, 11]


def test_what_works_again_is_tried_as_if_it_had_never_failed() -> None:
    assert order(ODD, works=True) == list(range(12))


def test_each_cause_has_a_trial_of_its_own() -> None:
    assert order({(1,): "a", (2,): "b", (3,): "a", (4,): "b"}, works=False)[:4] == [0, 1, 2, 5]


def test_what_no_value_explains_is_tried_last() -> None:
    assert order({(2,): None}, works=True)[-1] == 2


def test_the_first_of_the_sample_never_waits() -> None:
    assert order({(0,): None, (1,): "a", (2,): "a"}, works=False)[:3] == [0, 1, 3]


def test_what_was_let_in_and_fails_lets_nothing_more_in() -> None:
    begun = list(in_order(SAMPLE, ODD, lambda c: c == (1,)))
    assert begun == [(i,) for i in (0, 1, 2, 3, 4, 5, 6, 8, 10, 7, 9, 11)]
