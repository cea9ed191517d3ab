import numpy as np
import pytest

from bot.analysis.influences.overhead import overhead
from tests.unit.analysis.influences.programs import SPACE, drawn


def test_the_option_that_drives_the_overhead_is_named() -> None:
    rng = np.random.default_rng(4)
    configurations = tuple(drawn(80, rng))
    blocks = np.array([c[SPACE.index["blocks"]] for c in configurations], dtype=np.float64)
    unprofiled = 2.0 + rng.uniform(0, 1, 80)
    found = overhead(SPACE, configurations, profiled=unprofiled * (1.1 + 0.2 * blocks), unprofiled=unprofiled)
    assert found is not None
    assert [name for name, _ in found.drivers] == ["blocks"]
    assert found.drivers[0][1] > 0.95


def test_a_constant_factor_keeps_the_order_and_names_nothing() -> None:
    rng = np.random.default_rng(5)
    configurations = tuple(drawn(80, rng))
    unprofiled = rng.uniform(1, 5, 80)
    profiled = 1.3 * unprofiled * np.exp(rng.normal(0, 0.01, 80))
    found = overhead(SPACE, configurations, profiled=profiled, unprofiled=unprofiled)
    assert found is not None
    assert found.spearman > 0.98
    assert found.pearson > 0.98
    assert found.median == pytest.approx(1.3, rel=0.01)
    assert found.drivers == ()


def test_two_configurations_tell_nothing() -> None:
    configurations = tuple(drawn(2, np.random.default_rng(6)))
    assert overhead(SPACE, configurations, profiled=np.ones(2), unprofiled=np.ones(2)) is None
