"""Episodes in trials that are too few and too far apart for a step."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bot.analysis.change_points.episodes import episode
from bot.analysis.change_points.steps import StepModel
from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(5)))
REVISIONS, FIRST, END = 1000, 500, 530


def model(size: float, *, odd: float = 0.0, seed: int = 0) -> StepModel:
    """A trial of random configurations every 20 revisions or so; o1 is slower in the episode.

    odd: share of trials that take half as long again, wherever they are.
    """
    rng = np.random.default_rng(seed)
    solver = ConstraintSolver(SPACE)
    terms = Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent)
    log = TrialLog(SPACE, terms.levels)
    for _ in range(16):
        configuration: Configuration = tuple(bool(v) for v in rng.integers(0, 2, len(SPACE.options)))
        places = np.sort(rng.choice(REVISIONS, 50, replace=False)).tolist()
        for r in places:
            moved = size if FIRST <= r < END and configuration[1] else 0.0
            factor = 1.0 + 0.01 * float(rng.standard_normal()) + 0.5 * float(rng.random() < odd)
            log.add([Observation(Probe(configuration, r), (1.0 + moved) * factor)])
    log.learn_scale()
    for configuration, r in log.odd():  # as the search does
        moved = size if FIRST <= r < END and configuration[1] else 0.0
        log.add(
            [
                Observation(
                    Probe(configuration, r), (1.0 + moved) * (1.0 + 0.01 * float(rng.standard_normal()))
                )
            ]
        )
    found = StepModel(log, terms)
    found.fit()
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [0.05, 0.3, -0.3])
def test_both_ends_are_proposed(size: float, seed: int) -> None:
    found = episode(model(size, seed=seed), REVISIONS, needed=3.0)
    assert found is not None
    first, end = found
    assert "o1" in {str(level) for level in first.term}  # contrasts name it
    assert first.low - 1 <= FIRST <= first.high + 1
    assert end.low - 1 <= END <= end.high + 1
    assert (first.partner, end.partner) == (end, first)


def test_where_it_was_looked_at_none_is_proposed_again() -> None:
    assert episode(model(0.05), REVISIONS, needed=3.0, shunned=[(490, 540)]) is None


@pytest.mark.parametrize("seed", range(5))
def test_single_odd_trials_are_no_episode(seed: int) -> None:
    assert episode(model(0.0, odd=0.01, seed=seed), REVISIONS, needed=3.0) is None


def test_too_few_revisions_have_no_episode() -> None:
    few = model(0.3)
    few.log = TrialLog(SPACE, few.terms.levels)
    few.log.add([Observation(Probe((False,) * 5, r), 1.0) for r in (0, 1)])
    assert episode(few, 2, needed=-math.inf) is None
