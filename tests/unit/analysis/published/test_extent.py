from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.published.extent import interval, ratio


def test_the_interval_holds_the_hill_at_half_of_its_height() -> None:
    likelihood = np.full(100, 0.001)
    likelihood[40:45] = [0.1, 0.3, 0.4, 0.3, 0.1]
    assert interval(42, likelihood) == (41, 43)


def test_the_interval_holds_the_commit_whatever_the_likelihood_says() -> None:
    assert interval(7, np.zeros(20)) == (7, 7)
    steep = np.zeros(100)
    steep[50:60] = np.linspace(1, 1.9, 10)
    first, last = interval(50, steep)
    assert first == 50
    assert last == 59


def test_an_interval_may_touch_both_ends() -> None:
    assert interval(1, np.array([0.5, 0.5])) == (0, 1)


def test_the_ratio_is_after_over_before() -> None:
    commits = np.arange(0, 100, 5)
    histories = [(commits, s * np.where(commits >= 50, 1.2, 1.0)) for s in (1.0, 3.0, 5.0)]
    seen = ratio((46, 50), histories)
    assert seen is not None
    assert seen == pytest.approx((1.2, 1.2, 1.2))


def test_the_bounds_of_the_ratio_enclose_the_truth_under_noise() -> None:
    rng = np.random.default_rng(1)
    commits = np.arange(0, 100, 5)
    level = np.where(commits >= 50, 1.2, 1.0)
    seen = ratio((48, 52), [(commits, level * np.exp(0.03 * rng.standard_normal(20))) for _ in range(60)])
    assert seen is not None
    middle, low, high = seen
    assert low < middle < high
    assert low < 1.2 < high


def test_a_configuration_measured_on_one_side_only_says_nothing() -> None:
    assert ratio((50, 50), [(np.array([3, 9]), np.array([1.0, 1.0]))]) is None
    assert ratio((50, 50), []) is None
