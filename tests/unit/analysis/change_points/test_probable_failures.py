"""What untried trials are expected to fail."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bot.analysis.change_points.noise import Bools
from bot.analysis.change_points.probable_failures import ProbableFailures

ON = np.array(list(product([False, True], repeat=4)), dtype=bool)
HOLDS: Bools = np.hstack([ON, ~ON])
"""All configurations of four options by levels: each option on, then each option off."""
PLACES = (0, 10, 20, 30, 40)


def number(*options: int) -> int:
    return next(i for i, on in enumerate(ON) if set(np.flatnonzero(on)) == set(options))


def alone(level: int) -> Bools:
    return np.asarray(np.arange(HOLDS.shape[1]) == level)


def young(option: int, since: int) -> ProbableFailures:
    """Each option alone, and none, at some revisions."""
    tried = [(number(*on), r) for on in ((), (0,), (1,), (2,), (3,)) for r in PLACES]
    failed = [(c, r) for c, r in tried if ON[c, option] and r < since]
    return ProbableFailures(HOLDS, failed=failed, worked=[cell for cell in tried if cell not in failed])


@pytest.mark.parametrize(("revision", "fails"), [(0, True), (3, True), (12, True), (21, False), (40, False)])
def test_an_option_that_old_revisions_do_not_know_fails_there_in_any_company(
    revision: int, fails: bool
) -> None:
    found = young(1, since=15)
    assert found.expects(HOLDS[number(0, 1, 2)], revision) == fails
    assert found.expects(alone(1), revision) == fails
    assert not found.expects(HOLDS[number(0, 2)], revision)


def test_revisions_after_the_last_trial_are_as_that_one() -> None:
    assert not young(1, since=15).expects(HOLDS[number(1)], 99)


def test_what_fails_at_the_anchor_fails_everywhere_and_what_it_holds_alone_works() -> None:
    each = [number(*on) for on in ((), (0,), (1,), (2,), (3,))]
    found = ProbableFailures(HOLDS, failed=(), worked=[(c, 7) for c in each], valueless=[number(0, 1)])
    assert found.expects(HOLDS[number(0, 1)], 0) and found.expects(HOLDS[number(0, 1)], 40)
    assert not found.expects(HOLDS[number(0, 2)], 7)


def test_where_only_pairs_are_to_blame_no_level_is() -> None:
    tried = [(c, r) for c in range(len(ON)) for r in PLACES]
    failed = [(c, r) for c, r in tried if ON[c, 0]]
    worked = [cell for cell in tried if cell not in failed]
    assert ProbableFailures(HOLDS, failed=failed, worked=worked).expects(alone(0), 20)
    pairs = ProbableFailures(HOLDS, failed=failed, worked=worked, pairs_alone=True)
    assert not pairs.expects(HOLDS[number(0)], 20)


def test_without_failures_nothing_is_expected_to_fail() -> None:
    assert not ProbableFailures(HOLDS, failed=(), worked=[(0, 0)]).expects(HOLDS[-1], 5)


def test_as_long_as_nothing_worked_anything_else_may_work() -> None:
    failed = [(number(0, 1, 2, 3), r) for r in PLACES]
    assert not ProbableFailures(HOLDS, failed=failed, worked=()).expects(HOLDS[number(0, 1, 2)], 10)
