"""Assertions are checked on programs whose call paths are known, and nothing is said of what was not seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.analysis.assertions.modelling import model
from bot.analysis.assertions.wording import asserted
from bot.flows.assertions.inquiry import (
    MOST_TRIALS,
    NO_CALLERS,
    NOT_WATCHED,
    AssertionInquiry,
    CheckedAssertion,
)
from bot.flows.influences.call_observations import observed
from bot.model.assertions import Assertion, NamedPath
from bot.model.profiles import Profile
from bot.model.space import Configuration
from bot.model.trials import Side
from tests.flows.test_mining import FAST, SECONDS, SLOW, World, method

Calls = Mapping[NamedPath, Sequence[float]]
LOAD, SAVE = ("main", "load", "read"), ("main", "save", "read")
CALLS: Calls = {LOAD: [FAST] * 200, SAVE: [SLOW] * 100}
SLOWER: Calls = {LOAD: [SLOW] * 200, SAVE: [SLOW] * 100}


@dataclass
class TwoSides(World):
    """Head calls as `head` says.

    counted: whether the coarse profile knows who calls whom. greedy: whether that takes all the time it may.
    moody: after so many trials head calls as base.
    """

    head: World = field(default_factory=lambda: World(SLOWER))
    counted: bool = True
    greedy: bool = False
    moody: float = math.inf

    def profile(self, side: Side, configuration: Configuration, *, seconds: float = math.inf) -> Profile:
        found = super().profile(side, configuration)
        self.now += seconds - SECONDS if self.greedy else 0.0
        return found if self.counted else replace(found, edges={})

    def watch(self, side: Side, *others: object, **more: object) -> Profile:
        self.moody -= side == "head"
        if side == "head" and self.moody >= 0:
            self.head.every = self.every
            self.now += SECONDS
            return World.watch(self.head, side, *others, **more)  # type: ignore[arg-type]
        return super().watch(side, *others, **more)  # type: ignore[arg-type]


def entry() -> Assertion:
    world = World(CALLS)
    coarse = world.profile("base", ())
    trials = [
        observed(world.watch("base", (), [method("read")], coarse), start=n, end=n + 1)[method("read")]
        for n in range(4)
    ]
    found = asserted(model("read", "read.c", trials), mined="abc", trials=4)
    assert found is not None and found.atoms
    return found


def checked(world: World, *, seconds: float = 1e6) -> CheckedAssertion:
    inquiry = AssertionInquiry(
        world, (), lambda: world.now, seconds, false_alarms=0.01, tell=lambda stage: None
    )
    (found,) = inquiry.run([entry()])
    return found


def test_a_slower_path_is_violated_whether_the_tool_sees_callers_or_has_to_watch_them() -> None:
    for every in (True, False):
        found = checked(TwoSides(CALLS, every=every)).checked
        assert found.outcome == "violated" and found.slower
        (moved,) = [group for group in found.groups if group.outcome == "violated"]
        assert 8.0 < moved.ratio < 12.0


def test_an_unchanged_program_holds() -> None:
    assert checked(TwoSides(CALLS, head=World(CALLS))).checked.outcome == "held"


def test_what_only_seemed_violated_is_not_told() -> None:
    found = checked(TwoSides(CALLS, moody=MOST_TRIALS))
    assert found.checked.outcome == "held" and len(found.base) == len(found.head) == MOST_TRIALS


def test_without_time_to_watch_again_the_first_trials_count() -> None:
    found = checked(TwoSides(CALLS, moody=MOST_TRIALS), seconds=(2 + 2 * MOST_TRIALS + 4) * SECONDS)
    assert found.checked.outcome == "violated" and len(found.base) == MOST_TRIALS


def test_groups_are_not_told_apart_where_callers_can_be_neither_seen_nor_known() -> None:
    found = checked(TwoSides(CALLS, every=False, counted=False))
    assert found.checked.outcome == "undecided" and found.checked.why == (NO_CALLERS,)
    assert not found.base and not found.head


def test_without_time_for_both_sides_it_is_not_said_that_there_are_no_calls() -> None:
    found = checked(TwoSides(CALLS), seconds=2.5 * SECONDS)
    assert found.checked.outcome == "undecided" and found.checked.why == (NOT_WATCHED,)


def test_a_program_that_cannot_be_profiled_has_no_wrong_reason() -> None:
    found = checked(TwoSides(CALLS, outcome="timeout"))
    assert found.checked.outcome == "undecided" and found.checked.why == (NOT_WATCHED,)


def test_profiles_that_take_all_they_are_given_leave_time_for_watching() -> None:
    assert checked(TwoSides(CALLS, greedy=True), seconds=60 * SECONDS).checked.outcome == "violated"
