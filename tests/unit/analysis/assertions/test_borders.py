"""Borders are found where calls part, nowhere else, and whatever a clock hands in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.analysis.assertions.borders import borders, match, placed, published_borders
from bot.model.assertions import Floats

SEED = 7


def two(calls: int = 4000, share: float = 0.5) -> Floats:
    rng = np.random.default_rng(SEED)
    slow = int(calls * share)
    return np.concatenate([rng.normal(10, 0.5, calls - slow), rng.normal(30, 2, slow)]) * 1e-6


def test_two_clusters_part_between_them() -> None:
    (border,) = borders(two())
    assert 12e-6 < border < 24e-6


@pytest.mark.parametrize("seed", range(5))
def test_a_border_lies_in_the_midst_of_a_valley_where_few_calls_stray(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fast, stray = rng.lognormal(0, 0.03, 290), rng.uniform(1.15, 1.9, 10)
    (border,) = borders(np.concatenate([fast, stray, rng.lognormal(np.log(30), 0.15, 200)]) * 1e-4)
    assert 1.9e-4 < border < 20e-4


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_share_of_slow_calls_does_not_hide_them(share: float) -> None:
    (border,) = borders(two(share=share))
    assert np.mean(two(share=share) > border) == pytest.approx(share, abs=0.001)


@pytest.mark.parametrize("kind", ["exponential", "lognormal", "pareto", "gamma"])
@pytest.mark.parametrize("tick", [0, 0.2])
def test_one_cluster_has_no_border(kind: str, tick: float) -> None:
    rng = np.random.default_rng(SEED)
    drawn = {
        "exponential": rng.exponential(1, 5000),
        "lognormal": rng.lognormal(0, 1, 5000),
        "pareto": rng.pareto(1.5, 5000) + 1,
        "gamma": rng.gamma(3, 1, 5000),
    }[kind]
    assert len(borders(np.floor(drawn / tick) * tick if tick else drawn)) == 0


def test_a_border_on_a_coarse_clock_lies_between_two_of_its_values() -> None:
    ticks = np.repeat([1, 2, 3, 4, 9, 10, 11], [50, 400, 300, 100, 100, 400, 200]) * 1e-6
    (border,) = borders(ticks)
    assert 4e-6 < border < 9e-6
    assert (border * 1e6) % 1 == pytest.approx(0.5)


@pytest.mark.parametrize("tick", [1e-7, 41.67e-9])
@pytest.mark.parametrize("started", [0.0, 1e5])
def test_values_of_a_clock_that_rounding_blurs_are_no_clusters(tick: float, started: float) -> None:
    rng = np.random.default_rng(SEED)
    begun = started * rng.random(20_000)
    calls = begun + np.round(np.floor(rng.gamma(3, 4, 20_000)) * tick, 9) - begun
    assert len(borders(calls)) == 0
    assert len(borders(np.concatenate([calls, calls + 400 * tick]))) == 1


def test_neighbouring_values_of_a_clock_are_one_cluster() -> None:
    assert len(borders(np.repeat([2e-7, 3e-7], [500, 500]))) == 0


def test_clusters_of_few_calls_are_none() -> None:
    calls = np.concatenate([two(10_000), np.full(150, 1e-3)])
    assert len(borders(calls)) == 1


@pytest.mark.parametrize("durations", [[], [1e-6], [1e-6] * 1000, [0.0] * 50, [np.nan, -1.0, np.inf]])
def test_what_has_no_clusters_has_no_borders(durations: list[float]) -> None:
    for find in (borders, published_borders):
        assert find(np.array(durations)).shape == (0,)


def test_what_a_clock_that_jumped_says_is_dropped() -> None:
    jumped = np.concatenate([two(), [-5.0, np.nan, np.inf, -np.inf]])
    assert borders(jumped) == pytest.approx(borders(two()))


def test_an_enormous_outlier_changes_nothing() -> None:
    (plain,) = borders(two())
    (border,) = borders(np.append(two(), 1e9))
    assert match(plain, border, np.sort(two()))


def test_calls_that_took_no_time_are_a_cluster_of_their_own() -> None:
    calls = np.concatenate([np.zeros(500), np.round(np.random.default_rng(SEED).normal(500, 20, 500))]) * 1e-9
    (border,) = borders(calls)
    assert 0 < border < 400e-9


@given(scale=st.floats(1e-9, 1e3), share=st.floats(0.2, 0.8))
@settings(max_examples=20, deadline=None)
def test_a_slower_machine_has_the_same_clusters(scale: float, share: float) -> None:
    here = two(2000, share)
    there = here * scale / here.mean()
    assert np.mean(there < borders(there)[0]) == pytest.approx(np.mean(here < borders(here)[0]), abs=0.02)
    assert len(borders(there)) == len(borders(here)) == 1


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=200))
@settings(max_examples=100, deadline=None)
def test_anything_gives_ascending_borders_within_it(durations: list[float]) -> None:
    calls = np.array(durations, dtype=np.float64)
    found = borders(calls)
    assert (np.diff(found) > 0).all()
    valid = calls[np.isfinite(calls) & (calls >= 0)]
    assert all(valid.min() < b < valid.max() for b in found)


def test_borders_match_by_the_calls_between_them() -> None:
    ordered = np.arange(100.0)
    assert match(10, 11, ordered)
    assert not match(10, 11.5, ordered)
    assert match(1e6, 2e6, ordered)


def test_published_borders_are_minima_of_the_slope_and_the_leftmost_represents() -> None:
    rising = np.concatenate([np.repeat([0.5, 9.5], [500, 480]), [4.5] * 10, [6.5] * 10, [0.0, 10.0]])
    found = published_borders(rising, bins=10)
    assert found[0] == pytest.approx(2.0)
    assert len(found) == 1


def test_a_place_moves_to_the_gap_nearby() -> None:
    ordered = np.sort(np.concatenate([np.linspace(1, 2, 500), np.linspace(8, 9, 500)]))
    (border,) = placed(ordered, np.array([0.49]))
    assert 2 < border < 8
