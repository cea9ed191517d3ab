"""What a step is asked: which term carries it, and at which revision; and which steps are kept."""

from __future__ import annotations

import math
from collections.abc import Generator
from itertools import combinations
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.rivals import Rivals, rivals
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Term
from bot.model.change_points import Probe
from bot.model.space import Configuration
from bot.sampling.contrast import Configurator

STANDS_OUT, STANDS_OUT_EXACTLY = 3.0, 10.0
"""Log posterior odds at which a step is looked into."""
PROVEN = 8.0
"""... and at which, after its contrasts, it is believed."""
SURE, SURE_EXACTLY = 0.99, 0.9995
"""Probability of a term that needs no further contrast."""
CONTRASTS = 40
NEIGHBOUR = 6.0
"""Places whose evidence is this close to the best one belong to the step's window."""
FAR, CLOSE = 0.25, 0.04
"""Share of the range around a step whose trials speak for its term: before and after it is placed."""
PLACED = 0.9
"""Probability of a revision that needs no further trial."""
PLACINGS = 80
KEPT = 4.5
"""Standard errors that a step's size must have in the end."""
CONFIRMED = 3.5
"""Scales that the trials right before and after a placed step must differ."""
REPETITIONS = 6

_T = TypeVar("_T")
Asking: TypeAlias = Generator[list[Probe], None, _T]
"""Wishes trials, goes on when they are in the model's log, and ends with an answer."""


