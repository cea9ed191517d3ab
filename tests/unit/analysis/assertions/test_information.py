"""The adjusted mutual information is that of its paper."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from bot.analysis.assertions.information import adjusted_mutual_information


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("calls", [20, 2000])
def test_it_is_what_scikit_learn_says_of_single_calls(noise: float, calls: int) -> None:
    rng = np.random.default_rng(3)
    one = rng.integers(0, 3, calls)
    other = np.where(rng.random(calls) < noise, rng.integers(0, 4, calls), one)
    table = np.zeros((3, 4))
    np.add.at(table, (one, other), 1)
    assert adjusted_mutual_information(table) == pytest.approx(
        adjusted_mutual_info_score(one, other), abs=1e-9
    )


def test_a_single_label_says_nothing() -> None:
    assert adjusted_mutual_information(np.array([[5.0, 7.0], [0.0, 0.0]])) == 0.0
    assert adjusted_mutual_information(np.zeros((0, 2))) == 0.0


def test_ten_million_calls_are_no_more_work_than_few() -> None:
    assert adjusted_mutual_information(np.array([[5e6, 0.0], [0.0, 5e6]])) == pytest.approx(1.0)
