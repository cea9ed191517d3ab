from __future__ import annotations

from math import inf, log, nan

import numpy as np
import pytest

from bot.analysis.assertions.checking_trials import (
    MEAN,
    TYPICAL,
    WITHIN,
    Features,
    LoggedCalls,
    calls_by_path,
    cleaned,
    features,
)
from bot.analysis.assertions.checking_words import percent, seconds, times
from bot.model.assertions import CallObservation
from tests.unit.analysis.assertions.checking_calls import READ, WRITE

BORDER = np.array([log(3e-3)])


def calls(fast: int, slow: int, factor: float = 1.0) -> LoggedCalls:
    return {READ: np.log(np.array([1e-3] * fast + [1e-2] * slow) * factor)}


def seen(*trials: LoggedCalls, like: Features | None = None, slow: float = 0.0) -> Features:
    clock = np.full(len(trials), slow)
    return features(trials, {READ: 1.0}, BORDER, clock=clock, like=like.levels if like else None)


def test_what_is_no_duration_is_counted_and_left_out() -> None:
    trials, wrong = cleaned([CallObservation(0, 1, {READ: np.array([1.0, nan, -1.0, inf, 1e12, 2.0])})])
    assert wrong == 4
    assert np.exp(trials[0][READ]) == pytest.approx([1.0, 2.0])


def test_a_call_shorter_than_the_clocks_tick_takes_half_of_it() -> None:
    trials, wrong = cleaned([CallObservation(0, 1, {READ: np.array([0.0, 1e-6]), WRITE: np.array([3e-6])})])
    assert wrong == 0
    assert np.exp(trials[0][READ]) == pytest.approx([5e-7, 1e-6])


def test_calls_are_counted_over_all_trials() -> None:
    assert calls_by_path([calls(3, 2), {}, calls(1, 0)]) == {READ: 6}


def test_shares_count_what_is_below_a_border() -> None:
    assert seen(calls(80, 20)).values[0, 0] == pytest.approx(0.8)


def test_a_share_that_moves_leaves_durations_within_clusters_alone() -> None:
    base = seen(calls(80, 20))
    head = seen(calls(40, 60), like=base)
    assert head.values[0, WITHIN] == pytest.approx(0.0)
    assert head.values[0, TYPICAL] - base.values[0, TYPICAL] == pytest.approx(0.4 * log(10.0))
    assert head.values[0, MEAN] - base.values[0, MEAN] == pytest.approx(log(6.4 / 2.8))


def test_calls_that_take_longer_are_seen_within_their_clusters() -> None:
    base = seen(calls(80, 20))
    assert seen(calls(40, 60, factor=1.5), like=base).values[0, WITHIN] == pytest.approx(log(1.5))


def test_on_the_clock_of_a_slow_trial_nothing_is_slow() -> None:
    base = seen(calls(80, 20))
    found = seen(calls(80, 20, factor=4.0), like=base, slow=log(4.0))
    assert found.values == pytest.approx(base.values)


def test_a_path_counts_by_its_weight_however_often_it_was_taken() -> None:
    one = {READ: np.full(10, log(1e-3)), WRITE: np.full(10, log(1e-2))}
    other = {READ: np.full(500, log(1e-3)), WRITE: np.full(10, log(1e-2))}
    both = features([one, other], {READ: 3.0, WRITE: 1.0}, BORDER, clock=np.zeros(2))
    assert both.values[0] == pytest.approx(both.values[1])
    assert both.values[0, 0] == pytest.approx(0.75)


def test_a_single_wild_call_moves_no_mean() -> None:
    wild = {READ: np.append(np.full(500, log(1e-3)), log(1e3))}
    assert seen(wild).values[0, MEAN] == pytest.approx(log(1e-3), abs=0.01)


def test_a_trial_with_one_call_says_nothing() -> None:
    assert np.isnan(seen(calls(1, 0), calls(5, 5)).values[0]).all()


def test_numbers_are_told_as_people_write_them() -> None:
    assert [percent(p) for p in (0.0, 0.004, 0.41, 1.0)] == ["0 %", "0.4 %", "41 %", "100 %"]
    assert [times(log(r)) for r in (0.45, 1.8, 12.3)] == ["0.45x", "1.8x", "12x"]
    assert [seconds(s) for s in (2.0, 0.07, 3.11e-6, 2.5e-8)] == ["2 s", "70 ms", "3.11 us", "25 ns"]
