"""A random walk's trials are weighed as the covariance of a walk weighs them."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.change_points.matched_filter import MatchedFilter
from bot.analysis.change_points.weighing import Columns, Walk, means, nearest

MOVE = 0.3
"""What a revision moves; a trial's own deviation is that of two next to each other."""
C = np.array([0, 0, 0, 0, 1, 1, 1])
R = np.array([9, 2, 30, 14, 5, 31, 12])
Y = np.random.default_rng(1).standard_normal(7)
TRIALS: Columns = (C, R, Y, np.full(7, MOVE / np.sqrt(2.0)))
WALK = np.full(7, MOVE)


def of_covariance() -> np.ndarray:
    """The precision of walks with unknown levels, from their covariance, (7, 7)."""
    found = np.zeros((7, 7))
    for k in (0, 1):
        mine = np.flatnonzero(k == C)
        inverse = np.linalg.inv(MOVE**2 * np.minimum.outer(R[mine], R[mine]))
        ones = np.ones(len(mine))
        level = inverse @ ones
        found[np.ix_(mine, mine)] = inverse - np.outer(level, level) / (ones @ level)
    return found


def test_a_walks_precision_is_the_inverse_of_its_covariance_without_the_levels() -> None:
    assert Walk.of(TRIALS, WALK).precise(np.eye(7)) == pytest.approx(of_covariance(), abs=1e-9)
    assert Walk.of(TRIALS, WALK).precise(Y) == pytest.approx(of_covariance() @ Y)


def test_a_matched_filter_over_a_walk_is_a_fit_that_knows_its_covariance() -> None:
    walk, precision = Walk.of(TRIALS, WALK), of_covariance()
    seen = MatchedFilter(C, R, np.ones(7), places=np.array([9, 20]), configurations=2, walk=walk)
    for k in (0, 1):
        for j, place in enumerate(seen.places):
            x = ((place <= R) & (k == C)).astype(float)
            assert seen.information[k, j] == pytest.approx(x @ precision @ x)
            assert seen.moment(Y)[k, j] == pytest.approx(x @ precision @ Y)


def test_of_a_walk_the_trials_nearest_to_a_place_tell_of_it() -> None:
    moved, variance, both = nearest(TRIALS, R < 10, R >= 13, 3, walk=WALK)
    assert both.tolist() == [True, True, False]
    assert moved[:2] == pytest.approx([Y[3] - Y[0], Y[5] - Y[4]])
    assert variance[:2] == pytest.approx([MOVE**2 * 5, MOVE**2 * 26])


def test_of_noise_all_trials_on_both_sides_tell() -> None:
    moved, variance, both = means(TRIALS, R < 13, R >= 13, 2)
    assert both.all() and moved[0] == pytest.approx(Y[[2, 3]].mean() - Y[[0, 1]].mean())
    assert variance == pytest.approx([MOVE**2 / 2, MOVE**2 * (0.25 + 0.5)])
