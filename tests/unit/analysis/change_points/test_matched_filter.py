"""The matched filter against a fit of each step on its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bot.analysis.change_points.matched_filter import MatchedFilter
from bot.analysis.change_points.steps import SLAB, SMALL, Step, StepModel
from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.model.change_points import Observation, Probe
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

RNG = np.random.default_rng(3)


def test_moment_and_information_are_those_of_a_least_squares_step() -> None:
    c, r = RNG.integers(0, 3, 60), RNG.integers(0, 20, 60)
    w = RNG.uniform(0.5, 2.0, 60)
    y = RNG.standard_normal(60)
    mean = np.array([np.average(y[c == k], weights=w[c == k]) for k in range(3)])
    seen = MatchedFilter(c, r, w, places=np.array([5, 11]), configurations=3)
    for k in range(3):
        for j, place in enumerate(seen.places):
            mine = c == k
            x = np.where(r >= place, 1.0, 0.0)
            x = x - np.average(x[mine], weights=w[mine])
            assert seen.information[k, j] == pytest.approx((w * x * x)[mine].sum())
            assert seen.moment(y - mean[c])[k, j] == pytest.approx((w * x * y)[mine].sum())


def test_scores_stay_right_when_steps_are_added_and_when_trials_are() -> None:
    space = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(4)))
    solver = ConstraintSolver(space)
    terms = Terms(space, possible=solver.possible, equivalent=solver.equivalent)
    model = StepModel(TrialLog(space, terms.levels), terms)
    for _ in range(2):
        model.log.add([_trial(*RNG.integers(0, 2, 4), revision=int(RNG.integers(50))) for _ in range(200)])
        model.log.learn_scale()
        for step in (None, Step(terms.term(2), 25, 20, 30, size=0.2)):
            model.steps[:] = [] if step is None else [step]
            places, score = model.score(None)
            assert score == pytest.approx(_one_by_one(model, places), rel=1e-3, abs=1e-2)


def _trial(*on: int, revision: int) -> Observation:
    seconds = (1.0 + on[1] * (revision > 30)) * (1.0 + 0.05 * float(RNG.standard_normal()))
    return Observation(Probe(tuple(bool(v) for v in on), revision), seconds)


def _one_by_one(model: StepModel, places: np.ndarray) -> np.ndarray:
    """Log posterior of a step in each term at each place, in double precision and plain formulas."""
    same, moment, information = model.contrasts(None, None)
    assert (same == places).all()
    means = model.log.means()
    found = np.empty((len(places), len(model.terms)))
    for number in range(len(model.terms)):
        held = model.terms.cover(model.terms.term(number), model.log.holds)
        n, v = moment[held].sum(axis=0), information[held].sum(axis=0)
        gains = []
        for scale in (SLAB, SLAB * SMALL):
            slab = (scale * float(np.median(means))) ** -2
            gains.append(0.5 * n**2 / (v + slab) - 0.5 * np.log1p(v / slab))
        found[:, number] = np.maximum(*gains) - math.log(2.0) + model.terms.log_prior[number]
    return found
