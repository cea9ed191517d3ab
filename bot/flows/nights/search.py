"""What a night asks: is the tip what it was, which term moved and where, and what was never looked at."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Self

import numpy as np

from bot.analysis.change_points.findings import told
from bot.analysis.change_points.scale import NO_NOISE
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Terms
from bot.flows.change_points.gaps import halved
from bot.flows.change_points.scan import Scan
from bot.flows.machines.drift import anchored, speed
from bot.flows.nights.block import next_block
from bot.flows.nights.ends import SENTINEL_TRIALS, alone, as_before, ends_of, moved_on
from bot.flows.nights.inquiry import NightInquiry
from bot.flows.nights.known import LookedAt
from bot.flows.nights.log import NightLog
from bot.flows.nights.recall import choose_unit, doubt_crowds, drop_weak, odd_night_out, recall, withdrew_twin
from bot.flows.nights.sight import below, odd, seen_enough, smallest, unsettled
from bot.flows.nights.window import Window, inwards
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.space import Configuration, Level, Space, Term
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator

ANCHOR_TRIALS = 3
"""Trials of the emptiest and of the fullest configuration at the anchor, each night."""
BESIDE, WITNESSES = 3, 2
"""Where repetitions say nothing of the noise: revisions next to each end that do, and of each block so many
configurations that are measured at one of them, too."""
AIM, AIM_MARGINS = 0.03, 3.0
"""A night goes on until it would have seen a change of 3 %, or of three margins."""
FEW_ODD = 2
"""Configurations of a block that are compared once more, when no more of them differ from what is known."""
MORE = 4
"""Blocks after enough was seen, as long as something of it is unclear."""
MOST_STEPS = 32
"""Steps asked about after one block."""


class NightSearch:
    """One night's questions; satisfies `ChangePointSearch`, with earlier nights through `remember`.

    The tip is compared with the tip of two nights ago in fresh configurations, both measured tonight: so each
    commit is looked at in two nights at the price of one. The model, and the questions to a step that stands
    out, are those of a bisection; see docs/nightly.md.

    Args:
        window: tonight's revisions.
        candidates: the only configurations that can be measured (a table's); None: all valid ones.
        threshold: the margin; smaller changes are not worth a reader's time.
    """

    def __init__(
        self,
        space: Space,
        window: Window,
        solver: ConstraintSolver,
        *,
        rng: np.random.Generator,
        candidates: Collection[Configuration] | None = None,
        threshold: float = 0.01,
    ) -> None:
        self.space, self.window = space, window
        self.margin, self.aim = threshold, max(AIM, AIM_MARGINS * threshold)
        terms = Terms(space, possible=solver.possible, equivalent=solver.equivalent)
        self.log_ = NightLog(space, terms.levels)
        self.log_.relative = True
        self.model_ = StepModel(self.log_, terms)
        self.known_: Sequence[ChangePoint] = ()
        """What earlier nights had shown."""
        self.looked_at_ = LookedAt()
        """What their trials leave open."""
        self.compared_: tuple[int, ...] = ()
        """The tip and the revision it could be compared with; fewer when they do not work."""
        self.enough_ = False
        """Whether the tip was looked at closely enough."""
        self._choose = Configurator(space, solver, rng=rng, candidates=candidates)
        self._inquiry = NightInquiry(self.model_, self._choose, window.revisions)
        self._scan = Scan(self.model_, self._choose, window.revisions, rng=rng)
        self._rested: Sequence[Step] = ()
        self._earlier: Sequence[Sequence[Observation]] = ()
        self._tonight: list[Observation] = []  # the first trials, those at the anchor among them
        same = partial(NightSearch, space, window, solver, candidates=candidates, threshold=threshold)
        self.afresh: Callable[[], NightSearch] = partial(same, rng=rng)
        """The same night before its first trial, to recall what it measured: that draws nothing."""
        self._compared: Counter[Configuration] = Counter()
        """How often each configuration was compared tonight."""
        self._barren = False
        """Whether a block of them gave no value."""
        self._script: Iterator[list[Probe]] | None = None
        self._pending: list[Probe] = []
        self._unanswered = 0

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        """What all nights' trials so far show, in order of revision; what is below the margin is not told."""
        found = told(self.model_, self.window.revisions)
        return tuple(point for point in found if abs(point.ratio - 1.0) >= self.margin)

    @property
    def unclear_(self) -> Sequence[Step]:
        """Steps that stand out and are not settled, the clearest first; what tomorrow asks about.

        Without such, what no question could settle and nothing explains: a night that saw it is not green.
        """
        return self._large(self._open()) or self._large(filter(None, [self._inquiry.overlooked()]))

    @property
    def rested_(self) -> Sequence[Step]:
        """Steps of before the reference that two nights without noise did not settle: no more will."""
        return self._large(s for s in unsettled(self.model_) if s in self._rested)

    def _large(self, steps: Iterable[Step]) -> list[Step]:
        return [step for step in steps if not below(self.model_, step, self.margin)]

    def _open(self) -> list[Step]:
        return [step for step in unsettled(self.model_) if step not in self._rested]

    def remember(self, nights: Sequence[Sequence[Observation]]) -> Self:
        """Takes in earlier nights, oldest first, before tonight's first trial."""
        self._earlier = nights
        return self

    def recalled(self) -> Sequence[ChangePoint]:
        """What the remembered nights show by themselves, in the seconds of the newest one."""
        self._tonight = list(self._earlier[-1]) if self._earlier else []
        self._recall()
        return self.known_

    def unite(self, tonight: Sequence[Sequence[Observation]]) -> Self:
        """Takes in what several machines measured tonight and asks nothing; after `remember`."""
        self._tonight = list(tonight[0]) if tonight else []
        self._recall()
        known, self._earlier = (self.known_, self.looked_at_), tonight  # each in its own machine's seconds
        self._recall()
        self.known_, self.looked_at_ = known
        self.enough_ = seen_enough(self.model_, self.window, self.aim)
        return self

    def wishes(self) -> Sequence[Probe]:
        """The next trials; empty: nothing is left to learn tonight."""
        if self._script is None:
            self._script = self._plan()
            self._advance()
        return tuple(self._pending)

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        """Takes in tonight's trials; the night goes on when as many came as were wished."""
        self.log_.add(observations)
        if not self.compared_:
            self._tonight += observations
        self._unanswered -= len(observations)
        if self._unanswered > 0:  # the night ends amid its wishes, perhaps before it ever looked at its noise
            self.log_.learn_scale([step.at for step in self.model_.steps])
        elif self._pending:
            self._advance()
        return self

    def _advance(self) -> None:
        """Runs the plan up to its next wish for something that is not known to fail."""
        assert self._script is not None
        for wished in self._script:
            self._pending = [p for p in wished if self.log_.usable(p.configuration, p.revision)]
            self._unanswered = len(self._pending)
            if self._pending:
                return
        self._pending = []

    def _plan(self) -> Iterator[list[Probe]]:
        """The anchor, then block after block of comparisons, each with questions to what stands out."""
        if self._earlier:
            as_before(self._choose, self._earlier[-1])
        extremes = self._choose.extremes
        yield [Probe(c, 0) for c in extremes for _ in range(ANCHOR_TRIALS)]
        self._recall()
        self._compared.update(dict.fromkeys(extremes, SENTINEL_TRIALS))
        ends = self.compared_ = yield from ends_of(self.window, self.log_, self._choose)
        extremes = self._choose.extremes  # others, where these do not work
        more = MORE
        if self._earlier and len(ends) == 2 and self.unclear_:  # short nights end amid their first block
            yield from self._explained(known=not self.model_.exact)
        while len(ends) == 2 and (not self.enough_ or (more and self.unclear_)):
            more -= self.enough_
            while suspected := alone(self.window, self.log_, self._choose):
                yield suspected
            broken = tuple(self.log_.broken_levels())
            self._barren &= broken == self._choose.avoided  # without these others may work
            self._choose.avoided = broken
            before, barren = len(self.log_), self._barren
            working = [c for c in self._compared if self._barren and all(self.log_.known(c, r) for r in ends)]
            block = next_block(self.model_, self.window, self._choose, self._compared, working)
            stale = all(c in self.log_.place for c in block)
            beside = inwards(ends, 1) if self.log_.frozen else []
            witnesses = [Probe(c, r) for c in block[:WITNESSES] for r in beside]
            apart = ends[:1] if self.log_.failed else ()  # what fails at the tip need not fail once more
            yield [Probe(c, r) for c in block for r in apart]
            block = [c for c in block if all(self.log_.known(c, r) for r in apart)]
            yield [*(Probe(c, r) for c in block for r in ends if r not in apart), *witnesses]
            self._barren |= len(self.log_) == before or (stale and self.log_.failed > 0)
            ends = self.compared_ = yield from moved_on(self.window, self.log_, self._choose, ends, block)
            yield from self._beside(ends, extremes)
            if self.model_.exact and not self._open():  # two steps between would be named as one
                yield from halved(self.model_, self.margin / 2.0)
            elif not self.model_.exact and not self.log_.frozen:
                yield from self._again(block, ends)
            yield from self._explained()
            self.enough_ = seen_enough(self.model_, self.window, self.aim)
            if self._exhausted(before, barren, broken):
                return

    def _exhausted(self, before: int, barren: bool, broken: Sequence[Level]) -> bool:
        """Whether more of what works would teach nothing: it repeats itself, or was looked at closely.

        before: trials so far. barren, broken: what was so when the last block was chosen.
        """
        enough = partial(seen_enough, self.model_, self.window, self.aim)
        tried = broken and broken == tuple(self.log_.broken_levels())
        if tried and not self.unclear_ and enough(broken=broken):
            return True
        if not (self._barren and (barren or self.model_.exact)):
            return False
        return self.model_.exact or len(self.log_) == before or enough(of_all=False)

    def _recall(self) -> None:
        """What earlier nights show, in tonight's seconds: so steps in seconds are the same in all nights."""
        now = anchored(self._tonight)
        for night in self._earlier:
            found = speed(now, anchored(night))
            self.log_.add_night(night, math.exp(found[0]) if found is not None else 1.0)
        self.log_.learn_scale()
        self.log_.unite()
        if len(self.log_):
            recall(self.model_, self._inquiry, self.window.revisions)
            if self.model_.exact:  # noisy trials become sure with more of them
                self._rested = [s for s in unsettled(self.model_) if s.high <= self.window.reference]
            self.known_ = self.change_points_
            self.looked_at_ = LookedAt.of(unsettled(self.model_), self.model_.terms, self._earlier)

    def _beside(self, ends: Sequence[int], extremes: Sequence[Configuration]) -> Iterator[list[Probe]]:
        """Where trials repeat their value, revisions next to the ends: these alone tell noise from steps."""
        moved = [step.at for step in self.model_.steps]
        self.log_.learn_scale(moved)
        near = [(c, r) for c in extremes for r in inwards(ends, BESIDE) if not self.log_.known(c, r)]
        if self.log_.frozen and near:
            self.log_.scale = NO_NOISE  # else equal neighbours would count as records that are carried on
            yield [Probe(c, r) for c, r in near]
            self.log_.learn_scale(moved)

    def _again(self, block: Sequence[Configuration], ends: Sequence[int]) -> Iterator[list[Probe]]:
        """Few configurations of a block that differ from all others: a step of a rare term, or bad luck."""
        self.model_.fit()
        numbers = odd(self.model_, [self.log_.row(c) for c in block])
        if len(numbers) <= FEW_ODD:
            yield [Probe(self.log_.configurations[n], r) for n in numbers for r in ends]

    def _explained(self, *, known: bool = False) -> Iterator[list[Probe]]:
        """Asks about what stands out until nothing does; known: only what earlier nights had left unclear.

        What tonight's first noisy trials show beside that may be the machine.
        """
        for _ in range(MOST_STEPS):
            choose_unit(self.model_)
            step = next(iter(self._large(self._open())), None)
            if step is None:
                step = None if known else self._inquiry.leader()
                if step is None:
                    break
                if odd_night_out(self.model_, step):
                    continue
                self.model_.steps.append(step)
                self.model_.fit()
                if below(self.model_, step, self.margin):
                    self.model_.steps.remove(step)
                    break
                if self.model_.exact:  # the first trials tell which unit a change is the same in
                    choose_unit(self.model_)
            yield from self._inquiry.settle(step)
            if withdrew_twin(self.model_, step):
                break
            self._inquiry.tidy()
        drop_weak(self.model_)
        doubt_crowds(self.model_)

    def slow_downs(self) -> dict[Term, float]:
        """The smallest slow-down since the newest earlier tip that stands out four times in five, by term."""
        terms, least = self.model_.terms, smallest(self.model_, self.window)
        found = {terms.named(terms.term(k)): float(x) for k, x in enumerate(least)}
        return {term: x for term, x in found.items() if np.isfinite(x) or terms.possible(term)}
