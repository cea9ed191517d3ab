"""What is noise, and what is a step that several configurations share."""

from __future__ import annotations

import numpy as np

from bot.analysis.change_points.noise import agreeing

ENDS = np.tile([0, 9], 8)
NEAR = np.arange(15) % 2 == 0


def steady(after: np.ndarray, before: np.ndarray | float = 1.0) -> bool:
    values = np.stack([np.broadcast_to(before, 8), after], axis=1).ravel()
    return agreeing(ENDS, values, NEAR)


def test_the_same_share_or_amount_in_several_configurations_is_a_step() -> None:
    levels = np.linspace(1.0, 3.0, 8)
    assert steady(np.full(8, 1.1))
    assert steady(1.1 * levels, levels)
    assert steady(0.1 + levels, levels)


def test_moves_that_differ_are_noise() -> None:
    assert not steady(1.0 + np.random.default_rng(0).normal(0.0, 0.01, 8))


def test_two_configurations_that_move_alike_may_do_so_by_chance() -> None:
    moves = np.random.default_rng(0).normal(0.0, 0.01, 8)
    moves[1] = moves[0]
    assert not steady(1.0 + moves)
