"""What the search asks of a step that it proposed, and what it learns from a refusal."""

from __future__ import annotations

from itertools import product

import numpy as np

from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.flows.change_points.doubts import doubtful
from bot.flows.change_points.inquiry import AGAIN, PATIENCE, Inquiry
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator

SPACE = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(5)))
REVISIONS = 300


def asking(seed: int = 0) -> tuple[Inquiry, StepModel]:
    """Many trials that were slower with o1 from revision 150 on."""
    rng = np.random.default_rng(seed)
    solver = ConstraintSolver(SPACE)
    terms = Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent)
    model = StepModel(TrialLog(SPACE, terms.levels), terms)
    for _ in range(40):
        configuration: Configuration = tuple(bool(v) for v in rng.integers(0, 2, len(SPACE.options)))
        for r in range(0, REVISIONS, 6):
            slower = 0.3 * (configuration[1] is True and r >= 150)
            model.log.add([trial(Probe(configuration, r), 1.0 + slower, rng)])
    model.log.learn_scale()
    return inquiry_of(model), model


def inquiry_of(model: StepModel) -> Inquiry:
    choose = Configurator(SPACE, ConstraintSolver(SPACE), rng=np.random.default_rng(2))
    return Inquiry(model, choose, REVISIONS)


def trial(probe: Probe, seconds: float, rng: np.random.Generator) -> Observation:
    return Observation(probe, seconds * (1.0 + 0.01 * float(rng.standard_normal())))


def test_what_fresh_trials_refuse_is_soon_looked_for_elsewhere_and_then_no_more() -> None:
    inquiry, model = asking()
    rng = np.random.default_rng(1)
    windows: list[tuple[int, int]] = []
    while (step := inquiry.leader()) is not None:
        assert "o1" in map(str, step.term)  # on some processors with another one that rounding favours
        windows.append((step.low, step.high))
        model.steps.append(step)
        for wished in inquiry.settle(step):
            model.log.add([trial(probe, 1.0, rng) for probe in wished])  # it is as quick as ever now
        assert not model.steps
    assert AGAIN < len(windows) <= PATIENCE + 1
    low, high = windows[AGAIN]
    assert high < windows[0][0] or windows[0][1] < low


def test_what_fresh_trials_show_again_is_kept_with_its_place() -> None:
    inquiry, model = asking()
    rng = np.random.default_rng(1)
    step = inquiry.leader()
    assert step is not None
    model.steps.append(step)
    for wished in inquiry.settle(step):
        slower = [0.3 * (p.configuration[1] is True and p.revision >= 147) for p in wished]
        model.log.add([trial(p, 1.0 + more, rng) for p, more in zip(wished, slower, strict=True)])
    assert [(s.low, s.at, s.high) for s in model.steps] == [(147, 147, 147)]
    assert step.confirmed == (step.term, 147)


def test_a_window_begins_after_the_first_measured_revision() -> None:
    _, model = asking()
    log = model.log
    model.log = TrialLog(SPACE, model.terms.levels)
    c, r, y, _ = log.columns()
    kept = [k for k in range(len(c)) if r[k] >= 120]
    moved = [float(y[k]) + 0.3 * (r[k] >= 126) for k in kept]
    model.log.add(
        [
            Observation(Probe(log.configurations[c[k]], int(r[k])), value)
            for k, value in zip(kept, moved, strict=True)
        ]
    )
    model.log.learn_scale()
    step = inquiry_of(model).leader()
    assert step is not None
    assert step.low >= 121


def test_what_a_step_does_not_let_expect_is_asked_once_more_and_what_it_does_is_not() -> None:
    rng = np.random.default_rng(3)
    for late in (0.0, 0.7):  # of a trial that was disturbed
        inquiry, model = asking()
        step = inquiry.leader()
        assert step is not None
        model.steps.append(step)
        held = next(c for c in product((False, True), repeat=5) if c[1] and c not in model.log.place)
        contrast = [Probe(held, step.low - 1), Probe(held, step.high)]
        model.log.add([trial(contrast[0], 1.0, rng), trial(contrast[1], 1.3 + late, rng)])
        model.fit()
        again = doubtful(model, step, contrast, 3.0)
        assert again == (contrast if late else [])


def test_what_another_step_explains_better_is_no_longer_asked_about() -> None:
    inquiry, model = asking()
    found = inquiry.leader()
    assert found is not None
    echo = Step(tuple(x for x in model.terms.levels if str(x) in ("o1", "o2")), 174, 169, 180)
    model.steps += [echo, found]
    assert inquiry.fades(echo) and not inquiry.fades(found)
    assert model.steps == [found]
