"""What is noise, and what is a step that several configurations share."""

from __future__ import annotations

import numpy as np

from bot.analysis.change_points.noise import agreeing, walking

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


RNG = np.random.default_rng(7)
APART = np.where(np.arange(120) % 3 == 0, 1, RNG.integers(10, 40, 120))
PLACES = np.zeros(120, dtype=np.intp)
STILL = np.ones(120, dtype=bool)


def test_values_that_each_revision_moves_a_little_walk_however_many_differences_hold_a_step() -> None:
    moved = RNG.normal(0.0, 0.002 * np.sqrt(APART))
    moved[(APART > 1) & (RNG.random(120) < 0.4)] += 0.1
    scale, walk = walking(PLACES, PLACES + APART, moved, STILL)
    assert 0.0012 < walk < 0.0032 and 0.0008 < scale < 0.0022


def test_noise_of_each_revision_is_no_walk_however_many_differences_hold_a_step() -> None:
    moved = RNG.normal(0.0, 0.01, 120)
    moved[(APART > 1) & (RNG.random(120) < 0.4)] += 0.1
    assert walking(PLACES, PLACES + APART, moved, STILL) == (0.0, 0.0)


def test_counts_that_stay_as_they_are_between_steps_do_not_walk() -> None:
    moved = np.where((APART > 1) & (RNG.random(120) < 0.9), 0.1, 0.0)
    assert walking(PLACES, PLACES + APART, moved, STILL) == (0.0, 0.0)


def test_without_neighbours_at_which_nothing_is_known_to_have_moved_nothing_is_said_of_a_walk() -> None:
    moved = RNG.normal(0.0, 0.002 * np.sqrt(APART))
    assert walking(PLACES, PLACES + APART, moved, APART > 1) == (0.0, 0.0)
