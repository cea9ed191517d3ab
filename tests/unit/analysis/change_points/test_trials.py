"""Which trials count: outliers, odd ones, and values that were carried on from another revision."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.model.change_points import Observation, Probe
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(name, "flag", (False, True), default=False) for name in "ab"))
OFF = (False, False)


def log(values: Iterable[tuple[int, float]]) -> TrialLog:
    """Trials of one configuration, with noise of 1 % that is known."""
    solver = ConstraintSolver(SPACE)
    found = TrialLog(SPACE, Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent).levels)
    found.scale = 0.01
    found.add([Observation(Probe(OFF, r), value) for r, value in values])
    return found


def steady(*places: int) -> list[tuple[int, float]]:
    return [(r, 1.0 + 0.001 * (k % 3) + 1e-6 * k) for k, r in enumerate(places)]


def test_a_trial_far_from_its_neighbours_is_odd_and_one_of_two_is_not() -> None:
    assert log([*steady(0, 10, 30, 40), (20, 1.3)]).odd() == [(OFF, 20)]
    assert not log([*steady(0, 10, 30, 40), (20, 1.3), (20, 1.31)]).odd()


def test_the_first_and_the_last_trial_may_be_odd_too() -> None:
    assert log([(0, 1.3), *steady(10, 20, 30)]).odd() == [(OFF, 0)]
    assert log([*steady(0, 10, 20), (30, 0.7)]).odd() == [(OFF, 30)]


def test_an_odd_end_does_not_count_once_its_repetition_disagrees() -> None:
    def revisions(*trials: tuple[int, float]) -> list[float]:
        return sorted(log([*steady(10, 20, 30), *trials]).columns()[2].tolist())

    assert max(revisions((0, 1.3))) == 1.3
    assert max(revisions((0, 1.3), (0, 1.0005))) < 1.1
    assert max(revisions((40, 1.3))) == 1.3
    assert max(revisions((40, 1.3), (40, 1.0005))) < 1.1
    assert max(revisions((40, 1.3), (40, 1.301))) > 1.3


def test_between_two_revisions_of_one_value_nothing_new_is_to_be_had() -> None:
    known = log([(0, 1.0), (30, 1.01)])
    known.add([Observation(Probe(OFF, 37), 1.01)])
    assert [r for r in range(25, 45) if not known.usable(OFF, r)] == list(range(30, 38))
    assert len(known) == 2


def test_equal_values_with_another_between_them_are_chance() -> None:
    known = log([(0, 1.0), (30, 1.01), (33, 1.02)])
    known.add([Observation(Probe(OFF, 37), 1.01)])
    assert [r for r in range(25, 45) if not known.usable(OFF, r)] == [37]


def test_the_noise_of_a_quick_configuration_is_a_share_of_its_own_time() -> None:
    rng = np.random.default_rng(3)
    slow, quick = (True, True), (False, False)
    solver = ConstraintSolver(SPACE)
    levels = Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent).levels
    found = TrialLog(SPACE, levels, logs=True)
    found.relative = True
    for configuration, seconds in ((slow, 1e5), (quick, 1.0)):
        noisy = seconds * np.exp(0.02 * rng.standard_normal(40))
        found.add([Observation(Probe(configuration, k // 2), float(y)) for k, y in enumerate(noisy)])
    found.learn_scale()
    c, _, _, sd = found.columns()
    assert [float(sd[c == k].mean()) for k in (0, 1)] == pytest.approx([0.02, 0.02], rel=0.3)


def test_trials_that_were_asked_again_because_they_were_odd_do_not_tell_the_noise() -> None:
    rng = np.random.default_rng(5)
    places = np.repeat(np.arange(0, 120, 4), 2)
    disturbed = (np.arange(60) % 2 == 0) & (np.arange(60) % 3 > 0)  # the first one of two, at most places
    seconds = np.exp(0.01 * rng.standard_normal(60)) * np.where(disturbed, 1.3, 1.0)
    found = log(zip(places.tolist(), seconds.tolist(), strict=True))
    found.learn_scale()
    assert found.scale == pytest.approx(0.01, rel=0.3)
