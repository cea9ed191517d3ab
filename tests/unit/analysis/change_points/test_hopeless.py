"""Levels with which nothing works at some revisions are left alone there, and around."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.analysis.change_points.hopeless import HOPELESS, HopelessThere, hopeless
from bot.model.space import Option, Space

SPACE = Space(tuple(Option(n, "flag", (False, True), False) for n in "abc"))
LEVELS = SPACE.levels
NAMES = [str(level) for level in LEVELS]


def holding(*options: str) -> list[bool]:
    return [SPACE.holds(level, tuple(o.name in options for o in SPACE.options)) for level in LEVELS]


HOLDS = np.array([holding(), holding("a"), holding("a", "b"), holding("a", "c"), holding("a", "b", "c")])


def with_any(rows: int) -> NDArray[np.bool_]:
    """What the first configurations hold."""
    return np.asarray(HOLDS[:rows].any(axis=0))


def left_alone(found: NDArray[np.bool_]) -> list[str]:
    return [name for name, lost in zip(NAMES, found, strict=True) if lost]


def there(failed: Collection[tuple[int, int]], worked: Collection[tuple[int, int]]) -> HopelessThere:
    return HopelessThere(LEVELS, HOLDS, failed=failed, worked=worked)


def test_a_level_with_which_several_failed_and_none_worked_is_left_alone() -> None:
    alive = with_any(1)
    assert left_alone(hopeless(LEVELS, HOLDS[1:4], alive)) == ["a"]
    assert not left_alone(hopeless(LEVELS, HOLDS[1:HOPELESS], alive))
    assert not left_alone(hopeless(LEVELS, HOLDS[1:4], with_any(2)))


def test_of_two_levels_that_always_failed_together_none_is_given_up() -> None:
    together = np.array([holding("a", "b"), holding("a", "b", "c"), holding("a", "b")])
    assert not left_alone(hopeless(LEVELS, together, with_any(1)))


@pytest.mark.parametrize(("revision", "lost"), [(0, ["a"]), (3, ["a"]), (5, ["a"]), (9, [])])
def test_at_other_revisions_the_nearest_one_that_is_known_counts(revision: int, lost: list[str]) -> None:
    found = there([(row, 3) for row in (1, 2, 3)], [(0, 3), (1, 9)])
    assert left_alone(found.at(revision)) == lost


def test_at_one_revision_levels_that_failed_often_are_left_alone_though_others_may_be_to_blame() -> None:
    rows = np.array([holding("a", "b"), holding("a", "b", "c")] * 3)
    failed = [(row, 3) for row in range(len(rows))]
    assert not left_alone(HopelessThere(LEVELS, rows, failed=failed[:5], worked=[]).at(3))
    assert set(left_alone(HopelessThere(LEVELS, rows, failed=failed, worked=[]).at(3))) == {"a", "b"}


def test_halfway_between_what_fails_and_what_works_is_tried() -> None:
    assert not left_alone(there([(row, 3) for row in (1, 2, 3)], [(0, 3), (1, 9)]).at(6))


def test_without_trials_nothing_is_left_alone() -> None:
    assert not left_alone(there([], []).at(4))
