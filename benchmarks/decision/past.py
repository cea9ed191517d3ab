"""Programs with a past: what changes often, how noisy each configuration is, and the nights that saw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

import numpy as np

from benchmarks.decision.world import (
    SAMPLES,
    SPACES,
    Draw,
    Floats,
    PullRequest,
    World,
    holds,
    noise,
    planted,
    world,
)
from bot.analysis.experience import Experience
from bot.flows.history.experience import expected
from bot.model.history import Measurements, RunRecord
from bot.model.recording import Recorder
from bot.model.report import RevisionRef
from bot.model.space import Configuration, Term
from bot.model.trials import Pair, Side, Trial, Wish
from bot.sampling.weighted import weighted_sample

NIGHTS = 60
"""Nights, each with one new revision."""
ASKED, PAIRS = 24, 3
"""Configurations of a night, and pairs of each: of the last tip and the new one."""
CHANGE = 0.3
"""Chance that a revision changes something."""
OFTEN = 0.8
"""Share of the changes that are in what changes often; the others are anywhere."""
SIZES = (0.02, 0.1)
"""Range of the changes in the past; one in three makes the program faster."""
WRONG = 3.0
"""By this factor, up or down, the noise of each configuration is told wrong."""
WRONG_SIZES = (0.2, 0.6)
"""Range of the changes in a past that misleads: ten times as large as those to come."""


@dataclass(frozen=True)
class Habits:
    """A program: its space, a noise source for each configuration, and four terms that change often."""

    world: World
    draws: dict[Configuration, Draw]
    often: tuple[Term, ...]
    weights: Floats

    def changed(self, rng: np.random.Generator) -> Term:
        """The term of the next change."""
        if rng.random() < OFTEN:
            return self.often[int(rng.choice(len(self.often), p=self.weights))]
        return culprit(self.world, tuple(self.draws)[:64], 1, rng)


def program(kind: str, rng: np.random.Generator) -> Habits:
    """Draws a program: three options and a pair of options change often, the first one most often."""
    w = world(int(rng.integers(SPACES)))
    every = list(dict.fromkeys(c for sample in w.samples for c in sample))
    draws = dict(zip(every, islice(noise(kind, rng), len(every)), strict=True))
    often: dict[Term, None] = {}
    while len(often) < 4:
        often[culprit(w, w.samples[0][:32], 2 if len(often) == 3 else 1, rng)] = None
    return Habits(w, draws, tuple(often), np.array([0.4, 0.2, 0.2, 0.2]))


def culprit(w: World, chosen: tuple[Configuration, ...], wide: int, rng: np.random.Generator) -> Term:
    """A term of one or two levels that a sample exercises."""
    sizes = {1: ((0.0,), ()), 2: ((), (0.0,))}[wide]
    while (found := planted(*sizes, w.space, chosen, rng)) is None:
        pass
    return next(iter(found))


def experience(habits: Habits, rng: np.random.Generator, *, wrong: bool = False) -> Experience:
    """What the history of a program lets expect; `wrong`: its noise and sizes are told wrong."""
    factor = {c: WRONG ** rng.choice([-1, 1]) if wrong else 1.0 for c in habits.draws}
    past = Measurements.concatenated(nights(habits, factor, WRONG_SIZES if wrong else SIZES, rng))
    places = {str(place): place for place in range(NIGHTS + 1)}
    w = habits.world
    return Experience({"cpu": expected(past, "cpu", w.space, places=places, solver=w.solver)})


def nights(
    habits: Habits, factor: dict[Configuration, float], sizes: tuple[float, float], rng: np.random.Generator
) -> list[Measurements]:
    """The runs of a program that keeps changing; `factor`: on the noise of each configuration."""
    every = list(habits.draws)
    runs = []
    for night in range(NIGHTS):
        truth = 0.0015 * rng.standard_normal(len(every))
        if rng.random() < CHANGE:
            term, size = habits.changed(rng), rng.uniform(*sizes) * rng.choice([1, 1, -1])
            uneven = 1 + rng.uniform(0.2, 0.4) * rng.standard_normal(len(every))
            truth += holds(habits.world.space, term, every) * np.log1p(size) * uneven
        recorder = Recorder()
        tips: dict[Side, RevisionRef] = {
            "base": RevisionRef(revision=str(night), label=""),
            "head": RevisionRef(revision=str(night + 1), label=""),
        }
        for i in rng.choice(len(every), ASKED, replace=False):
            for _ in range(PAIRS):
                base, log_ratio = habits.draws[every[i]]()
                head = base * float(np.exp(truth[i] + factor[every[i]] * log_ratio))
                first, second = (Trial("ok", {"cpu": seconds}, exit_code=0) for seconds in (base, head))
                recorder.pair(Pair(Wish(every[i]), first, second, 0.0), tips, habits.world.space)
        started = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=night)
        runs.append(recorder.measurements(RunRecord(id=str(night), mode="nightly", started=started)))
    return runs


def pull_request(
    habits: Habits,
    term: Term | None,
    size: float,
    configurations: int,
    *,
    rng: np.random.Generator,
    rare: Sequence[Term] = (),
    kind: str = "recorded",
) -> PullRequest:
    """A pull request on a program; no term: it changes nothing but the code's layout.

    rare: terms that the sample is to exercise. kind: of the noise in configurations that no night measured.
    """
    w = habits.world
    sample = w.samples[int(rng.integers(SAMPLES))][:configurations]
    if rare:  # with its own stream: what is drawn for the sample must not change what happened
        sample = tuple(weighted_sample(w.space, w.solver, configurations, terms=rare, rng=rng.spawn(1)[0]))
    fresh = noise(kind, rng.spawn(1)[0])
    n = len(sample)
    truth = rng.uniform(0, 0.003) * rng.choice([-1, 1]) + 0.0015 * rng.standard_normal(n)
    if term is not None:
        uneven = 1 + rng.uniform(0.2, 0.4) * rng.standard_normal(n)
        truth += holds(w.space, term, sample) * np.log1p(size) * uneven
    sizes = {} if term is None else {term: size}
    return PullRequest(w, sample, sizes, truth, [habits.draws.get(c) or next(fresh) for c in sample])
