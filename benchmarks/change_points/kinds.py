"""The other generators' systems, as the benchmark asks for them: with realised steps in exact terms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.change_points.published_systems import Cell, PublishedSystem
from benchmarks.change_points.systems import HardCell, HardSystem
from benchmarks.change_points.truth import ExactTerms, TrueFailure, TrueStep
from bot.model.change_points import Observation, Probe
from bot.sampling.constraints import ConstraintSolver


class PublishedKind:
    """A system of the published kind; the term of every step is already exact, for nothing is constrained."""

    failures: tuple[TrueFailure, ...] = ()

    def __init__(self, cell: Cell, rng: np.random.Generator) -> None:
        key = int(rng.integers(2**32))
        self._noisy = PublishedSystem(cell, np.random.default_rng(key))
        self._clean = PublishedSystem(replace(cell, cov=0.0), np.random.default_rng(key))
        assert self._noisy.truth == self._clean.truth
        self.commits, self.space = cell.commits, self._clean.space
        self.solver = ConstraintSolver(self.space)
        terms = ExactTerms(self.space, self.solver)
        self.steps: tuple[TrueStep, ...] = ()
        for revision, term in self._clean.truth:
            smallest = terms.smallest(term)
            before, after = (self._clean.seconds(Probe(smallest, r)) for r in (revision - 1, revision))
            # A term whose influence fell to almost nothing is multiplied again: nothing moves.
            if abs(after - before) > 1e-9:
                size = (after - before) / abs(before)
                step = TrueStep(revision, revision, tuple(sorted(term)), size, change=after - before)
                self.steps += (step,)

    def observe(self, probe: Probe) -> Observation:
        """One trial."""
        return Observation(probe, self._noisy.seconds(probe))


class SecondKind:
    """A hard system by another hand: nobody tunes to the peculiarities of one generator.

    Its sizes are relative to the median over valid configurations with the term, not to the smallest one.
    """

    def __init__(self, cell: HardCell, rng: np.random.Generator) -> None:
        self._system = HardSystem(cell, rng)
        self.commits, self.space = cell.commits, self._system.space
        self.solver = ConstraintSolver(self.space)
        terms = ExactTerms(self.space, self.solver)
        self.failures: tuple[TrueFailure, ...] = ()
        self.steps: tuple[TrueStep, ...] = tuple(
            TrueStep(
                low=self._first_unknown(step.revision),
                high=step.revision,
                term=terms.canonical(step.term),
                size=step.size,
                passing=step.shape == "transient",
                change=step.seconds,
            )
            for step in self._system.truth
        )

    def _first_unknown(self, revision: int) -> int:
        """The first revision after the last one before that builds."""
        anywhere = self.solver.default()
        while revision > 1 and not self._system.observe(Probe(anywhere, revision - 1)).built:
            revision -= 1
        return revision

    def observe(self, probe: Probe) -> Observation:
        """One trial."""
        return self._system.observe(probe)
