"""Groups of call paths by how their calls fall into clusters, sure or not."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.assertions.grouping import groups

APART = np.eye(3)
"""Three paths that share no call edge."""


def test_an_unsteady_path_that_is_clearly_different_has_a_group_of_its_own() -> None:
    # Half of its calls are slower than the others when the machine is busy: its shares are not well known.
    fast = [[60, 0, 0]] * 6
    slow = [[0, 40, 0], [0, 10, 30]] * 3
    labels = groups(np.array([fast, slow], dtype=np.float64), APART[:2])
    assert labels[0] != labels[1]


def test_where_no_path_is_well_known_the_one_with_most_calls_is_the_measure() -> None:
    few = [[[3, 0], [2, 1], [3, 0]], [[4, 1], [5, 0], [4, 1]], [[0, 4], [0, 3], [0, 4]]]
    labels = groups(np.array(few, dtype=np.float64), APART)
    assert labels[0] == labels[1] != labels[2]


@pytest.mark.parametrize("calls", [3, 8])
def test_a_path_with_few_calls_joins_the_group_that_it_fits(calls: int) -> None:
    well = [[100, 0]] * 5, [[0, 100]] * 5
    rare = [[0, 1 if trial < calls else 0] for trial in range(5)]
    labels = groups(np.array([*well, rare], dtype=np.float64), APART)
    assert labels[2] == labels[1] != labels[0]
