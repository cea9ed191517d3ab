"""Where something surely moved whose name is not sure: other explanations move something there, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bot.analysis.change_points.findings import without
from bot.analysis.change_points.intervals import LEAST
from bot.analysis.change_points.terms import Term
from bot.analysis.explanations.cells import Bools, Floats, Ints
from bot.analysis.explanations.findings import SURE, Found, Look, covers_of
from bot.analysis.explanations.moves import Moves
from bot.model.change_points import ChangePoint, Doubt
from bot.model.space import Term as Names

HEARD, MOST = 0.2, 3
"""Share of explanations from which on a term of theirs is told as a likely one; of so many terms at most."""


def doubtful(look: Look, found: Sequence[Found], points: Sequence[ChangePoint] = ()) -> tuple[Doubt, ...]:
    """The places of clear steps without a sure name, in order of revision; points: what is told.

    There most explanations (`SURE`) have a step beside what is told that moves a measured configuration by
    `Look.least` or more further than is told.
    """
    drawn = [(chosen, look.evidence.sizes(chosen)[0]) for chosen in look.drawn if chosen]
    places = {(step.at, step.low, step.high) for step in found if step.clear and not step.told}
    doubts = []
    for at, low, high in sorted(places):
        place = _Place(look, found, points, low, high)
        each = [place.beside(chosen, sizes) for chosen, sizes in drawn]
        moved = [far for names, far in each if names]
        if len(moved) < SURE * len(look.drawn):
            continue
        heard = Counter(name for names, _ in each for name in names)
        likely = [term for term, count in heard.most_common(MOST) if count >= HEARD * len(drawn)]
        ratio = max(look.evidence.table.ratio(float(np.median(moved))), LEAST)
        doubts.append(Doubt(at, (low, high), tuple(likely), ratio, bool(place.told)))
    return tuple(doubt for doubt in doubts if not any(_narrower(other, doubt) for other in doubts))


def _narrower(other: Doubt, doubt: Doubt) -> bool:
    """Whether another doubt says the same of fewer revisions."""
    within = doubt.interval[0] <= other.interval[0] and other.interval[1] <= doubt.interval[1]
    return within and other.interval != doubt.interval and other.terms == doubt.terms


@dataclass(frozen=True)
class _Place:
    """The revisions of a step, from `low` to `high`, and what is told of them."""

    look: Look
    found: Sequence[Found]
    points: Sequence[ChangePoint]
    low: int
    high: int

    @cached_property
    def told(self) -> list[Found]:
        """Steps that are told and may be there."""
        return [step for step in self._sure if step.low <= self.high and step.high >= self.low]

    @cached_property
    def _sure(self) -> list[Found]:
        return [step for step in self.found if step.clear and step.told]

    @cached_property
    def _around(self) -> tuple[int, int]:
        """First and last revision at which what is told may be in other explanations."""
        ends = [(step.low, step.high) for step in self.told]
        return min([self.low, *(low for low, _ in ends)]), max([self.high, *(high for _, high in ends)])

    @cached_property
    def _measured(self) -> Ints:
        return np.unique(self.look.evidence.table.configuration)

    @cached_property
    def _before(self) -> Floats:
        """Level of each measured configuration before all that, in units (of logs: 1)."""
        evidence, found = self.look.evidence, [step for step in self.found if step.clear]
        level = evidence.levels()[self._measured]
        if evidence.table.relative:
            return level
        moved = self._moves(found)
        at = np.array([step.at for step in found], dtype=np.float64)
        passed = (at < self._around[0]) - (1.0 - at / self.look.usable.shape[1])
        return np.asarray(np.maximum(level + passed @ moved, LEAST * level), dtype=np.float64)

    @cached_property
    def _known(self) -> Floats:
        """How far each measured configuration is told to move, as a share of what it took before."""
        first, last = self._around
        there = [step for step in self._sure if first <= step.at <= last]
        return np.asarray(self._moves(there).sum(axis=0) / self._before, dtype=np.float64)

    @cached_property
    def _missed(self) -> Bools:
        """Measured configurations that what is told misses, and is said to, (n_measured,)."""
        first, last = self._around
        level = {str(level): level for level in self.look.terms.levels}
        missed = np.zeros(len(self._measured), dtype=bool)
        for names in (names for p in self.points if first <= p.revision <= last for names in p.spared):
            missed |= self._held(tuple(level[name] for name in names))
        return missed

    def _moves(self, steps: Sequence[Found]) -> Floats:
        """How far each step moves each measured configuration, in units, (n_steps, n_measured)."""
        covers = covers_of(steps, self.look.terms, self.look.holds)[:, self._measured]
        return Moves(steps, covers, self.look.evidence.levels()[self._measured]).each()

    def beside(self, chosen: Sequence[int], sizes: Floats) -> tuple[set[Names], float]:
        """Terms that an explanation moves there beside what is told, and how far the one moved most.

        "`a`, and `a` with `b` back" says of whom `a` is told for by that much what "`a` without `b`" does.
        """
        evidence, told = self.look.evidence, {step.term for step in self.told}
        own: dict[Term, Floats] = {}
        whole = np.zeros(len(self._measured))
        for candidate, size in zip(chosen, sizes, strict=True):
            kind, place = divmod(candidate, evidence.places)
            at, term = evidence.cuts[place + 1], evidence.kinds.name(kind)
            if self._around[0] <= at <= self._around[1]:
                moved = size * evidence.design[self._measured, kind] / self._before
                whole += moved
                if self.low <= at <= self.high and term not in told:
                    own[term] = own.get(term, 0.0) + moved
        left = whole - self._known
        far = np.abs(left) >= np.maximum(self.look.least, evidence.scales.uneven * np.abs(self._known))
        # Who moves less far than is told is not told to move the other way.
        far &= ~self._missed & ((left * self._known >= 0.0) | (np.abs(left) > np.abs(self._known)))
        names: set[Names] = set()
        moving = np.zeros(len(far), dtype=bool)
        for term, moved in own.items():
            rest = (without(term, wider, self.look.terms) for wider in told)
            meant = next((t for t in (term, *filter(None, rest)) if (self._held(t) & far).any()), None)
            if meant is not None and np.abs(moved).max() >= self.look.least:
                names.add(self.look.terms.named(meant))
                moving |= self._held(meant)
        most = np.where(moving & far, np.abs(left), 0.0)
        return names, float(left[np.argmax(most)])

    def _held(self, term: Term) -> Bools:
        return self.look.terms.cover(term, self.look.holds)[self._measured]
