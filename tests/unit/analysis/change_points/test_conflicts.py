"""Sets of levels that fail where all of them meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.analysis.change_points.conflicts import conflicts, meeting
from bot.analysis.change_points.noise import Bools

LAST = 9


def holds(*texts: str) -> Bools:
    """Of each option on and off: `100` is the first of three options alone."""
    return np.array([[x == level for x in text for level in "10"] for text in texts], dtype=bool)


def found(
    texts: Sequence[str], failed: Sequence[int], worked: Sequence[int], times: int = 3
) -> list[list[int]]:
    """Of configurations that failed so many times and that worked, at the last revision and before."""
    cells = [(c, LAST - r) for c in failed for r in range(times)]
    sets = conflicts(holds(*texts), failed=cells, worked=[(c, LAST) for c in worked], at=LAST)
    return [which.tolist() for which in sets]


TEXTS = ("0000", "1000", "0100", "0010", "1001", "0001")


def test_that_one_of_three_options_is_needed_is_seen_from_what_works_with_each() -> None:
    assert found(TEXTS, [0], [1, 2, 3, 4]) == [[1, 3, 5]]


def test_as_long_as_not_each_of_them_was_tried_nothing_is_said() -> None:
    assert found(TEXTS, [0], [1, 2, 4]) == []


def test_what_failed_once_or_worked_once_is_no_conflict() -> None:
    assert found(TEXTS, [0], [1, 2, 3], times=1) == []
    assert found(TEXTS, [0], [0, 1, 2, 3]) == []


def test_two_levels_are_left_to_those_who_blame_pairs() -> None:
    assert found(TEXTS[:3], [0], [1, 2]) == []


def test_whatever_has_all_levels_of_a_conflict_meets_it() -> None:
    which = [np.array([1, 3, 5])]
    assert meeting(holds(*TEXTS), which).tolist() == [True, False, False, False, False, True]
    assert not meeting(holds(*TEXTS), []).any()
