"""How far runs of the same code differ, and from when on that is the program's own doing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bot.model.noise import Noise


def test_a_disturbed_pair_in_ten_hardly_moves_the_spread_of_equal_runs() -> None:
    usual = np.random.default_rng(3).normal(0.0, 0.02, 90).tolist()
    noise = Noise.of_pairs("cpu", [*usual, *(10 * [1.5])])
    assert noise.pairs == 100
    assert noise.sd_percent == pytest.approx(2.0, rel=0.3) and abs(noise.bias_percent or 0.0) < 1.0


def test_pairs_without_a_value_do_not_count_and_of_two_nothing_is_known() -> None:
    noise = Noise.of_pairs("cpu", [0.1, math.nan, -0.1])
    assert (noise.pairs, noise.sd_percent, noise.bias_percent) == (2, None, None)


@pytest.mark.parametrize(
    ("spread", "pairs", "unsteady"),
    [(10.0, 5, True), (45.0, 300, True), (9.9, 300, False), (45.0, 4, False), (None, 2, False)],
)
def test_runs_are_unsteady_when_several_pairs_differ_by_more_than_machines_let_them(
    spread: float | None, pairs: int, unsteady: bool
) -> None:
    assert Noise(metric="cpu", pairs=pairs, sd_percent=spread, bias_percent=None).unsteady is unsteady
