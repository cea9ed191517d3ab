from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from benchmarks.change_points.uneven import (
    ALGORITHMS,
    BY_ALGORITHM,
    BY_CONFIGURATION,
    NOISE,
    Uneven,
    UnevenKind,
)
from bot.model.change_points import Probe
from bot.model.space import Configuration

CELL = Uneven(switches=3, commits=200, steps=4)
TRIALS = 40


def level(system: UnevenKind, configuration: Configuration, revision: int) -> float:
    """The median of some trials, in log seconds."""
    return float(
        np.median(
            [np.log(system.observe(Probe(configuration, revision)).value) for _ in range(TRIALS)],
        )
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_step_moves_what_holds_its_term_by_uneven_shares_and_nothing_else(seed: int) -> None:
    system = UnevenKind(CELL, np.random.default_rng(seed))
    assert len(system.steps) == CELL.steps
    valid = [
        c
        for c in product((False, True), repeat=len(system.space.options))
        if sum(value is True for value in c[: len(ALGORITHMS)]) <= 1
    ]
    for step in system.steps:
        shares = []
        for c in valid[::3]:
            move = level(system, c, step.high) - level(system, c, step.high - 1)
            if system.space.carries(step.term, c):
                shares.append(move / step.change)
            else:
                assert abs(move) < NOISE
        room = NOISE / abs(step.change)
        assert min(shares) > BY_ALGORITHM[0] * BY_CONFIGURATION[0] - room
        assert max(shares) < BY_ALGORITHM[1] * BY_CONFIGURATION[1] + room
        assert len({round(share, 2) for share in shares}) > 1


def test_a_configuration_moves_by_the_same_share_whatever_was_asked_before() -> None:
    one, other = (UnevenKind(CELL, np.random.default_rng(7)) for _ in range(2))
    configuration = tuple(False for _ in one.space.options)
    level(other, configuration, 3)
    step = one.steps[0]
    assert one.steps == other.steps
    for revision in (step.high - 1, step.high):
        assert abs(level(one, configuration, revision) - level(other, configuration, revision)) < NOISE
