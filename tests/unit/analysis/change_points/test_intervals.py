"""The interval of a step's ratio: where it is in most configurations, not where noise lets the median be."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from bot.analysis.change_points.intervals import ratio
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Level, Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(name, "flag", (False, True), False) for name in "abcdef"))
COSTS = np.array([0.0, 1.5, 0.8, 0.4, 0.2, 0.1])
ALL = [c for c in product((False, True), repeat=6) if c[0]]
AT, NOISE = 5, 0.005

Moved = Callable[[Configuration, float], float]


def level(configuration: Configuration) -> float:
    return 2.0 + float(COSTS @ np.array(configuration, dtype=np.float64))


def told(moved: Moved, *, logs: bool = False, noise: float = NOISE) -> tuple[float, tuple[float, float]]:
    """What is told of a step of `a`, by which a configuration of a level takes so many seconds more."""
    rng, solver = np.random.default_rng(2), ConstraintSolver(SPACE)
    terms = Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent)
    log = TrialLog(SPACE, terms.levels, logs=logs)
    for c, r in product(ALL, range(10)):
        seconds = level(c) + moved(c, level(c)) * (r >= AT)
        log.add([Observation(Probe(c, r), seconds * (1.0 + noise * float(rng.standard_normal())))])
    log.learn_scale()
    found = StepModel(log, terms, [Step((Level("a", "on"),), AT, AT, AT)])
    found.fit()
    return ratio(found, found.steps[0])


def within(moved: Moved, interval: tuple[float, float]) -> float:
    """Share of the configurations whose ratio is in an interval."""
    ratios = np.array([1.0 + moved(c, level(c)) / level(c) for c in ALL])
    return float(np.mean((interval[0] <= ratios) & (ratios <= interval[1])))


def seconds(_: Configuration, __: float) -> float:
    return 0.4


def share(_: Configuration, before: float) -> float:
    return 0.15 * before


def mostly_with_b(configuration: Configuration, before: float) -> float:
    return (0.2 if configuration[1] else 0.1) * before


def only_with_b(configuration: Configuration, before: float) -> float:
    return 0.3 * before if configuration[1] else 0.0


@pytest.mark.parametrize("moved", [seconds, mostly_with_b])
@pytest.mark.parametrize("logs", [False, True])
def test_the_interval_holds_the_ratios_of_most_configurations(moved: Moved, logs: bool) -> None:
    middle, interval = told(moved, logs=logs)
    assert interval[0] < middle < interval[1]
    assert within(moved, interval) >= 0.85 and interval[1] - interval[0] < 0.2


@pytest.mark.parametrize("logs", [False, True])
def test_where_all_configurations_move_by_the_same_share_the_interval_is_narrow(logs: bool) -> None:
    _, (low, high) = told(share, logs=logs)
    assert low < 1.15 < high and high - low < 0.02


def test_without_noise_the_interval_is_what_configurations_differ_by() -> None:
    middle, interval = told(seconds, noise=0.0)
    assert middle == pytest.approx(1.0 + np.mean([0.4 / level(c) for c in ALL]), abs=1e-3)
    assert within(seconds, interval) >= 0.85


def test_where_half_of_the_configurations_move_the_ratio_is_their_mean_and_not_nothing() -> None:
    middle, interval = told(only_with_b)
    assert middle == pytest.approx(1.15, abs=0.02) and interval[0] < 1.0 and interval[1] > 1.3


def test_more_noise_makes_the_interval_wider() -> None:
    narrow, wide = told(share)[1], told(share, noise=10 * NOISE)[1]
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])


def much_slower(configuration: Configuration, before: float) -> float:
    return (2.7 if configuration[1] and configuration[2] else 0.9) * before


@pytest.mark.parametrize("logs", [False, True])
def test_what_is_far_slower_in_some_configurations_is_not_said_to_be_faster_in_any(logs: bool) -> None:
    middle, interval = told(much_slower, logs=logs)
    assert 1.0 < interval[0] < 1.9 < middle < 3.7 < interval[1]
