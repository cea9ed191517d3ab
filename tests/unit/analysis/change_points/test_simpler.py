"""Simpler explanations of steps at one place."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest

from bot.analysis.change_points.simpler import simplify
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.model.change_points import Observation, Probe
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(
    (
        Option("a", "flag", (False, True), False),
        Option("b", "flag", (False, True), False),
        Option("mode", "choice", ("x", "y", "z"), "x"),
    )
)
AT = 5
Names = tuple[str, ...]


def model(
    truth: Mapping[Names, float], told: Mapping[Names, float], *, space: Space = SPACE, noise: float = 0.01
) -> StepModel:
    """All configurations at ten revisions with true steps at revision 5, and the steps that are believed."""
    rng = np.random.default_rng(1)
    solver = ConstraintSolver(space)
    terms = Terms(space, possible=solver.possible, equivalent=solver.equivalent)
    log = TrialLog(space, terms.levels)
    for configuration in filter(solver.valid, product(*(option.values for option in space.options))):
        moved = sum(
            size
            for names, size in truth.items()
            if all(space.holds(space.level_of[n], configuration) for n in names)
        )
        log.add(
            [
                Observation(
                    Probe(configuration, r),
                    (2.0 + moved * (r >= AT)) * (1.0 + noise * float(rng.standard_normal())),
                )
                for r in range(10)
            ]
        )
    log.learn_scale()
    level_of = {str(level): level for level in terms.levels}
    steps = [Step(tuple(level_of[n] for n in names), AT, AT, AT, size) for names, size in told.items()]
    return StepModel(log, terms, steps)


@pytest.mark.parametrize(
    ("truth", "told"),
    [
        ({("a",): 0.5}, {("a", "b"): 0.5, ("!b", "a"): 0.5}),
        ({("a",): 0.5}, {("a", "mode=x"): 0.5, ("a", "mode=y"): 0.5, ("a", "mode=z"): 0.5}),
        ({("a",): 0.5, ("b",): -0.5}, {("!b", "a"): 0.5, ("!a", "b"): -0.5}),
        ({("!a",): 0.5, ("mode=y",): -0.5}, {("!a", "mode=x"): 0.5, ("a", "mode=y"): -0.5}),
        ({("a",): 0.5}, {(): 0.5, ("!a",): -0.5}),
        ({("a",): 0.5, ("b",): -0.5}, {("!a",): -0.5, ("!b",): 0.5}),
        ({("a", "mode=z"): 0.5, ("b", "mode=z"): -0.5}, {("!a", "mode=z"): -0.5, ("!b", "mode=z"): 0.5}),
    ],
    ids=[
        "halves",
        "pieces of a choice",
        "crossed",
        "crossed with a choice",
        "all but",
        "absent",
        "absent with a choice",
    ],
)
def test_steps_at_one_place_become_the_simplest_ones(
    truth: Mapping[Names, float], told: Mapping[Names, float]
) -> None:
    steps = model(truth, told)
    steps.fit()
    assert simplify(steps)
    steps.steps[:] = [s for s in steps.steps if abs(s.size) > 4 * s.error]
    assert {tuple(sorted(str(level) for level in s.term)) for s in steps.steps} == set(truth)


@pytest.mark.parametrize(
    "truth", [{("a", "b"): 0.5}, {("a",): 0.5, ("b",): 0.3}, {("a",): 0.5, ("a", "b"): -0.4}], ids=str
)
def test_what_is_as_simple_as_can_be_stays(truth: Mapping[Names, float]) -> None:
    steps = model(truth, truth)
    steps.fit()
    assert not simplify(steps)
    assert {tuple(sorted(str(level) for level in s.term)) for s in steps.steps} == set(truth)


def test_pieces_that_a_constraint_makes_of_a_level_become_the_level() -> None:
    space = Space(SPACE.options, ("a implies b",))
    steps = model({("!a",): 0.5}, {("!a", "b"): 0.5, ("!b",): 0.5}, space=space)
    steps.fit()
    assert simplify(steps)
    assert [[str(level) for level in s.term] for s in steps.steps] == [["!a"]]


def test_steps_that_could_not_be_simplified_are_looked_at_again_with_more_trials_only() -> None:
    steps = model({("a",): 0.5, ("b",): 0.3}, {("a",): 0.5, ("b",): 0.3})
    steps.fit()
    assert not simplify(steps)
    known = dict(steps.compared)
    assert known
    assert not simplify(steps)
    assert steps.compared == known
    configuration = steps.log.configurations[0]
    steps.log.add([Observation(Probe(configuration, r), 2.0 + r / 1000.0) for r in range(20)])
    assert not simplify(steps)
    assert steps.compared != known


def test_pieces_of_two_opposite_steps_are_told_as_two() -> None:
    truth = {("!a",): 0.5, ("b", "mode=x"): -0.5}
    pieces = {("!a", "!b"): 0.5, ("!a", "mode=y"): 0.5, ("!a", "mode=z"): 0.5, ("a", "b", "mode=x"): -0.5}
    known = model(truth, pieces)
    for step in known.steps:
        step.settled = True
    assert simplify(known)
    assert {known.terms.named(step.term) for step in known.steps} == set(truth)


def test_settled_steps_that_nothing_simpler_explains_stay_as_they_are() -> None:
    truth = {("a",): 0.5, ("b", "mode=x"): -0.3}
    known = model(truth, truth)
    for step in known.steps:
        step.settled = True
    before = list(known.steps)
    assert not simplify(known)
    assert known.steps == before


def test_a_confirmed_step_stays_confirmed_when_a_mere_proposal_beside_it_is_dropped() -> None:
    found = model({("a",): 0.4}, {("a",): 0.3})
    (step,) = found.steps
    step.settled, step.confirmed = True, (step.term, step.at)
    found.steps.append(Step(step.term, AT + 1, AT, AT + 2, 0.1))
    assert simplify(found)
    assert [(s.at, s.settled, s.confirmed) for s in found.steps] == [(AT, True, (step.term, AT))]
