"""Nights that end amid their first block of comparisons, each of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bot.flows.nights.past import NIGHTS
from bot.flows.nights.search import NightSearch
from bot.flows.nights.window import Window
from bot.model.change_points import Observation, Probe
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(10)))
SOLVER = ConstraintSolver(SPACE)
TIPS = range(30, 130, 10)
AT, TERM = 45, ("o3",)


def seconds(probe: Probe) -> float:
    """Each option costs something; one of them costs 12 % of the whole more since a commit."""
    moved = 0.12 if probe.revision >= AT and probe.configuration[3] else 0.0
    return 1.0 + moved + sum(0.02 * (i + 1) for i, on in enumerate(probe.configuration) if on)


def told(trials: int, noise: float, seed: int) -> int | None:
    """The tip of the first night that tells the change as what it is; None: none of ten."""
    rng = np.random.default_rng(seed)
    past: list[list[Observation]] = []
    for i, tip in enumerate(TIPS):
        reference, previous = (TIPS[max(i - n, 0)] if i else 0 for n in (2, 1))
        window = Window(tip + 1, reference=reference, previous=previous)
        night = NightSearch(SPACE, window, SOLVER, rng=rng).remember(past[-NIGHTS:])
        tonight: list[Observation] = []
        while len(tonight) < trials and (wished := night.wishes()[: trials - len(tonight)]):
            seen = [Observation(p, seconds(p) * math.exp(noise * rng.standard_normal())) for p in wished]
            tonight += seen
            night.partial_fit(seen)
        past.append(tonight)
        if {(p.revision, p.term) for p in night.change_points_} >= {(AT, TERM)}:
            return tip
    return None


@pytest.mark.parametrize(("noise", "within"), [(0.0, 2), (0.02, 4)])
def test_nights_that_end_amid_their_first_block_settle_what_earlier_ones_left_unclear(
    noise: float, within: int
) -> None:
    first = next(tip for tip in TIPS if tip >= AT)
    found = [told(40, noise, seed) for seed in range(6)]
    assert None not in found
    assert sum(tip is not None and tip < first + 10 * within for tip in found) >= 5
