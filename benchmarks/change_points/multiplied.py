"""Programs whose options multiply their time, some by a lot; noise may differ between configurations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.change_points.truth import ExactTerms, TrueFailure, TrueStep
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Option, Space, Term
from bot.sampling.constraints import ConstraintSolver

DEGREES = (0.4, 0.45, 0.15)  # how many of the changing terms have 0, 1, 2 levels
STEP = (0.08, 0.4)
FASTER = 0.35
UNEVEN, TAIL = (0.005, 0.065), 4.0  # scales of configurations, and degrees of freedom of Student's t


@dataclass(frozen=True)
class Factors:
    """options, commits, steps: how many. spread: largest factor of an option. uneven: else noise is 2 %."""

    options: int
    commits: int
    steps: int
    spread: float
    uneven: bool = False

    @property
    def name(self) -> str:
        """As the table has it."""
        noise = "uneven noise" if self.uneven else "noise .02"
        return f"{self.commits}x{self.options}, {self.steps}, factors to {self.spread:g}, {noise}"


class MultipliedKind:
    """Seconds = product of the factors of options and of steps so far, times noise."""

    failures: tuple[TrueFailure, ...] = ()

    def __init__(self, cell: Factors, rng: np.random.Generator) -> None:
        names = [f"o{i:02d}" for i in range(cell.options)]
        self.commits = cell.commits
        self.space = Space(tuple(Option(name, "flag", (False, True), False) for name in names), ())
        self.solver = ConstraintSolver(self.space)
        self._logs = rng.uniform(0.0, math.log(cell.spread), cell.options)
        self._cell = cell
        terms = ExactTerms(self.space, self.solver)
        steps = []
        for revision in rng.choice(np.arange(3, cell.commits - 3), cell.steps, replace=False).tolist():
            degree = int(rng.choice(len(DEGREES), p=DEGREES))
            term = tuple(sorted(str(name) for name in rng.choice(names, degree, replace=False)))
            share = float(rng.uniform(*STEP)) * (-1.0 if rng.random() < FASTER else 1.0)
            steps.append(TrueStep(revision, revision, terms.canonical(term), share, change=math.log1p(share)))
        self.steps = tuple(sorted(steps, key=lambda step: step.low))
        self._noise = np.random.default_rng(rng.integers(2**32))
        self._scales: dict[Configuration, float] = {}

    def observe(self, probe: Probe) -> Observation:
        """One trial."""
        held = probe.configuration
        seconds = float(self._logs[[value is True for value in held]].sum()) + self._error(held)
        seconds += sum(s.change for s in self.steps if probe.revision >= s.high and self._holds(s.term, held))
        return Observation(probe, math.exp(seconds))

    def _error(self, configuration: Configuration) -> float:
        if not self._cell.uneven:
            return float(self._noise.normal(0.0, 0.02))
        scale = self._scales.setdefault(configuration, float(self._noise.uniform(*UNEVEN)))
        return scale * float(self._noise.standard_t(TAIL))

    def _holds(self, term: Term, configuration: Configuration) -> bool:
        return self.space.carries(term, configuration)
