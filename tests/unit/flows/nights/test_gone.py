"""A change whose configurations take at the tip what they took before it is gone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from bot.flows.nights.gone import gone
from bot.flows.nights.known import LookedAt
from bot.flows.nights.search import NightSearch
from bot.flows.nights.telling import Telling
from bot.flows.nights.window import Window
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.revisions import Revision
from tests.flows.nights import SUBJECT

SPACE = SUBJECT.space
SLOWER = ChangePoint(
    revision=5,
    interval=(5, 5),
    term=("alpha",),
    aliases=(),
    ratio=1.2,
    ratio_interval=(1.15, 1.25),
    probability=0.99,
)
ONE, TWO, OFF = (True,) + (False,) * 4, (True, True) + (False,) * 3, (False,) * 5


def pair(configuration: tuple[bool, ...], revision: int, value: float) -> Observation:
    return Observation(Probe(configuration, revision), value, anchor=1.3)


AT_TIP = pair(OFF, 9, 1.0)


def test_a_change_that_early_revisions_do_not_show_beside_the_tip_is_gone() -> None:
    night = [pair(ONE, 3, 1.0), pair(ONE, 4, 0.99), pair(TWO, 4, 1.01), pair(TWO, 6, 1.2), AT_TIP]
    assert gone([SLOWER], [night], SPACE) == [SLOWER]


def test_a_change_that_stands_is_not_gone() -> None:
    night = [pair(ONE, 4, 1 / 1.2), pair(TWO, 4, 1 / 1.19), AT_TIP]
    assert gone([SLOWER], [night], SPACE) == []


def test_a_change_that_one_configuration_still_has_is_not_gone() -> None:
    night = [pair(ONE, 4, 1 / 1.2), pair(TWO, 4, 1.0), AT_TIP]
    assert gone([SLOWER], [night], SPACE) == []


def test_one_configuration_alone_or_those_without_the_term_say_nothing() -> None:
    assert gone([SLOWER], [[pair(ONE, 4, 1.0), pair(OFF, 4, 1.0), AT_TIP]], SPACE) == []


def test_trials_that_ran_alone_say_nothing() -> None:
    night = [replace(pair(c, 4, 1.0), anchor=1.0) for c in (ONE, TWO)]
    assert gone([SLOWER], [[*night, AT_TIP]], SPACE) == []


def test_an_improvement_of_something_else_does_not_hide_a_change_that_stands() -> None:
    faster = replace(SLOWER, revision=7, interval=(7, 7), term=(), ratio=1 / 1.2)
    night = [pair(ONE, 4, 1.0), pair(TWO, 4, 1.0), AT_TIP]
    assert gone([SLOWER, faster], [night], SPACE) == []


def test_the_newest_night_that_can_tell_decides() -> None:
    before = [pair(ONE, 4, 1 / 1.2), pair(TWO, 4, 1 / 1.2), pair(OFF, 7, 1.0)]
    tonight = [pair(ONE, 4, 1.0), pair(TWO, 4, 1.0), AT_TIP]
    assert gone([SLOWER], [before, tonight], SPACE) == [SLOWER]
    assert gone([SLOWER], [tonight, [pair(OFF, 4, 1.0), pair(OFF, 12, 1.0)]], SPACE) == [SLOWER]


def test_a_night_whose_tip_is_not_after_the_change_says_nothing() -> None:
    night = [pair(ONE, 3, 1.0), pair(TWO, 3, 1.0), pair(OFF, 5, 1.0)]
    assert gone([SLOWER], [night], SPACE) == []


@dataclass
class Believing:
    """A night's search that believes in one change of earlier nights, and looked closely."""

    change_points_: tuple[ChangePoint, ...] = (SLOWER,)
    known_: tuple[ChangePoint, ...] = (SLOWER,)
    unclear_: tuple[Any, ...] = ()
    rested_: tuple[Any, ...] = ()
    looked_at_: LookedAt = field(default_factory=LookedAt)
    window: Window = field(default_factory=lambda: Window(10))
    enough_: bool = True
    compared_: tuple[int, ...] = (9, 0)
    aim: float = 0.03


def test_what_is_gone_is_no_change_point_of_the_night_and_told_as_unclear() -> None:
    revisions = [Revision(f"id{i}", f"v{i}") for i in range(10)]
    telling = Telling(cast(NightSearch, Believing()), revisions, "cpu")
    assert telling.known == [SLOWER]
    telling.set_aside([SLOWER])
    assert (telling.points, telling.known, telling.fresh) == ([], [], [])
    (unclear,) = [one.items for one in telling.lists({}) if one.kind == "unclear"]
    assert unclear == (
        "`alpha` became 20 % slower since `v5`, and seems to be gone: at the tip its configurations take what"
        " they took before it.",
    )


def test_an_improvement_is_never_set_aside() -> None:
    faster = replace(SLOWER, ratio=0.8)
    found = Believing(change_points_=(faster,), known_=(faster,))
    telling = Telling(cast(NightSearch, found), [Revision(f"id{i}", f"v{i}") for i in range(10)], "cpu")
    telling.set_aside([faster])
    assert telling.points == [faster]
