from __future__ import annotations

import pytest

from bot.analysis.published.cache import E_DECREASE, HEAVIEST, T_DROP, SolutionCache


def _after(*solutions: list[tuple[int, int]]) -> SolutionCache:
    cache = SolutionCache()
    for solution in solutions:
        cache = cache.updated(solution)
    return cache


def test_an_association_gains_weight_while_it_is_found() -> None:
    assert dict(_after([(10, 2)]).weights) == {(10, 2): E_DECREASE}
    assert dict(_after([(10, 2)], [(10, 2)]).weights) == {(10, 2): (E_DECREASE + 1) * E_DECREASE}
    assert _after(*[[(10, 2)]] * 60).weights[0][1] == pytest.approx(HEAVIEST)


def test_what_is_seen_once_is_dropped_after_three_iterations_without_it() -> None:
    assert dict(_after([(10, 2)], [], []).weights) == {(10, 2): T_DROP}
    assert _after([(10, 2)], [], [], []).weights == ()


def test_sightings_within_five_commits_are_one_that_moves_along() -> None:
    assert [pair for pair, _ in _after([(10, 2)], [(15, 2)]).weights] == [(15, 2)]
    assert [pair for pair, _ in _after([(10, 2)], [(16, 2)]).weights] == [(10, 2), (16, 2)]


def test_the_same_commit_with_another_option_is_another_association() -> None:
    assert [pair for pair, _ in _after([(10, 2)], [(10, 3)]).weights] == [(10, 2), (10, 3)]


def test_it_is_stable_when_nothing_was_added_or_dropped_and_everything_was_confirmed() -> None:
    assert not _after(*[[(10, 2)]] * 3).stable
    assert _after(*[[(10, 2)]] * 4).stable
    assert not _after(*[[(10, 2)]] * 4, [(10, 2), (50, 1)]).stable
    assert not _after(*[[(10, 2)]] * 4, *[[(10, 2), (50, 1)]] * 3).stable
    assert _after(*[[(10, 2)]] * 4, *[[(10, 2), (50, 1)]] * 4).stable


def test_an_association_not_seen_lately_keeps_it_from_being_stable() -> None:
    faded = _after(*[[(10, 2), (50, 1)]] * 4, *[[(10, 2)]] * 2)
    assert faded.unchanged == 5
    assert not faded.stable


def test_a_drop_starts_the_count_again() -> None:
    dropped = _after([(50, 1), (10, 2)], *[[(10, 2)]] * 3)
    assert dropped.unchanged == 0
    assert not dropped.stable


def test_an_empty_cache_is_not_stable() -> None:
    assert not _after(*[[]] * 9).stable
