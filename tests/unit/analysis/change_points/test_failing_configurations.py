"""Configurations of which no trial ended well say nothing, however many they are."""

import math

from bot.analysis.change_points.steps import StepModel
from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.model.change_points import Observation, Probe
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(name, "flag", (False, True), default=False) for name in "abc"))


def model(*observations: Observation) -> StepModel:
    solver = ConstraintSolver(SPACE)
    terms = Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent)
    log = TrialLog(SPACE, terms.levels)
    log.add(observations)
    return StepModel(log, terms)


def test_the_usual_level_is_that_of_configurations_that_ended_well() -> None:
    good = [Observation(Probe((False, False, False), r), 2.0 + r / 1000) for r in range(9)]
    failed = [
        Observation(Probe((True, b, c), 0), math.nan) for b in (False, True) for c in (False, True)
    ]  # fmt: skip
    assert model(*good, *failed).slab == model(*good).slab


def test_a_level_is_there_even_when_nothing_ended_well() -> None:
    assert math.isfinite(model(Observation(Probe((True, True, True), 0), math.nan)).slab)
