"""Our search for change points: scans, names each step's term by contrasts, finds its place, looks again."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Self

import numpy as np

from bot.analysis.change_points.findings import told
from bot.analysis.change_points.steps import StepModel
from bot.analysis.change_points.terms import Terms
from bot.analysis.change_points.trials import TrialLog
from bot.flows.change_points.gaps import halved
from bot.flows.change_points.inquiry import Inquiry
from bot.flows.change_points.scan import Scan
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator

SWEEPS = 24
"""Times that the sum of steps is revised and tested at most."""
EPISODES = 4
"""Episodes looked for at most in one sweep."""
STEPS = 16
"""Steps looked for at most in one sweep."""
NOISE_PER_ROUND, MOST_ROUNDS = 0.005, 3
"""Rounds of further scanning: one for each 0.5 % of noise, at most three."""
UNIT_AGAIN = 1.5
"""Seconds or factors is asked again with so many times the trials: in the wrong one small steps never end."""
CHEAP = 1600
"""A round of so many trials that shows nothing new is the last one; with much noise a smaller one is not."""


class ChangePointFinder:
    """Change points over revisions and terms by active measurement; satisfies `ChangePointSearch`.

    Model: a trial's seconds are its configuration's level plus the sizes of all steps before its revision
    whose term it holds (or, where that fits better, all of these multiply), with noise whose scale is
    learned. A matched filter over all trials proposes steps; each is then named by contrasts between
    configurations measured just before and after it, chosen by expected information, and placed by bisection;
    what is explained is taken out, and the rest is looked at again, until nothing stands out in fresh
    configurations. See docs/how-it-decides.md.

    Args:
        space: options and constraints.
        revisions: length of the range.
        solver: of the space.
        rng: source of randomness.
        candidates: the only configurations that can be measured (a table's); None: all valid ones.
        trials, seconds: how many there will be, and how long they will take in all, at most.
        followed: whether another search looks at what this one does not explain: it ends when it is puzzled.
    """

    def __init__(
        self,
        space: Space,
        revisions: int,
        solver: ConstraintSolver,
        *,
        rng: np.random.Generator,
        candidates: Collection[Configuration] | None = None,
        trials: int | None = None,
        seconds: float = math.inf,
        followed: bool = False,
    ) -> None:
        self.space, self.revisions, self._followed = space, revisions, followed
        terms = Terms(space, possible=solver.possible, equivalent=solver.equivalent)
        self.log_ = TrialLog(space, terms.levels, logs=True)
        self.model_ = StepModel(self.log_, terms)
        self._configurator = Configurator(space, solver, rng=rng, candidates=candidates)
        most = math.inf if trials is None else trials
        self._scan = Scan(self.model_, self._configurator, revisions, rng=rng, trials=most, seconds=seconds)
        self._inquiry = Inquiry(self.model_, self._configurator, revisions, limit=self._scan.limit)
        self._script: Iterator[list[Probe]] | None = None
        self._pending: list[Probe] = []
        self._unanswered = 0

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        """What the trials so far show, in order of revision."""
        return told(self.model_, self.revisions)

    @property
    def noise_(self) -> float:
        """Relative standard deviation of a trial, as far as it is known."""
        return self.log_.scale

    def wishes(self) -> Sequence[Probe]:
        """The next trials; empty: nothing is left to learn."""
        if self._script is None:
            self._script = self._run()
            self._advance()
        return tuple(self._pending)

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        """Takes in any trials; the search goes on when as many came as were wished."""
        self.log_.add(observations)
        if self._script is not None and self._pending:
            self._unanswered -= len(observations)
            if self._unanswered <= 0:
                self._give_up_on_silence()
                self._advance()
        return self

    def _advance(self) -> None:
        """Runs the script up to its next wish for something that is not known to fail."""
        assert self._script is not None
        for wished in self._script:
            self._pending = [p for p in wished if self.log_.usable(p.configuration, p.revision)]
            self._unanswered = len(self._pending)
            if self._pending:
                return
        self._pending = []

    def _give_up_on_silence(self) -> None:
        """A wish that was answered by something else (a table's nearest) is not asked again."""
        for probe in self._pending:
            if not self.log_.known(probe.configuration, probe.revision):
                self.log_.unusable.add((self.log_.row(probe.configuration), probe.revision))

    def _run(self) -> Iterator[list[Probe]]:
        if self.revisions < 2:
            return
        yield from self._scan.first()
        if not len(self.log_):
            return
        if not self.model_.exact:
            self._scan.choose_unit(lambda _: self._sweep())
        yield from self._revised()

    def _revised(self) -> Iterator[list[Probe]]:
        """Sweeps until nothing new stands out, however often fresh configurations are scanned."""
        noise = round(self.log_.scale / NOISE_PER_ROUND)
        rounds = 1 if self.model_.exact else int(np.clip(noise, 1, MOST_ROUNDS))
        scanned, seen, fruitless, trials = 0, 0, 0, 0
        weighed = len(self.log_)
        before: set[tuple[object, int]] | None = None
        for sweep in range(SWEEPS):
            if self._followed and self._inquiry.puzzled:
                break
            yield from self._scan.choose_exact_unit()
            if self.model_.exact:
                yield from halved(self.model_)
            self._sweep()
            state: set[tuple[object, int]] = {(s.term, s.at) for s in self.model_.steps}
            more = len(self.log_) > UNIT_AGAIN * weighed
            if not self.model_.exact and (sweep == 1 or state == before or more):
                weighed = len(self.log_)
                self.log_.learn_scale()  # of few trials it was uncertain; noise taken for steps costs most
                changed = self._scan.choose_unit(self._inquiry.renamed, list(self.model_.steps))
                before = None if changed else before
            nothing_new = state == before and all(step.settled for step in self.model_.steps)
            if nothing_new and not self._passing():
                fruitless += scanned > 0 and len(state) <= seen
                patience = max(rounds - 1, 1) if len(self.log_) - trials < CHEAP else 1
                if scanned >= rounds or fruitless >= patience:
                    break
                scanned, seen, trials = scanned + 1, len(state), len(self.log_)
                yield from self._scan.again()
                continue
            before = state
            for step in sorted(self.model_.steps, key=lambda s: -abs(s.size) / max(s.error, 1e-300)):
                if self._followed and self._inquiry.puzzled:
                    break
                if step in self.model_.steps and not self._inquiry.fades(step):
                    yield from self._inquiry.settle(step)
                    self._inquiry.tidy()
        if not self.model_.exact:
            self.log_.learn_scale()  # of all trials: some configurations are far noisier than others
        self._inquiry.drop_unproven()

    def _sweep(self) -> None:
        """Steps that the trials so far show, without new ones."""
        # Without noise every unknown step disturbs the others beyond measure: one is settled at a time.
        for _ in range(1 if self.model_.exact else STEPS):
            step = self._inquiry.leader()
            if step is None:
                break
            self.model_.steps.append(step)
            for known in list(self.model_.steps):
                if not known.settled:
                    self._inquiry.revise(known)
            self._inquiry.tidy()

    def _passing(self) -> bool:
        """Adds episodes that the trials so far show beside the steps; whether there are any."""
        self.model_.fit()
        for number in range(EPISODES):
            found = self._inquiry.passing()
            if found is None:
                return number > 0
            self.model_.steps += found
            self.model_.fit()
        return True
