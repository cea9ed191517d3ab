from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.published.threshold import DEVIATIONS, noise_threshold, steps


def test_two_values_differ_when_they_are_further_apart_than_the_threshold() -> None:
    found = steps(np.array([1.0, 1.009, 1.02]), 0.01)
    assert found.tolist() == [[False, False, True], [False, False, True], [True, True, False]]


def test_the_smaller_of_two_values_is_the_measure_in_both_directions() -> None:
    assert steps(np.array([1.0, 1.105]), 0.1)[0, 1]
    assert steps(np.array([1.105, 1.0]), 0.1)[0, 1]


def test_noise_of_repeated_trials_becomes_a_threshold() -> None:
    rng = np.random.default_rng(1)
    repeated = [10 * rng.random() * (1 + 0.03 * rng.standard_normal(3)) for _ in range(500)]
    assert noise_threshold(repeated) == pytest.approx(DEVIATIONS * np.sqrt(2) * 0.03, rel=0.1)


def test_without_repetitions_noise_is_unknown_and_the_threshold_stays() -> None:
    assert noise_threshold([]) == 0.0
    assert noise_threshold([np.array([2.0, 2.0])]) == 0.0
