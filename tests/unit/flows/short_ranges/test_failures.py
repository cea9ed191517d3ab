"""When a revision at which nothing worked counts as one that cannot be built."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.flows.short_ranges.failures import Failures

HOLDS = np.array(
    [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=bool
)
"""Configurations by levels: three with the first level and another one, three with the other one alone."""
ALONE = (3, 4, 5)


def usable(failed: list[int], worked: list[int]) -> NDArray[np.bool_]:
    """Cells that may give a value after these were tried at the second revision; before, ALONE worked."""
    failures = Failures(2)
    for configuration in ALONE:
        failures.answered((configuration, 0), built=True, worked=True)
    for configuration in failed:
        failures.answered((configuration, 1), built=True, worked=False)
    for configuration in worked:
        failures.answered((configuration, 1), built=True, worked=True)
    return failures.usable(HOLDS)


def test_what_shares_a_level_may_fail_by_that_level_and_the_others_are_still_tried() -> None:
    assert usable([0, 1, 2], [])[:, 1].tolist() == [False, False, False, True, True, True]


def test_three_that_share_no_level_show_that_the_revision_does_not_work() -> None:
    assert not usable([0, 1, 5], [])[:, 1].any()
    assert usable([0, 1], [])[:, 1].any()


def test_a_revision_at_which_something_worked_is_never_given_up() -> None:
    assert usable([0, 1, 5], [3])[3, 1]


def after_three(worked: list[int]) -> Failures:
    """Three configurations that share a level fail at the fifth of nine revisions, and work elsewhere."""
    failures = Failures(9)
    for configuration in (0, 1, 2):
        failures.answered((configuration, 4), built=True, worked=False)
        for revision in worked:
            failures.answered((configuration, revision), built=True, worked=True)
    failures.usable(HOLDS)
    return failures


def test_a_level_that_works_before_and_after_a_revision_is_not_why_all_fails_there() -> None:
    assert after_three([3, 5]).unbuilt == {4}


@pytest.mark.parametrize("worked", [[2, 3], [5, 6], []])
def test_a_level_that_works_on_one_side_alone_may_have_come_or_gone_there(worked: list[int]) -> None:
    assert not after_three(worked).unbuilt
