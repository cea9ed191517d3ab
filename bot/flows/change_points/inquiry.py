"""What a step is asked: which term carries it, and at which revision; and which steps are kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.episodes import episode
from bot.analysis.change_points.noise import Ints
from bot.analysis.change_points.rivals import Rivals, rivals
from bot.analysis.change_points.simpler import simplify
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Term
from bot.flows.change_points.asking import Asking
from bot.flows.change_points.doubts import doubtful
from bot.flows.change_points.placing import Placing
from bot.flows.change_points.pool import contrasting
from bot.flows.change_points.witness import Witnessing
from bot.model.change_points import Probe
from bot.model.space import Configuration
from bot.sampling.contrast import Configurator

STANDS_OUT, STANDS_OUT_EXACTLY = 3.0, 10.0
"""Log posterior odds at which a step is looked into."""
PROVEN = 8.0
"""... and at which, after its contrasts, it is believed."""
SURE, SURE_EXACTLY = 0.99, 0.9995
"""Probability of a term that needs no further contrast."""
CONTRASTS, FEWEST_CONTRASTS = 40, 6
MANY = 3
"""Levels from which on a term is so unlikely beforehand that contrasts may stop at a simpler one."""
NEIGHBOUR = 6.0
"""Places whose evidence is this close to the best one belong to the step's window."""
FAR, CLOSE = 0.25, 0.04
"""Share of the range around a step whose trials speak for its term: before and after it is placed."""
KEPT = 4.5
"""Standard errors that a step's size must have in the end."""
REPETITIONS = 6
NARROW, WEARY, AGAIN = 0.02, 3, 2
"""A place (so wide, as a share) where so many steps were refuted is left alone; or so many of a term."""
LATELY = 1.1
"""... with fewer than so many times as many trials now."""
PATIENCE, PATIENCE_PER_STEP = 8, 2
"""Refuted steps, in all and for each confirmed one, after which what is left is no step but drift."""
PUZZLED = 3
"""So many for each confirmed one, beyond PATIENCE: what moves is no sum of steps alike everywhere."""


