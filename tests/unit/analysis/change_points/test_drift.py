"""Slow drift that all configurations share is told from steps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(5)))
REVISIONS, AT = 500, 300


def model(*, relative: bool) -> StepModel:
    """Trials with a drift of 3 % to either side, and 0.1 more for o1 from revision 300 on."""
    rng = np.random.default_rng(0)
    solver = ConstraintSolver(SPACE)
    terms = Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent)
    log = TrialLog(SPACE, terms.levels)
    for _ in range(12):
        configuration: Configuration = tuple(bool(v) for v in rng.integers(0, 2, len(SPACE.options)))
        level = 1.0 + sum(value is True for value in configuration)
        for r in range(0, REVISIONS, 10):
            drift = 1.0 + 0.03 * math.sin(2.0 * math.pi * r / REVISIONS)
            moved = 0.1 * (level if relative else 1.0) * (configuration[1] is True and r >= AT)
            value = (level + moved) * drift * (1.0 + 0.005 * float(rng.standard_normal()))
            log.add([Observation(Probe(configuration, r), value)])
    log.relative = relative
    log.learn_scale()
    return StepModel(log, terms)


def best(model: StepModel) -> float:
    """Log posterior odds of one more step, wherever it is."""
    places, score = model.score(None)
    return float(score.max()) - math.log(len(places))


@pytest.mark.parametrize("relative", [False, True])
def test_with_drift_taken_out_nothing_but_the_step_stands_out(relative: bool) -> None:
    found = model(relative=relative)
    step = Step((found.terms.levels[2],), AT, AT, AT)
    assert str(step.term[0]) == "o1"
    found.steps[:] = [step]
    found.fit()
    assert best(found) > 30.0
    found.drifts = True
    left = found.fit()
    assert step.size == pytest.approx(0.1, rel=0.1)
    assert best(found) < 1.0
    assert left < 1.5 * len(found.log)
