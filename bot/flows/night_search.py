"""What a night asks: is the tip what it was, which term moved and where, and what was never looked at."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.findings import told
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Terms
from bot.flows.change_point_asking import Asking
from bot.flows.night_inquiry import NightInquiry
from bot.flows.night_log import NightLog
from bot.flows.night_machine import anchored, speed
from bot.flows.night_recall import choose_unit, doubt_crowds, drop_weak, recall, withdrew_twin
from bot.flows.night_window import Window
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.space import Configuration, Space, Term
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator

ANCHOR_TRIALS = 3
"""Trials of the emptiest and of the fullest configuration at the anchor, each night."""
SENTINEL_TRIALS = 3
"""... and at both ends of what is new: the two hold most terms, and their repetitions teach the noise."""
BLOCK, DRAWN, SHARES = 8, 32, (0.3, 0.5, 0.65, 0.8)
"""Configurations that are compared at once, of how many drawn, with which shares of their options on."""
MOST_CONFIGURATIONS = 160
"""Configurations of a night; a longer one measures these again: it teaches as much, and less is kept."""
AIM, AIM_MARGINS = 0.03, 3.0
"""A night goes on until it would have seen a change of 3 %, or of three margins, in ..."""
COVERED = 0.9
"""... this share of what may change: levels and pairs of levels by their prior."""
STANDS_OUT, POWER = 3.0, 0.84
"""Log posterior odds at which a step is asked about, and standard errors by which four in five stand out."""
HEED = 0.5
"""How much of what the trials say of a term counts for what is compared next: some is bad luck."""
MOST_STEPS = 32
"""Steps asked about after one block."""


class NightSearch:
    """One night's questions; satisfies `ChangePointSearch`, with earlier nights through `remember`.

    The tip is compared with the tip of two nights ago in fresh configurations, both measured tonight: so each
    commit is looked at in two nights at the price of one. The model, and the questions to a step that stands
    out, are those of a bisection; see docs/nightly.md.

    Args:
        space: options and constraints.
        window: tonight's revisions.
        solver: of the space.
        rng: source of randomness.
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
        self.compared_: tuple[int, ...] = ()
        """The revisions that could be compared: the tip and the one before; fewer when they do not work."""
        self.enough_ = False
        """Whether the tip was looked at closely enough."""
        self._choose = Configurator(space, solver, rng=rng, candidates=candidates)
        self._inquiry = NightInquiry(self.model_, self._choose, window.revisions)
        self._earlier: Sequence[Sequence[Observation]] = ()
        self._tonight: list[Observation] = []
        """Tonight's first trials, those at the anchor among them."""
        self._compared: Counter[Configuration] = Counter()
        """How often each configuration was compared tonight."""
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
        """Steps that stand out and are not settled, the clearest first; what tomorrow asks about."""
        return sorted((s for s in self.model_.steps if not s.settled), key=lambda s: -_clarity(s))

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
        known, self._earlier = self.known_, tonight  # each in the seconds of its own machine
        self._recall()
        self.known_, self.enough_ = known, self._has_seen_enough()
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
        if self._script is not None and self._pending:
            self._unanswered -= len(observations)
            if self._unanswered <= 0:
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
        extremes = list(dict.fromkeys([self._choose.sparse, self._choose.dense]))
        yield [Probe(c, 0) for c in extremes for _ in range(ANCHOR_TRIALS)]
        self._recall()
        ends = self.compared_ = yield from self._ends(extremes)
        while len(ends) == 2 and not self.enough_:
            self._choose.avoided = tuple(self.log_.broken_levels())
            before = len(self.log_)
            yield [Probe(c, r) for c in self._block() for r in ends]
            if len(self.log_) == before:  # all fail, or a table repeats itself: more would teach nothing
                return
            self.log_.learn_scale()
            yield from self._explained()
            self.enough_ = self._has_seen_enough()

    def _recall(self) -> None:
        """What earlier nights show, in tonight's seconds: so steps in seconds are the same in all nights."""
        now = anchored(self._tonight)
        for night in self._earlier:
            found = speed(now, anchored(night))
            self.log_.add_night(night, math.exp(found[0]) if found is not None else 1.0)
        self.log_.learn_scale()
        if len(self.log_):
            recall(self.model_, self._inquiry, self.window.revisions)
            self.known_ = self.change_points_

    def _ends(self, extremes: Sequence[Configuration]) -> Asking[tuple[int, ...]]:
        """The two revisions that are compared; fewer when nothing works at the tip, or nowhere before it.

        Where the reference does not work, a later revision stands in for it, found at doubled distances.
        """
        self._compared.update(dict.fromkeys(extremes, SENTINEL_TRIALS))
        ends: list[int] = []
        for place in (self.window.tip, *_onwards(self.window.reference, self.window.tip)):
            yield [Probe(c, place) for c in extremes for _ in range(SENTINEL_TRIALS)]
            if place not in self.log_.unbuilt and any(self.log_.known(c, place) for c in extremes):
                ends.append(place)
            if len(ends) == 2 or self.window.tip not in ends:
                break
        return tuple(ends)

    def _block(self) -> list[Configuration]:
        """Configurations to compare next: those that hold likely terms that were compared least tonight.

        A term that no night has shown counts double; tonight's configurations come again when there are no
        others, or enough of them.
        """
        terms, drawn = self.model_.terms, list(self._compared)
        if len(self._compared) < MOST_CONFIGURATIONS:
            drawn = [self._choose.random(share) for share in SHARES * (DRAWN // len(SHARES))]
        drawn = list(dict.fromkeys(drawn))
        pool = [c for c in drawn if c not in self.log_.place] or drawn
        shown = terms.covers(np.array([self.log_.holding(c) for c in pool]))
        covers = terms.covers(self.log_.holds)
        wanted = self._suspicion() * (1.0 + (covers.sum(axis=1) == 0))
        rows = [self.log_.row(c) for c in self._compared]
        seen = covers[:, rows] @ np.array(list(self._compared.values()), dtype=np.float64)
        found: list[Configuration] = []
        for _ in range(min(BLOCK, len(pool))):
            scores = (wanted / (1.0 + seen)) @ shown
            scores[[pool.index(c) for c in found]] = -1.0
            best = int(np.argmax(scores))
            found.append(pool[best])
            seen += shown[:, best]
        self._compared.update(found)
        return found

    def _suspicion(self) -> NDArray[np.float64]:
        """How likely each term is to carry a step between reference and tip, of all: (n_terms,)."""
        places, moment, information = self.model_.contrasts(
            None, (self.window.reference + 1, self.window.tip)
        )
        odds = self.model_.terms.log_priors(())
        if len(places):
            odds = odds + HEED * (self.model_.evidence(moment, information).max(axis=1) - odds)
        shares: NDArray[np.float64] = np.exp(odds - odds.max())
        return shares

    def _explained(self) -> Iterator[list[Probe]]:
        """Asks about what stands out until nothing does."""
        for _ in range(MOST_STEPS):
            choose_unit(self.model_)
            step = next(iter(self.unclear_), None)
            if step is None:
                step = self._inquiry.leader()
                if step is None:
                    break
                self.model_.steps.append(step)
                if self.model_.exact:  # the first trials tell which unit a change is the same in
                    choose_unit(self.model_)
            yield from self._inquiry.settle(step)
            if withdrew_twin(self.model_, step):
                break
            self._inquiry.tidy()
        drop_weak(self.model_)
        doubt_crowds(self.model_)

    def slow_downs(self) -> dict[Term, float]:
        """The smallest slow-down since the newest earlier tip that stands out four times in five.

        For `()` and each level and pair of levels that some but not all valid configurations hold; infinite
        where nothing would have been seen.
        """
        terms = self.model_.terms
        return {terms.named(terms.term(k)): float(least) for k, least in enumerate(self._least())}

    def _least(self) -> NDArray[np.float64]:
        """The smallest slow-downs, (n_terms,)."""
        terms = self.model_.terms
        first = min(self.window.previous, self.window.tip - 1) + 1
        information = self.model_.information((first, self.window.tip))
        if not information.size:
            return np.full(len(terms), np.inf)
        have = (terms.covers(self.log_.holds) @ information).min(axis=1)
        level = 1.0 if self.log_.relative else float(np.median(self.log_.means()))
        odds = STANDS_OUT + math.log(information.shape[1]) - terms.log_priors(())
        with np.errstate(divide="ignore"):
            least: NDArray[np.float64] = (np.sqrt(2.0 * odds) + POWER) / np.sqrt(have) / level
        return least

    def _has_seen_enough(self) -> bool:
        """Whether a change of the aimed size after the previous tip would have stood out in most terms."""
        prior = np.exp(self.model_.terms.log_priors(()))
        return bool(prior[self._least() <= self.aim].sum() >= COVERED * prior.sum())


def _onwards(first: int, end: int) -> Iterator[int]:
    """A revision and those after it at doubled distances, before an end."""
    distance = 1
    while first < end:
        yield first
        first += distance
        distance *= 2


def _clarity(step: Step) -> float:
    return abs(step.size) / max(step.error, 1e-300)
