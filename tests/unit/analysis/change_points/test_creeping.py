"""What crept between changes is placed, however large the changes are, and nothing is where all is level."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.change_points.creeping import Stretch, stretches
from bot.model.change_points import ChangePoint, Observation
from tests.unit.analysis.change_points.test_unexplained import CONFIGURATIONS, SPACE, TOLD, trials


def late(revision: int) -> float:
    """Half a per cent a revision from 16 to 28."""
    return 0.005 * min(max(revision - 16, 0), 12)


def test_what_crept_is_placed_where_it_did() -> None:
    (found,) = stretches(SPACE, trials(lambda c, r: late(r)), (), least=0.02)
    assert 12 <= found.first <= 16 and found.last == 28
    assert found.size == pytest.approx(np.log(1.06), abs=0.01)


def test_ups_and_downs_are_stretches_of_their_own() -> None:
    up, down = stretches(SPACE, trials(lambda c, r: 0.005 * min(r, 36 - r)), (), least=0.02)
    assert up.size > 0.05 and down.size < -0.05 and up.last <= 23 and down.first >= 13


def test_a_told_change_has_no_part_in_it_whatever_its_size() -> None:
    def jumped(configuration: tuple[object, ...], revision: int) -> float:
        return (0.3 if configuration[1] else 0.1) * bool(configuration[0] and revision >= 20)

    assert stretches(SPACE, trials(jumped), (TOLD,), least=0.02) == ()
    unsure = ChangePoint(20, (14, 26), (), (), 1.1, (1.09, 1.11), 1.0)
    assert stretches(SPACE, trials(lambda c, r: 0.1 * (r >= 16)), (unsure,), least=0.02) == ()
    crept = trials(lambda c, r: (1.0 + jumped(c, r)) * (1.0 + late(r)) - 1.0)
    assert [s.size for s in stretches(SPACE, crept, (TOLD,), least=0.02)] == [
        pytest.approx(np.log(1.06), abs=0.015)
    ]


def test_levels_noise_one_odd_trial_and_too_little_are_nothing() -> None:
    odd = trials(lambda c, r: 0.5 * (r == 36 and c == CONFIGURATIONS[3]))
    assert stretches(SPACE, trials(lambda c, r: 0.0), (), least=0.02) == ()
    assert stretches(SPACE, odd, (), least=0.02) == ()
    assert stretches(SPACE, trials(lambda c, r: late(r)), (), least=0.1) == ()
    assert stretches(SPACE, [], (), least=0.02) == ()
    assert stretches(SPACE, trials(lambda c, r: late(r))[:3], (), least=0.02) == ()


def test_without_noise_what_crept_is_placed_too() -> None:
    (found,) = stretches(SPACE, trials(lambda c, r: late(r), noise=0.0), (), least=0.02)
    assert found.size == pytest.approx(np.log(1.06), abs=0.005)


def test_ratios_are_level_with_the_anchor_which_has_no_trials() -> None:
    ratios = [
        Observation(o.probe, o.value / (1.0 + 0.2 * o.probe.configuration.count(True)))
        for o in trials(lambda c, r: 0.003 * min(r - 40, 0) * (r >= 20))
        if o.probe.revision in (20, 24, 28)
    ]
    assert stretches(SPACE, ratios, (), least=0.03) == ()
    (found,) = stretches(SPACE, ratios, (), least=0.03, anchor=40)
    assert found.last == 40 and found.size == pytest.approx(0.06, abs=0.02)
    assert isinstance(found, Stretch)
