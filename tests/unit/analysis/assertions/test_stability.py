"""Stable borders, the first stable observation and the utility are those of the paper's algorithms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bot.analysis.assertions.stability import every, first_stable, stable_borders, utility
from bot.model.assertions import CallObservation, Floats

PATH = ("main", "read")


def observed(start: float, levels: Sequence[float], *, length: float = 1.0) -> CallObservation:
    rng = np.random.default_rng(int(start))
    calls = np.concatenate([rng.normal(level, 0.02 * level, 500) for level in levels])
    return CallObservation(start, start + length, {PATH: calls})


def night(*kinds: Sequence[float]) -> list[CallObservation]:
    return [observed(float(10 * i), levels) for i, levels in enumerate(kinds)]


def test_a_border_of_all_observations_is_stable() -> None:
    (border,) = stable_borders(night(*[(1, 5)] * 10))
    assert 1.1 < border < 4.5


def test_nine_of_ten_observations_suffice_and_eight_do_not() -> None:
    assert len(stable_borders(night(*[(1, 5)] * 9, (1,)))) == 1
    assert len(stable_borders(night(*[(1, 5)] * 8, (1,), (1,)))) == 0


def test_borders_are_matched_by_share_of_calls_not_by_seconds() -> None:
    edges = iter([2.0, 3.0, 4.0, 2.5])

    def wandering(durations: Floats) -> Floats:
        return np.array([next(edges)])

    assert len(stable_borders(night(*[(1, 5)] * 4), find=wandering)) == 1


def test_the_stable_stretch_ends_at_the_first_observation_with_another_border() -> None:
    series = night((1, 4, 9), (1, 9), (1, 9), (1, 9))
    assert first_stable(series, stable_borders(series[1:])) is series[1]
    assert first_stable(series[:1], np.zeros(0)) is None
    assert first_stable([], np.zeros(0)) is None


def test_an_observation_without_a_border_fits_any() -> None:
    series = night((1,), (1, 9), (1, 9))
    assert first_stable(series, stable_borders(series[1:])) is series[0]


def test_utility_is_time_since_over_time_stable() -> None:
    series = night(*[(1, 5)] * 10)
    assert utility(series, now=91.0) == pytest.approx(0.0)
    assert utility(series, now=91.0 + 45.5) == pytest.approx(0.5)
    assert utility(series, now=1e6) == 1.0
    assert utility(series, now=50.0) == 0.0


def test_utility_is_full_when_the_newest_differs_or_nothing_was_seen() -> None:
    assert utility(night(*[(1, 5)] * 9, (1, 3, 9)), now=91.0) == 1.0
    assert utility([], now=5.0) == 1.0


def test_one_observation_is_as_stable_as_it_is_long() -> None:
    assert utility([observed(0, (1, 5), length=4.0)], now=5.0) == pytest.approx(0.25)


def test_only_the_last_ten_make_the_borders_but_the_stretch_may_be_longer() -> None:
    series = night(*[(1, 5)] * 30)
    assert utility(series, now=291.0 + 29.1) == pytest.approx(0.1)


def test_observations_without_calls_have_no_borders() -> None:
    empty = CallObservation(0, 1, {})
    assert every([empty]).shape == (0,)
    assert len(stable_borders([empty])) == 0
    assert len(stable_borders([])) == 0
    assert utility([empty], now=2.0) == 1.0
