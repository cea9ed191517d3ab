"""Which levels and pairs of levels are blamed for failures."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bot.analysis.change_points.blame import Blame, blame
from bot.analysis.change_points.noise import Bools, Floats

OPTIONS, REVISIONS = 6, 24
LIKELY = 0.55
ON = np.array(list(product([False, True], repeat=OPTIONS)), dtype=bool)
HOLDS: Bools = np.hstack([ON, ~ON])
"""All configurations by levels: each option on, then each option off."""


def after_trials(fails: Bools, *, trials: int = 120, seed: int = 1) -> Blame:
    """Trials of random cells; fails: (n_configurations, n_revisions)."""
    rng = np.random.default_rng(seed)
    cells = {(int(rng.integers(len(HOLDS))), int(rng.integers(REVISIONS))) for _ in range(trials)}
    failed = {cell for cell in cells if fails[cell]}
    return blame(HOLDS, REVISIONS, failed=failed, worked=cells - failed)


def share_known(found: Blame, fails: Bools) -> tuple[float, float]:
    """Share of what fails that is expected to, and of what works."""
    expected = found.of(HOLDS) >= LIKELY
    return float(expected[fails].mean()), float(expected[~fails].mean())


def by_level(found: Blame) -> Floats:
    """How probably each level alone fails, (n_levels, n_revisions)."""
    return found.of(np.eye(HOLDS.shape[1], dtype=bool))


def needs(option: int, other: int, *, until: int = REVISIONS) -> Bools:
    """An option that fails without another one, up to a revision."""
    return np.outer(ON[:, option] & ~ON[:, other], np.arange(REVISIONS) < until)


@pytest.mark.parametrize("seed", range(4))
def test_an_option_that_needs_another_one_is_left_alone_only_without_it(seed: int) -> None:
    fails = needs(0, 1)
    known, wrongly = share_known(after_trials(fails, seed=seed), fails)
    assert known > 0.9 and wrongly < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_two_pairs_that_fail_are_each_blamed_for_their_own_failures(seed: int) -> None:
    fails = needs(0, 1) | np.outer(ON[:, 2] & ON[:, 3], np.ones(REVISIONS, dtype=bool))
    known, wrongly = share_known(after_trials(fails, trials=240, seed=seed), fails)
    assert known > 0.9 and wrongly < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_what_fails_before_a_revision_and_works_since_is_tried_where_it_works(seed: int) -> None:
    fails = needs(0, 1, until=12)
    known, wrongly = share_known(after_trials(fails, seed=seed), fails)
    assert known > 0.9 and wrongly < 0.05


def test_an_option_that_old_revisions_do_not_know_is_blamed_there_and_no_pair_of_it() -> None:
    fails = np.outer(ON[:, 0], np.arange(REVISIONS) < 12)
    found = after_trials(fails)
    levels = by_level(found)
    assert (levels[0, :10] > LIKELY).all() and (levels[:, 14:] < LIKELY).all()
    assert found.of(HOLDS, pairs_alone=True).max() < LIKELY


def test_what_fails_on_both_sides_of_a_revision_fails_there_however_far_they_are() -> None:
    failed = [(configuration, r) for configuration in np.flatnonzero(ON[:, 0]).tolist() for r in (0, 23)]
    worked = [(configuration, r) for configuration in np.flatnonzero(~ON[:, 0]).tolist() for r in (0, 23)]
    found = blame(HOLDS, REVISIONS, failed=failed, worked=worked)
    assert (by_level(found)[0] > 0.9).all()


def test_without_failures_nobody_is_to_blame() -> None:
    assert not blame(HOLDS, REVISIONS, failed=(), worked=[(0, 0)]).of(HOLDS).any()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("failing", [0.03, 0.1])
def test_failures_that_do_not_repeat_themselves_are_chance(failing: float, seed: int) -> None:
    fails = np.random.default_rng(seed).random((len(HOLDS), REVISIONS)) < failing
    assert (after_trials(fails, trials=240, seed=seed).of(HOLDS) >= LIKELY).mean() < 0.02


@pytest.mark.parametrize("seed", range(4))
def test_what_always_fails_is_told_from_failures_by_chance(seed: int) -> None:
    broken = np.outer(ON[:, 0], np.arange(REVISIONS) < 12)
    fails = broken | (np.random.default_rng(seed).random(broken.shape) < 0.1)
    known, wrongly = share_known(after_trials(fails, trials=240, seed=seed), broken)
    assert known > 0.9 and wrongly < 0.05


def test_one_failure_of_a_level_that_never_worked_nearby_is_no_chance() -> None:
    plain, alone = (int(np.flatnonzero((on == ON).all(axis=1))[0]) for on in (np.zeros(6), np.eye(6)[0]))
    found = blame(HOLDS, REVISIONS, failed=[(alone, 3)], worked=[(plain, r) for r in range(REVISIONS)])
    assert by_level(found)[0, 3] >= LIKELY


def test_what_matters_is_the_same_where_less_is_left_out() -> None:
    found = after_trials(needs(0, 1, until=12) | np.outer(ON[:, 4], np.arange(REVISIONS) < 6))
    every, most = found.of(HOLDS), np.vstack([found.of(one[None, :], least=LIKELY) for one in HOLDS])
    assert ((every >= LIKELY) == (most >= LIKELY)).all() and (every >= LIKELY).any()
    assert most[most >= LIKELY] == pytest.approx(every[most >= LIKELY])
