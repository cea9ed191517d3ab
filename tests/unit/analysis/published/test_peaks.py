from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.analysis.published.peaks import LONG, N_CPL, peak_threshold, peaks, uncertain


def _hill(n_commits: int, *centres: int, width: int = 1) -> NDArray[np.float64]:
    likelihood = np.zeros(n_commits)
    for centre in centres:
        likelihood[centre - width // 2 : centre + width // 2 + 1] += 1
    normalised: NDArray[np.float64] = likelihood / likelihood.sum()
    return normalised


def test_the_threshold_is_the_average_plus_deviations() -> None:
    likelihood = _hill(LONG, 30)
    deviation = np.sqrt(((likelihood - 1 / LONG) ** 2).mean())
    assert peak_threshold(likelihood[None])[0] == pytest.approx(1 / LONG + N_CPL * deviation)


def test_each_configuration_gives_its_own_peaks() -> None:
    found = peaks(np.array([_hill(200, 30, width=5), _hill(200, 90), _hill(200, 30, 150)]))
    assert found.tolist() == [30, 90, 30, 150]


def test_a_broad_hill_does_not_stand_out() -> None:
    assert not len(peaks(_hill(200, 100, width=60)[None]))


def test_the_ends_of_the_range_can_be_peaks() -> None:
    assert peaks(np.array([_hill(100, 1), _hill(100, 99)])).tolist() == [1, 99]


def test_no_evidence_is_no_peak() -> None:
    assert not len(peaks(np.zeros((3, 50))))


def test_a_history_of_two_commits_can_have_a_peak() -> None:
    assert peaks(np.array([[0.0, 1.0]])).tolist() == [1]


def test_uncertain_commits_lie_between_the_average_and_a_deviation_above_it() -> None:
    likelihood = np.array([[0.05, 0.5, 0.15, 0.05, 0.05, 0.05, 0.05, 0.0, 0.05, 0.05]])
    assert np.flatnonzero(uncertain(likelihood)[0]).tolist() == [2]
