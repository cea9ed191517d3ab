"""A second look at all trials: what it names besides, and what stays unclear."""

from __future__ import annotations

from bot.analysis.change_points.steps import Step
from bot.flows.nights.second_look import SecondLook, named_besides, still_unclear
from bot.model.change_points import ChangePoint
from bot.model.space import Level

A, C = Level("a", "on", True), Level("c", "on", True)


def point(term: tuple[str, ...], first: int, last: int, ratio: float = 1.1) -> ChangePoint:
    return ChangePoint(last, (first, last), term, (), ratio, (ratio, ratio), 1.0)


def test_where_tonights_questions_named_a_change_a_second_look_adds_no_other_words() -> None:
    shown = [point(("!b", "a"), 7, 7)]
    parted = [point(("a",), 7, 7), point(("a", "b"), 6, 8, ratio=0.9)]
    elsewhere = point(("c",), 3, 5)
    unclear = [Step((), 8, 2, 9, size=size) for size in (0.1, -0.1)]
    assert named_besides(shown, unclear, SecondLook([*parted, elsewhere])) == [elsewhere]


def test_what_only_a_second_look_sees_move_is_not_told() -> None:
    unclear = [Step((C,), 20, 15, 22, size=0.1)]
    assert named_besides([], unclear, SecondLook([point(("a",), 7, 7)])) == []
    assert named_besides([], unclear, SecondLook([point(("a",), 16, 16, ratio=0.9)])) == []


def test_a_night_that_did_not_look_tells_what_earlier_ones_know() -> None:
    known = [point(("a",), 7, 7)]
    assert named_besides([], [], SecondLook([point(("a",), 6, 7), point(("b",), 3, 3)], known)) == [
        point(("a",), 6, 7)
    ]


def test_a_step_that_a_second_look_names_is_not_unclear_any_more() -> None:
    named = [point(("a",), 7, 7)]
    same, faster = Step((A,), 8, 5, 9, size=0.2), Step((C,), 8, 5, 9, size=-0.2)
    later = Step((A,), 12, 10, 14, size=0.2)
    assert still_unclear([same, faster, later], named) == [faster, later]