class Inquiry:
    """Settles steps of a model by trials that it wishes."""

    def __init__(self, model: StepModel, configurator: Configurator, revisions: int) -> None:
        self._model, self._log, self._terms = model, model.log, model.terms
        self._choose, self._revisions = configurator, revisions

    def leader(self) -> Step | None:
        """The step that stands out most from what the others explain; None: nothing does."""
        self._model.fit()
        found = self._best(None)
        needed = STANDS_OUT_EXACTLY if self._model.exact else STANDS_OUT
        return found[0] if found is not None and found[1] >= needed else None

    def revise(self, step: Step) -> None:
        """Moves a step that was not measured to where it stands out most now."""
        found = self._best(step)
        if found is not None:
            step.term, step.at, step.low, step.high = found[0].term, found[0].at, found[0].low, found[0].high

    def settle(self, step: Step) -> Asking[None]:
        """Finds a step's term and place; a step that its contrasts refute is taken out of the model."""
        close = 1.0 if self._model.exact else max(self._revisions * CLOSE, 3.0)
        alive = yield from self._name(step, self._revisions * FAR if step.high > step.low else close)
        if alive and step.high > step.low:
            yield from self._place(step)
            alive = yield from self._name(step, close)
        if alive:
            alive = yield from self._confirm(step)
        if not alive and step in self._model.steps:
            self._model.steps.remove(step)
        step.settled = True

    def tidy(self) -> None:
        """One step instead of two where the same term, or two halves of one, moved at one place."""
        self._model.fit()
        order = sorted(self._model.steps, key=lambda s: (not s.settled, -abs(s.size) / max(s.error, 1e-300)))
        for one, other in combinations(order, 2):
            if one not in self._model.steps or other not in self._model.steps:
                continue
            if one.low > other.high or other.low > one.high:
                continue
            if one.term == other.term:
                self._model.steps.remove(other)
            elif self._halves(one, other):
                one.term = tuple(level for level in one.term if level in other.term)
                one.settled = False
                self._model.steps.remove(other)
        self._model.fit()

    def drop_unproven(self) -> None:
        """Only steps whose size is beyond doubt are told."""
        self._model.fit()
        self._model.steps[:] = [s for s in self._model.steps if abs(s.size) > KEPT * s.error]
        self._model.fit()

    def _halves(self, one: Step, other: Step) -> bool:
        """Whether two steps of the same size differ in two levels of one option that exclude each other."""
        rest = [
            level for level in (*one.term, *other.term) if not (level in one.term and level in other.term)
        ]
        if len(rest) != 2 or rest[0].option != rest[1].option or len(one.term) != len(other.term):
            return False
        covered = self._model.cover(one) | self._model.cover(other)
        common = tuple(level for level in one.term if level in other.term)
        whole = self._terms.cover(common, self._log.holds)
        alike = abs(one.size - other.size) <= 3.0 * math.hypot(one.error, other.error) + 0.1 * abs(one.size)
        return bool(alike and (covered == whole).all())

    def _best(self, without: Step | None) -> tuple[Step, float] | None:
        """Where and in which term a step stands out most, and its log posterior odds."""
        places, moment, information = self._model.contrasts(without, None)
        if not len(places):
            return None
        score = self._model.evidence(moment, information) - math.log(len(places))
        row, column = np.unravel_index(int(np.argmax(score)), score.shape)
        best = float(score[row, column])
        # Places are a selection of the measured revisions: the step may lie up to the next one.
        low, high = _window(score.max(axis=0) > best - NEIGHBOUR, int(column), places)
        return Step(self._terms.term(int(row)), int(places[column]), low, high), best

    def _name(self, step: Step, reach: float) -> Asking[bool]:
        """Contrasts until one term is sure; whether the step is still believed."""
        grown: list[Term] = []
        for asked in range(CONTRASTS + 1):
            grown = self._terms.grow(step.term, grown)
            found = rivals(self._model, step, reach, grown)
            step.term, step.size, step.probability = found.terms[0], found.size, found.sure
            if found.evidence < 1.0 and asked > 2:
                return False
            enough = found.evidence > PROVEN or self._model.exact
            if found.sure > (SURE_EXACTLY if self._model.exact else SURE) and enough:
                return True
            wished = self._contrast(step, found) if asked < CONTRASTS else []
            if not wished:
                return found.evidence > PROVEN
            yield wished
        return False

    def _contrast(self, step: Step, found: Rivals) -> list[Probe]:
        """Trials before and after the step in the configuration that tells its rivals apart best."""
        before, after = step.low - 1, step.high
        best: tuple[float, Configuration, float] | None = None
        for configuration in self._pool(step, found):
            ends = (self._beside(configuration, before, -1), self._beside(configuration, after, 1))
            if None in ends:
                continue
            held = self._log.holding(configuration)[None, :]
            share = sum(
                p for t, p in zip(found.terms, found.shares, strict=True) if self._terms.cover(t, held)[0]
            )
            clear = self._clearness(step, configuration)
            if self._model.exact and all(self._log.known(configuration, e) for e in ends if e is not None):
                continue
            value = share * (1.0 - share) * min(clear, 8.0)
            if best is None or value > best[0]:
                best = (value, configuration, clear)
        if best is None or best[0] < (1e-5 if self._model.exact else 1e-4):
            return []
        _, configuration, clear = best
        times = 1 if self._model.exact else int(np.clip(math.ceil(3.0 / max(clear, 1e-9)), 1, REPETITIONS))
        return self._trials(configuration, before, -1, times) + self._trials(configuration, after, 1, times)

    def _pool(self, step: Step, found: Rivals) -> list[Configuration]:
        """Configurations that hold the leading term and not a rival, or a rival and not the leading term."""
        sparse, dense = self._choose.sparse, self._choose.dense
        pool: dict[Configuration | None, None] = {}
        for wanted in (sparse, dense):
            pool[self._choose.near(step.term, wanted)] = None
            for level in step.term:
                other = self._choose.without(level)
                rest = [x for x in step.term if x != level]
                if other is not None:
                    pool[self._choose.near([*rest, other], wanted)] = None
        for rival in found.terms[1:8]:
            for level in rival:
                other = None if level in step.term else self._choose.without(level)
                if other is not None:
                    pool[self._choose.near([*step.term, other], sparse)] = None
                    pool[self._choose.near([*step.term, other], dense)] = None
            for level in step.term:
                other = None if level in rival else self._choose.without(level)
                if other is not None:
                    pool[self._choose.near([*rival, other], sparse)] = None
        for share in (0.2, 0.4, 0.6, 0.8):
            pool[self._choose.random(share)] = None
        quickest = np.argsort(self._log.means())[:10]
        pool.update({self._log.configurations[int(k)]: None for k in quickest})
        return [c for c in pool if c is not None]

    def _place(self, step: Step) -> Asking[None]:
        """Halves the posterior of the step's revision, in the configuration where it is clearest."""
        holding = [self._log.configurations[int(k)] for k in np.flatnonzero(self._model.cover(step))]
        near = self._choose.near(step.term, self._choose.sparse)
        where = max(
            [*holding, *([near] if near else [])], key=lambda c: self._clearness(step, c), default=None
        )
        if where is None:
            return
        times = int(np.clip(math.ceil(4.0 / max(self._clearness(step, where), 1e-9)), 1, 12))
        yield self._trials(where, step.low - 1, -1, times) + self._trials(where, step.high, 1, times)
        for _ in range(PLACINGS):
            self._model.fit()
            middle = self._median(step)
            if middle is None:
                return
            revision = self._inside(where, middle, step)
            if revision is None:
                return
            times = int(np.clip(math.ceil(2.0 / max(self._clearness(step, where), 1e-9)), 1, 8))
            yield self._trials(where, revision, 1, times if not self._log.frozen else 1)

    def _median(self, step: Step) -> int | None:
        """Narrows a step's interval to 90 %; the revision that halves the rest, or None: it is placed."""
        places, moment, information = self._model.contrasts(step, (step.low, step.high))
        if not len(places):
            return None
        cover = self._model.cover(step).astype(np.float64)
        revisions = np.unique(self._log.columns()[1])
        previous = revisions[np.searchsorted(revisions, places) - 1]
        width = places - previous
        log = self._model.gain(cover @ moment, cover @ information) + np.log(width)
        mass = np.exp(log - log.max())
        cumulative = mass.cumsum() / mass.sum()
        first, last = (min(int(np.searchsorted(cumulative, q)), len(places) - 1) for q in (0.05, 0.95))
        step.at = int(places[int(np.argmax(mass))])
        step.low, step.high = int(previous[first]) + 1, int(places[last])
        if step.low == step.high:
            return None
        here = int(np.searchsorted(cumulative, 0.5))
        inside = (0.5 - (cumulative[here - 1] if here else 0.0)) / max(mass[here] / mass.sum(), 1e-12)
        return int(np.clip(round(previous[here] + inside * width[here]), step.low - 1, step.high))

    def _confirm(self, step: Step) -> Asking[bool]:
        """Whether trials right before and after a placed step differ: a slow drift has no such place."""
        if self._model.exact:
            return True
        for _ in range(4):
            clear = self._differs(step)
            if clear is not None and clear > CONFIRMED:
                return True
            where = self._choose.near(step.term, self._choose.sparse)
            if where is None:
                break
            times = int(np.clip(math.ceil(8.0 / max(self._clearness(step, where), 1e-9)), 2, 12))
            yield self._trials(where, step.low - 1, -1, times) + self._trials(where, step.high, 1, times)
        clear = self._differs(step)
        return clear is not None and clear > CONFIRMED

    def _differs(self, step: Step) -> float | None:
        """Scales between the trials right before and right after a step, in its direction."""
        moment, information = self._model.beside(step, 2.0)
        cover = self._model.cover(step)
        whole = float(information[cover].sum())
        return float(np.sign(step.size) * moment[cover].sum() / math.sqrt(whole)) if whole > 0 else None

    def _clearness(self, step: Step, configuration: Configuration) -> float:
        """Squared size of a step over twice the noise of a trial there."""
        if self._model.exact:
            return 100.0
        level = self._level(configuration)
        size = abs(step.size) * level if self._log.relative else abs(step.size)
        return float((size / (2.0 * self._log.scale * max(level, 1e-300))) ** 2)

    def _level(self, configuration: Configuration) -> float:
        """Mean seconds of a configuration, or of those most like it."""
        means = self._log.means()
        place = self._log.place.get(configuration)
        if place is not None and means[place] > 0:
            return float(means[place])
        seen = means > 0
        apart = (self._log.holds[seen] != self._log.holding(configuration)).sum(axis=1)
        return float(means[seen][apart == apart.min()].mean())

    def _trials(self, configuration: Configuration, revision: int, direction: int, times: int) -> list[Probe]:
        """Repetitions at a revision; where these would repeat the same value, at its neighbours."""
        wished: list[Probe] = []
        place: int | None = revision
        for _ in range(times):
            place = self._beside(configuration, place, direction) if place is not None else None
            if place is None:
                break
            wished.append(Probe(configuration, place))
            if self._log.frozen:
                place += direction
        return wished

    def _beside(self, configuration: Configuration, revision: int, direction: int) -> int | None:
        """The nearest revision from here on in a direction where a trial has not failed."""
        while 0 <= revision < self._revisions:
            if self._log.usable(configuration, revision):
                return revision
            revision += direction
        return None

    def _inside(self, configuration: Configuration, revision: int, step: Step) -> int | None:
        """The usable revision nearest to a wanted one that can narrow the step's interval."""
        inside = range(step.low - 1, step.high + 1)
        usable = [r for r in inside if self._log.usable(configuration, r) and 0 <= r < self._revisions]
        if self._log.frozen:
            usable = [r for r in usable if not self._log.known(configuration, r)]
        return min(usable, key=lambda r: abs(r - revision), default=None)


def _window(near: NDArray[np.bool_], best: int, places: NDArray[np.intp]) -> tuple[int, int]:
    """First and last revision of the neighbours of the best place that are near it, one more on each side."""
    first = last = best
    while first > 0 and near[first - 1]:
        first -= 1
    while last + 1 < len(places) and near[last + 1]:
        last += 1
    low = int(places[first - 1]) + 1 if first > 0 else 1
    return low, int(places[min(last + 1, len(places) - 1)])
