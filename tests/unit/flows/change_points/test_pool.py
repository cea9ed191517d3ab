"""Which configurations may tell a step's term from its rivals."""

from __future__ import annotations

import math

import numpy as np

from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.flows.change_points.pool import contrasting
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator

FLAGS = tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(8))
SPACE = Space(FLAGS, ("not (o6 and o7)",))


def on(*flags: int) -> Configuration:
    return tuple(i in flags for i in range(len(FLAGS)))


def pool(*trials: tuple[Configuration, float]) -> list[Configuration]:
    """Around a step of the first flag."""
    solver = ConstraintSolver(SPACE)
    terms = Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent)
    log = TrialLog(SPACE, terms.levels)
    log.add([Observation(Probe(configuration, 0), seconds) for configuration, seconds in trials])
    choose = Configurator(SPACE, solver, rng=np.random.default_rng(1))
    return contrasting(choose, log, [(SPACE.level_of["o0"],), (SPACE.level_of["o1"],)])


def test_what_was_measured_before_is_among_them_and_what_failed_is_not() -> None:
    worked, failed = on(2, 4), on(0, 2, 3, 5)
    found = pool((worked, 1.0), (failed, math.nan))
    assert worked in found and failed not in found


def test_what_a_constraint_forbids_since_it_was_measured_is_none_of_them() -> None:
    assert on(3, 6, 7) not in pool((on(3, 6, 7), 1.0), (on(2, 4), 1.0))
