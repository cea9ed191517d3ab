from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.analysis.published.likelihood import DISTANCE_POWER, change_point_likelihood
from bot.analysis.published.threshold import steps


def test_a_step_seen_by_two_commits_is_spread_over_those_between_them() -> None:
    likelihood = change_point_likelihood(np.array([2, 6]), np.array([1.0, 2.0]), n_commits=10, threshold=0.1)
    assert likelihood.tolist() == [0, 0, 0, 0.25, 0.25, 0.25, 0.25, 0, 0, 0]


def test_a_fully_measured_step_peaks_at_the_first_commit_with_the_new_performance() -> None:
    values = np.where(np.arange(50) >= 20, 1.5, 1.0)
    likelihood = change_point_likelihood(np.arange(50), values, n_commits=50, threshold=0.1)
    assert np.argmax(likelihood) == 20
    assert (np.diff(likelihood[1:21]) > 0).all()
    assert (np.diff(likelihood[20:]) < 0).all()


def test_the_first_commit_that_can_change_and_the_last_one_are_found() -> None:
    for step in (1, 29):
        values = np.where(np.arange(30) >= step, 1.5, 1.0)
        likelihood = change_point_likelihood(np.arange(30), values, n_commits=30, threshold=0.1)
        assert np.argmax(likelihood) == step


def test_no_difference_is_no_evidence() -> None:
    flat = change_point_likelihood(np.arange(9), np.ones(9), n_commits=9, threshold=0.01)
    single = change_point_likelihood(np.array([3]), np.array([1.0]), n_commits=9, threshold=0.01)
    none = change_point_likelihood(np.zeros(0, dtype=np.int64), np.zeros(0), n_commits=9, threshold=0.01)
    assert not flat.any()
    assert not single.any()
    assert not none.any()


@given(
    st.dictionaries(st.integers(0, 39), st.floats(0.5, 2.0), min_size=2, max_size=20),
    st.floats(0.0, 0.5),
)
def test_it_is_the_sum_over_all_pairs_around_a_commit_normalised(
    history: dict[int, float], threshold: float
) -> None:
    commits = np.array(sorted(history))
    values = np.array([history[int(c)] for c in commits])
    expected = np.zeros(40)
    different = steps(values, threshold)
    for i, a in enumerate(commits):
        for j, b in enumerate(commits):
            if a < b and different[i, j]:
                expected[a + 1 : b + 1] += 1 / float(b - a) ** DISTANCE_POWER
    likelihood = change_point_likelihood(commits, values, n_commits=40, threshold=threshold)
    assert likelihood.sum() == pytest.approx(1.0 if expected.any() else 0.0)
    assert likelihood == pytest.approx(expected / max(expected.sum(), 1e-300), abs=1e-12)
    assert (likelihood >= 0).all()