class Inquiry:
    """Settles steps of a model by trials that it wishes."""

    def __init__(
        self,
        model: StepModel,
        configurator: Configurator,
        revisions: int,
        *,
        limit: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self._limit = limit
        self._model, self._log, self._terms = model, model.log, model.terms
        self._choose, self._revisions = configurator, revisions
        self._ask = Placing(model, configurator, revisions)
        self._witnessing = Witnessing(model, configurator, revisions)
        self._refuted: list[tuple[int, int]] = []
        """Where (first and last revision) steps were looked for in vain in the end."""
        self._proposed: list[tuple[int, int, Term, int]] = []
        """Where and as which term these were proposed, and how many trials there were afterwards."""
        self._passed: list[tuple[int, int]] = []
        # A step could be at any revision: that it stands out at one of them must count for less.
        self._proven = PROVEN + math.log(revisions)

    @property
    def puzzled(self) -> bool:
        """Whether far more of what stood out was refuted than confirmed."""
        return len(self._refuted) > max(PATIENCE, PUZZLED * self._confirmed)

    @property
    def _confirmed(self) -> int:
        return sum(step.confirmed is not None for step in self._model.steps)

    def leader(self) -> Step | None:
        """The step that stands out most from what the others explain; None: nothing does."""
        self._model.fit()
        if not self._model.exact and len(self._refuted) > PATIENCE + PATIENCE_PER_STEP * self._confirmed:
            return None
        found = self._best(None)
        needed = STANDS_OUT_EXACTLY if self._model.exact else STANDS_OUT
        return found[0] if found is not None and found[1] >= needed else None

    def passing(self) -> tuple[Step, Step] | None:
        """Both ends of an episode that stands out from what the steps explain; None: none does."""
        if self._model.exact:
            return None
        found = episode(self._model, self._revisions, needed=STANDS_OUT, shunned=self._passed)
        if found is not None:  # it is looked at once
            self._passed.append((found[0].low, found[1].high))
        return found

    def revise(self, step: Step) -> bool:
        """Moves a step that was not measured to where it stands out most now; whether it does so at all."""
        found = self._best(step, self._terms.relatives(step.term)) if step.partner is None else None
        if found is not None:
            step.term, step.at, step.low, step.high = found[0].term, found[0].at, found[0].low, found[0].high
        return found is None or found[1] >= STANDS_OUT

    def fades(self, step: Step) -> bool:
        """Whether what was proposed no longer stands out, now that others are known; if so it is dropped."""
        if self._model.exact or step.settled:
            return False
        self._model.fit()
        faded = not self.revise(step)
        if faded:
            self._model.steps.remove(step)
        return faded

    def renamed(self, steps: list[Step]) -> None:
        """Puts these steps into the model, each with the simplest term that its contrasts allow."""
        self._model.steps[:] = steps
        for step in sorted(steps, key=lambda s: -abs(s.size) / max(s.error, 1e-300)):
            self._model.fit()
            found = rivals(self._model, step, max(self._revisions * CLOSE, 3.0), ())
            step.term = found.terms[0]

    def settle(self, step: Step) -> Asking[None]:
        """Finds a step's term and place; a step that its contrasts refute is taken out of the model."""
        if self._model.exact and step.settled and len(step.term) >= MANY:
            return  # each of its levels was shown to be necessary
        before, proposed = step.term if step.settled else None, (step.low, step.high, step.term)
        close = 1.0 if self._model.exact else max(self._revisions * CLOSE, 3.0)
        far = max(self._revisions * FAR, 3.0)
        known = step.confirmed == (step.term, step.at) and step.high - step.low < NARROW * self._revisions
        placed = step.high == step.low or known
        alive = yield from self._name(step, close if placed else far)
        if alive and not placed:
            yield from self._ask.place(step)
            alive = yield from self._name(step, close)
        self._ask.seat(step)
        if self._model.exact and step.term != before:
            alive = yield from self._witnessed(step, alive)
        if alive:
            yield from self._ask.shorten(step)
            alive = yield from self._ask.confirm(step)
        if not alive and step in self._model.steps:
            self._model.steps.remove(step)
            self._refuted.append((step.low, step.high))
            self._proposed.append((*proposed, len(self._log)))
            self._model.drifts |= not proposed[2] and self._may_drift()
        step.settled = True
        self._settle_with(step, alive)

    def _may_drift(self) -> bool:
        """Whether what moves everything and is at no place is the machine, or many small steps."""
        return not self._model.exact

    def _settle_with(self, step: Step, alive: bool) -> None:
        """What one end of an episode showed holds for the other one."""
        other = step.partner
        if other is None or other.settled or other not in self._model.steps:
            return
        if alive:
            other.term = step.term
        else:
            self._model.steps.remove(other)

    def _witnessed(self, step: Step, alive: bool) -> Asking[bool]:
        """Contrasts look at what is likely; a term of many levels is not, and is looked for by halving."""
        if alive and len(step.term) < MANY and (yield from self._witnessing.suffices(step)):
            return True
        term = yield from self._witnessing.term_of(step)
        if term is not None:
            step.term, step.probability = term, 1.0
        return term is not None or alive

    def tidy(self) -> None:
        """Fewer, simpler steps where these explain the same."""
        simplify(self._model)

    def drop_unproven(self) -> None:
        """Only steps whose size is beyond doubt, and that fresh trials showed again, are told."""
        self._model.fit()
        exact = self._model.exact
        proven = [s for s in self._model.steps if exact or s.confirmed == (s.term, s.at)]
        self._model.steps[:] = [s for s in proven if abs(s.size) > KEPT * s.error]
        self._model.fit()

    def _best(
        self, without: Step | None, numbers: Ints | None = None, *, everywhere: bool = False
    ) -> tuple[Step, float] | None:
        """Where and in which term (None: of all numbers) a step stands out most, and its log posterior odds.

        without: it stays in the trials. everywhere: also where steps were refuted time and again.
        """
        numbers = np.arange(len(self._terms)) if numbers is None else numbers
        places, score = self._model.score(without, numbers if len(numbers) < len(self._terms) else None)
        if not len(places):
            return None
        if not everywhere:
            self._leave_alone(score, places, numbers)
        place, number = np.unravel_index(int(np.argmax(score)), score.shape)
        best = float(score[place, number])
        if not math.isfinite(best):
            return None
        # Places are a selection of the measured revisions: the step may lie up to the next one.
        first = int(self._log.columns()[1].min())
        low, high = _window(score.max(axis=1) > best - NEIGHBOUR, int(place), places, first=first)
        step = Step(self._terms.term(int(numbers[number])), int(places[place]), low, high)
        if self._model.exact:
            self._narrow(step, without)
        return step, best - math.log(len(places))

    def _leave_alone(self, score: NDArray[Any], places: Ints, numbers: Ints) -> None:
        """Rules out places and terms at which steps were refuted time and again (a drift, an odd machine)."""
        narrow = max(self._revisions * NARROW, 2.0)
        placed = [(low, high) for low, high in self._refuted if high - low < narrow]
        count = np.array([(places >= low) & (places <= high) for low, high in placed] or [places < 0])
        weary = count.sum(axis=0) >= WEARY
        score[weary] = -np.inf
        lately = [p[:3] for p in self._proposed if len(self._log) < LATELY * p[3]]
        for low, high, term in lately:
            again = [t for a, b, t in lately if t == term and a <= high and low <= b]
            number = self._terms.number(term) if len(again) >= AGAIN else None
            if number is not None:
                score[np.ix_((places >= low) & (places <= high), numbers == number)] = -np.inf

    def _narrow(self, step: Step, without: Step | None) -> None:
        """Without noise a step lies between two neighbouring measured revisions."""
        places, moment, information = self._model.contrasts(without, (step.low, step.high))
        cover = self._model.cover(step).astype(np.float64)
        step.at = step.high = int(places[np.argmax(self._model.gain(cover @ moment, cover @ information))])
        revisions = self._log.columns()[1]
        step.low = int(revisions[revisions < step.at].max()) + 1

    def _name(self, step: Step, reach: float) -> Asking[bool]:
        """Contrasts until one term is sure; whether the step is still believed."""
        grown: list[Term] = []
        most = int(np.clip(self._limit() / CONTRASTS, FEWEST_CONTRASTS, CONTRASTS))
        for asked in range(most + 1):
            grown = self._terms.grow(step.term, grown)
            found = rivals(self._model, step, reach, grown)
            step.term, step.size, step.probability = found.terms[0], found.size, found.sure
            if found.evidence < 1.0 and asked > 2:
                return False
            if found.evidence > self._proven and found.sure > (SURE_EXACTLY if self._model.exact else SURE):
                return True
            wished = self._contrast(step, found) if asked < most else []
            if not wished:
                return found.evidence > self._proven
            yield wished
            if again := doubtful(self._model, step, wished, self._heard(reach)):
                yield again
        return False

    def _heard(self, reach: float) -> float:
        """How far from a step trials tell whether a contrast's answer is odd; those in reach name it."""
        return reach

    def _contrast(self, step: Step, found: Rivals) -> list[Probe]:
        """Trials before and after the step in the configuration that tells its rivals apart best."""
        before, after = step.low - 1, step.high
        best: tuple[float, Configuration, float] | None = None
        pool = contrasting(self._choose, self._log, found.terms)
        held = np.array([self._log.holding(configuration) for configuration in pool])
        shares = self._terms.covers_of(found.terms, held) @ np.array(found.shares)
        for configuration, share in zip(pool, shares.tolist(), strict=True):
            ends = (self._ask.beside(configuration, before, -1), self._ask.beside(configuration, after, 1))
            if None in ends:
                continue
            clear = self._ask.clearness(step, configuration)
            if self._model.exact and all(self._log.known(configuration, e) for e in ends if e is not None):
                continue
            value = share * (1.0 - share) * min(clear, 8.0)
            if best is None or value > best[0]:
                best = (value, configuration, clear)
        if best is None or best[0] < (1e-5 if self._model.exact else 1e-4):
            return []
        _, configuration, clear = best
        once, least = self._model.exact or self._log.frozen, self._ask.fewest(step)
        times = 1 if once else int(np.clip(math.ceil(3.0 / max(clear, 1e-9)), least, REPETITIONS))
        return self._ask.trials(configuration, before, -1, times) + self._ask.trials(
            configuration, after, 1, times
        )


def _window(near: NDArray[np.bool_], best: int, places: Ints, *, first: int) -> tuple[int, int]:
    """First and last revision of the neighbours of the best place that are near it, one more on each side.

    first: the first revision that was measured.
    """
    start = last = best
    while start > 0 and near[start - 1]:
        start -= 1
    while last + 1 < len(places) and near[last + 1]:
        last += 1
    low = int(places[start - 1]) + 1 if start > 0 else first + 1
    return low, int(places[min(last + 1, len(places) - 1)])
