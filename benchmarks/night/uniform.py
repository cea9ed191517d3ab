"""Uniform sampling: random trials of the last two days, read by the estimator that our nights use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.night.world import World
from bot.analysis.change_points.findings import told
from bot.analysis.change_points.rivals import rivals
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Term, Terms
from bot.flows.change_points.inquiry import Inquiry
from bot.flows.nights.log import NightLog
from bot.flows.nights.recall import KEPT, PROVEN, SURE, choose_unit, place
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.sampling.contrast import Configurator

PER_CONFIGURATION = 8
"""Trials of each configuration: with one each, nothing could be compared."""
STEPS, NAMINGS = 16, 3
MARGIN = 0.01
"""What is below it is not told, as with ours."""


def trials(world: World, night: int, count: int, rng: np.random.Generator) -> list[Observation]:
    """A night's uniformly random trials: fresh configurations, at revisions since the night before last."""
    first, last = world.tips[max(night - 2, 0)], world.tips[night]
    panel = rng.random((max(count // PER_CONFIGURATION, 4), world.options)) < 0.5
    picked = rng.integers(len(panel), size=count)
    revisions = rng.integers(first, last + 1, size=count)
    return [
        world.observe(Probe(tuple(bool(x) for x in panel[c]), int(r)), night)
        for c, r in zip(picked, revisions, strict=True)
    ]


def found(
    world: World, nights: Sequence[Sequence[Observation]], revisions: int, rng: np.random.Generator
) -> Sequence[ChangePoint]:
    """The change points that these nights' trials prove, by the same model, thresholds and prior."""
    solver = world.solver
    terms = Terms(world.space, possible=solver.possible, equivalent=solver.equivalent)
    log = NightLog(world.space, terms.levels)
    log.relative = True
    for night in nights:
        log.add_night(night)
    log.learn_scale()
    model = StepModel(log, terms)
    inquiry = Inquiry(model, Configurator(world.space, solver, rng=rng), revisions)
    for _ in range(STEPS):
        choose_unit(model)
        step = inquiry.leader()
        if step is None:
            break
        model.steps.append(step)
        for known in list(model.steps):
            _name(model, known, revisions)
        inquiry.tidy()
    model.fit()
    model.steps[:] = [s for s in model.steps if s.settled and abs(s.size) > KEPT * s.error]
    return [p for p in told(model, revisions) if abs(p.ratio - 1.0) >= MARGIN]


def _name(model: StepModel, step: Step, revisions: int) -> None:
    """Names a step by all trials, and finds its interval."""
    grown: list[Term] = []
    for _ in range(NAMINGS):
        grown = model.terms.grow(step.term, grown)
        named = rivals(model, step, float(revisions), grown)
        step.term, step.size, step.probability = named.terms[0], named.size, named.sure
    model.fit()
    place(model, step)
    step.settled = named.evidence > PROVEN + np.log(revisions) and named.sure > SURE
    step.confirmed = (step.term, step.at)
