from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bot.analysis.assertions.checking_shifts import (
    LEAST_TRIALS,
    RATIO_MARGIN,
    Shift,
    combined,
    shift,
)
from bot.analysis.assertions.checking_trials import WITHIN, Features, Levels

LEVELS = Levels(np.zeros(1), np.zeros(1))


def features(within: list[float], noise: float = 0.0) -> Features:
    """Trials of a method without borders of which all three times are the same."""
    values = np.repeat(np.array(within)[:, None], 3, axis=1)
    return Features(values, np.full_like(values, noise), LEVELS)


def moved(base: list[float], head: list[float], noise: float = 0.0) -> Shift:
    return shift(features(base, noise), features(head, noise))


def test_four_trials_that_agree_by_chance_are_no_proof() -> None:
    found = moved([0.0] * 4, [0.05] * 4)
    assert found.estimate[WITHIN] == pytest.approx(0.05)
    assert found.chance[WITHIN] > 0.01


def test_calls_that_are_few_are_no_proof_either() -> None:
    many, few = moved([0.0] * 4, [0.5] * 4), moved([0.0] * 4, [0.5] * 4, noise=0.2)
    assert many.chance[WITHIN] < 1e-4
    assert few.chance[WITHIN] > 0.05


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.3])
def test_p_values_are_right_when_nothing_is_different(noise: float) -> None:
    rng = np.random.default_rng(1)
    drawn = noise * rng.standard_normal((9000, 8))
    chances = np.array([moved(d[:4].tolist(), d[4:].tolist()).chance[WITHIN] for d in drawn])
    for level in (0.05, 0.01):
        assert (chances <= level).mean() < 1.9 * level


def test_one_disturbed_trial_widens_the_interval_and_moves_nothing_beyond_the_margin() -> None:
    quiet, loud = moved([0.0] * 4, [0.0] * 4), moved([0.0] * 4, [0.0, 0.0, 0.0, 1.0])
    assert loud.reach[WITHIN] > 1.3 * quiet.reach[WITHIN]
    assert loud.beyond[WITHIN] < 0.0 < moved([0.0] * 4, [1.0] * 4).beyond[WITHIN]


def test_one_disturbed_trial_hides_no_change_of_all_others() -> None:
    disturbed = moved([0.0, 0.02, 0.4, -0.02], [0.4, 0.42, 0.4, 0.38])
    assert disturbed.estimate[WITHIN] == pytest.approx(0.4, abs=0.05)
    assert disturbed.beyond[WITHIN] > 0.0


def test_trials_that_all_differ_count_as_they_are() -> None:
    found = moved([0.0, 0.3, -0.3, 0.6], [0.1, 0.5, -0.4, 0.2])
    assert found.estimate[WITHIN] == pytest.approx(-0.05)


@pytest.mark.parametrize("trials", [0, 1, 2])
def test_without_enough_trials_nothing_is_known(trials: int) -> None:
    found = moved([0.0] * trials, [5.0] * 4)
    assert not found.known
    assert np.isinf(found.error).all()
    assert found.more_trials() >= LEAST_TRIALS - trials


def test_a_trial_without_calls_is_not_counted() -> None:
    assert moved([0.0, 0.0, 0.0, np.nan], [0.0] * 4).trials == (3, 4)


@given(st.floats(0.0, 2.0), st.floats(0.0, RATIO_MARGIN))
def test_more_noise_never_asks_for_fewer_trials(noise: float, move: float) -> None:
    base, head = [0.0, noise, -noise, 0.0], [move, move - noise, move + noise, move]
    asked, calmer = moved(base, head).more_trials(), moved([0.0] * 4, [move] * 4).more_trials()
    assert asked >= calmer >= 0


@given(st.floats(1e-9, 0.9))
def test_one_p_value_stays_itself_however_often_it_is_told(chance: float) -> None:
    assert combined(np.array([chance])) == pytest.approx(chance, rel=1e-3)
    assert combined(np.full(7, chance)) == pytest.approx(chance, rel=1e-3)


def test_combined_p_values_are_right_when_they_depend_on_each_other() -> None:
    rng = np.random.default_rng(2)
    common = rng.standard_normal((20_000, 1)) * 0.8 + rng.standard_normal((20_000, 6)) * 0.6
    chances = 2.0 * stats.norm.sf(np.abs(common))
    found = np.array([combined(row) for row in chances])
    assert (found <= 0.01).mean() < 0.013
