from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bot.sampling.published.commits import exploit_commits, explore_commits, first_commits, shares

NONE = np.zeros(0, dtype=np.int64)


def test_a_new_configuration_starts_with_both_ends_and_commits_of_its_own() -> None:
    rng = np.random.default_rng(1)
    one = first_commits(1000, 30, barred=NONE, rng=rng)
    two = first_commits(1000, 30, barred=NONE, rng=rng)
    assert len(one) == len(two) == 30
    assert one[0] == two[0] == 0
    assert one[-1] == two[-1] == 999
    assert set(one[1:-1]) != set(two[1:-1])


def test_commits_that_cannot_be_built_are_left_out() -> None:
    found = first_commits(10, 10, barred=np.array([0, 4, 9]), rng=np.random.default_rng(1))
    assert found.tolist() == [1, 2, 3, 5, 6, 7, 8]
    assert not len(first_commits(3, 3, barred=np.arange(3), rng=np.random.default_rng(1)))


def test_exploration_halves_the_widest_gap_first() -> None:
    assert explore_commits(np.array([0, 40, 99]), 3, n_commits=100) == [69, 20, 84]


def test_exploration_reaches_the_ends_when_they_were_never_tried() -> None:
    assert explore_commits(np.array([90]), 1, n_commits=100) == [0]
    assert explore_commits(np.array([10]), 1, n_commits=100) == [99]
    assert explore_commits(NONE, 1, n_commits=100) == [0]


@given(st.sets(st.integers(0, 19)), st.integers(0, 30))
def test_exploration_never_repeats_and_ends_when_all_is_tried(tried: set[int], count: int) -> None:
    found = explore_commits(np.array(sorted(tried), dtype=np.int64), count, n_commits=20)
    assert len(found) == min(count, 20 - len(tried))
    assert len(set(found) | tried) == len(found) + len(tried)
    assert set(found) <= set(range(20))


def test_exploitation_draws_untried_uncertain_commits() -> None:
    uncertain = np.zeros(20, dtype=bool)
    uncertain[5:10] = True
    found = exploit_commits(uncertain, np.array([5, 6, 15]), 2, rng=np.random.default_rng(1))
    assert len(set(found)) == 2
    assert set(found) <= {7, 8, 9}
    rest = exploit_commits(uncertain, np.array([5, 6, 15]), 9, rng=np.random.default_rng(1))
    assert sorted(rest) == [7, 8, 9]


def test_fewer_trials_than_configurations_are_still_dealt() -> None:
    found = shares(7, 10, rng=np.random.default_rng(1))
    assert found.sum() == 7
    assert found.max() == 1
    assert sorted(shares(23, 10, rng=np.random.default_rng(1))) == [2] * 7 + [3] * 3
