from __future__ import annotations

import numpy as np

from bot.analysis.published.clusters import candidate_commits


def test_peaks_around_two_commits_become_two_candidates() -> None:
    rng = np.random.default_rng(3)
    found = candidate_commits(np.concatenate((rng.integers(97, 104, 60), rng.integers(397, 404, 30))), 500)
    assert len(found) == 2
    assert abs(found[0] - 100) <= 2
    assert abs(found[1] - 400) <= 2


def test_a_single_peak_is_a_candidate() -> None:
    assert candidate_commits(np.array([42]), 100).tolist() == [42]


def test_peaks_at_the_ends_are_candidates() -> None:
    assert candidate_commits(np.array([1, 1, 1, 99, 99, 99]), 100).tolist() == [1, 99]


def test_no_peaks_no_candidates() -> None:
    assert not len(candidate_commits(np.zeros(0, dtype=np.int64), 100))
