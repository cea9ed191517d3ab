"""Programs in which one commit moves configurations by quite different shares, as lrzip's history has it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.change_points.truth import ExactTerms, TrueFailure, TrueStep
from bot.model.change_points import Observation, Probe
from bot.model.space import Option, Space, Term
from bot.sampling.constraints import ConstraintSolver

ALGORITHMS = ("bzip", "gzip", "lzo", "zpaq")  # at most one; without any there is a fifth
DEAREST = 20.0  # the slowest algorithm's time over the quickest one's
FACTOR = 1.3  # largest of a switch
STEP = (0.1, 0.5)  # share of its time by which a configuration moves in the mean
FASTER = 0.5
BY_ALGORITHM, BY_CONFIGURATION = (0.4, 1.6), (0.8, 1.2)  # times the mean share
NOISE = 0.01


@dataclass(frozen=True)
class Uneven:
    """switches: beside the algorithms. commits, steps: how many."""

    switches: int
    commits: int
    steps: int

    @property
    def name(self) -> str:
        """As the table has it."""
        return f"{self.commits}x{self.switches + len(ALGORITHMS)}, {self.steps}, noise {NOISE:g}"


class UnevenKind:
    """Log seconds = those of options + of each step so far, times a share of the configuration's own."""

    failures: tuple[TrueFailure, ...] = ()

    def __init__(self, cell: Uneven, rng: np.random.Generator) -> None:
        switches = [f"o{i}" for i in range(cell.switches)]
        self.commits = cell.commits
        options = tuple(Option(name, "flag", (False, True), False) for name in (*ALGORITHMS, *switches))
        apart = [f"not ({a} and {b})" for a in ALGORITHMS for b in ALGORITHMS if a < b]
        self.space = Space(options, tuple(apart))
        self.solver = ConstraintSolver(self.space)
        self._logs = np.concatenate(
            [
                rng.uniform(0.0, math.log(DEAREST), len(ALGORITHMS)),
                rng.uniform(-math.log(FACTOR), math.log(FACTOR), cell.switches),
            ]
        )
        terms = ExactTerms(self.space, self.solver)
        steps = []
        for revision in rng.choice(np.arange(3, cell.commits - 3), cell.steps, replace=False).tolist():
            term = terms.canonical(_term(switches, rng))
            share = float(rng.uniform(*STEP)) * (-1.0 if rng.random() < FASTER else 1.0)
            steps.append(TrueStep(revision, revision, term, share, change=math.log1p(share)))
        self.steps = tuple(sorted(steps, key=lambda step: step.low))
        self._of = rng.uniform(*BY_ALGORITHM, (cell.steps, len(ALGORITHMS) + 1))
        self._key, self._noise = int(rng.integers(2**32)), np.random.default_rng(rng.integers(2**32))

    def observe(self, probe: Probe) -> Observation:
        """One trial."""
        held = np.array([value is True for value in probe.configuration])
        logs = float(self._logs[held].sum()) + float(self._noise.normal(0.0, NOISE))
        for step, share in zip(self.steps, self._shares(held), strict=True):
            if probe.revision >= step.high and self.space.carries(step.term, probe.configuration):
                logs += step.change * share
        return Observation(probe, math.exp(logs))

    def _shares(self, held: np.ndarray) -> np.ndarray:
        """How far each step moves a configuration, times the mean."""
        algorithm = int(np.flatnonzero([*held[: len(ALGORITHMS)], True])[0])
        own = np.random.default_rng([self._key, *held.tolist()]).uniform(*BY_CONFIGURATION, len(self.steps))
        return self._of[:, algorithm] * own


def _term(switches: list[str], rng: np.random.Generator) -> Term:
    """Everything, an algorithm, all but one, a switch, or a switch with an algorithm."""
    algorithm, switch = str(rng.choice(ALGORITHMS)), str(rng.choice(switches))
    kinds = (), (algorithm,), (f"!{algorithm}",), (switch,), tuple(sorted((algorithm, switch)))
    return kinds[int(rng.integers(len(kinds)))]
