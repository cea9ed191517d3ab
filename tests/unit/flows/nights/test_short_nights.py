"""Nights that end amid their first block of comparisons, each of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bot.model.change_points import Probe
from bot.model.space import Option, Space
from tests.unit.flows.nights.test_small_programs import nights

SPACE = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(10)))
AT, TERM, FIRST = 45, ("o3",), 50
"""A change, and the first tip that holds it."""


def seconds(probe: Probe) -> float:
    """Each option costs something; one of them costs 12 % of the whole more since a commit."""
    moved = 0.12 if probe.revision >= AT and probe.configuration[3] else 0.0
    return 1.0 + moved + sum(0.02 * (i + 1) for i, on in enumerate(probe.configuration) if on)


def told(trials: int, noise: float, seed: int) -> int | None:
    """The tip of the first night that tells the change as what it is; None: none of ten."""
    rng = np.random.default_rng(seed)
    played = nights(
        SPACE, 130, rng, lambda p: seconds(p) * math.exp(noise * rng.standard_normal()), most=trials
    )
    shown = (
        tip for tip, night in played if (AT, TERM) in {(p.revision, p.term) for p in night.change_points_}
    )
    return next(shown, None)


@pytest.mark.parametrize(("noise", "within"), [(0.0, 2), (0.02, 4)])
def test_nights_that_end_amid_their_first_block_settle_what_earlier_ones_left_unclear(
    noise: float, within: int
) -> None:
    found = [told(40, noise, seed) for seed in range(6)]
    assert None not in found
    assert sum(tip is not None and tip < FIRST + 10 * within for tip in found) >= 5
