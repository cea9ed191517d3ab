"""Robust location and scale of paired log ratios."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.analysis.pairs import PairLog, locations, scales


def log_of(values: np.ndarray) -> PairLog:
    log = PairLog(len(values))
    for row, pairs in enumerate(values):
        for value in pairs:
            log.add(row, float(value))
    return log


def test_pairs_are_kept_in_order_beyond_the_first_buffer() -> None:
    values = np.arange(80.0).reshape(2, 40)
    log = log_of(values)
    assert (log.values == values).all()
    assert log.counts.tolist() == [40, 40]


@pytest.mark.parametrize("pairs", [3, 6, 12, 40])
def test_the_scale_of_normal_noise_is_its_standard_deviation(pairs: int) -> None:
    rng = np.random.default_rng(1)
    log = log_of(0.02 * rng.standard_normal((300, pairs)))
    assert np.median(scales(log.values, log.counts, 0.001)) == pytest.approx(0.02, rel=0.1)


def test_a_noisy_configuration_gets_a_larger_scale_than_a_quiet_one() -> None:
    rng = np.random.default_rng(2)
    values = rng.standard_normal((10, 30)) * np.where(np.arange(10) < 5, 0.01, 0.04)[:, None]
    log = log_of(values)
    scale = scales(log.values, log.counts, 0.001)
    assert scale[5:].min() > 1.5 * scale[:5].max()


def test_identical_values_have_the_floor_as_their_scale() -> None:
    log = log_of(np.zeros((4, 10)))
    assert scales(log.values, log.counts, 0.001) == pytest.approx(0.001)


def test_one_pair_of_one_configuration_leaves_the_scale_unknown_and_large() -> None:
    log = log_of(np.array([[0.001]]))
    assert scales(log.values, log.counts, 0.001)[0] > 0.05


def test_one_wild_pair_moves_the_location_little() -> None:
    rng = np.random.default_rng(3)
    values = 0.02 * rng.standard_normal((8, 12))
    wild = values.copy()
    wild[0, 3] = np.log(10.0)
    calm, upset = (locations(v, np.full(8, 12), np.full(8, 0.02))[0][0] for v in (values, wild))
    assert abs(upset - calm) < 0.006


def test_stated_variances_are_the_variances_of_heavy_tailed_means() -> None:
    rng = np.random.default_rng(4)
    log = log_of(0.02 * rng.standard_t(4, (2000, 8)))
    place, variance = locations(log.values, log.counts, scales(log.values, log.counts, 0.001))
    assert np.mean(variance) == pytest.approx(np.var(place), rel=0.15)


def test_a_configuration_without_pairs_has_infinite_variance() -> None:
    log = PairLog(2)
    log.add(0, 0.01)
    log.add(0, 0.02)
    _, variance = locations(log.values, log.counts, scales(log.values, log.counts, 0.001))
    assert np.isfinite(variance[0])
    assert np.isinf(variance[1])


@given(st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=20), st.floats(-0.3, 0.3))
def test_location_follows_a_shift_and_a_change_of_sign(values: list[float], shift: float) -> None:
    row = np.array([values])
    n = np.array([len(values)])
    scale = np.array([0.05])
    place = locations(row, n, scale)[0][0]
    assert locations(row + shift, n, scale)[0][0] == pytest.approx(place + shift, abs=1e-3)
    assert locations(-row, n, scale)[0][0] == pytest.approx(-place, abs=1e-9)
