"""Steps as change points: canonical terms, ratios, intervals, and which of them passed again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Protocol

from bot.analysis.change_points.intervals import ratio
from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Term, Terms, in_order
from bot.model.change_points import ChangePoint, Shape
from bot.model.space import Level

EPISODE = 0.1
"""A step that another undoes within this share of the range was an episode."""
ECHO = 0.4
"""Where steps are uneven, smaller ones of the same revision (as a share of the largest) are not told."""
UNDONE = 0.3
"""How far the sizes of both may differ, as a share."""


def told(model: StepModel, revisions: int) -> tuple[ChangePoint, ...]:
    """The steps that fresh trials confirmed (without noise: that were settled), in order of revision.

    ratio: seconds after over seconds before, in the mean measured configuration that holds the term.
    """
    model.fit()
    proven = [s for s in model.steps if s.settled and (model.exact or s.confirmed == (s.term, s.at))]
    if model.log.blurred:
        proven = [step for step in proven if not _echo(step, proven)]
    steps = sorted(one_way(proven, model.terms), key=lambda s: (s.at, model.terms.named(s.term)))
    shown = replace(model, steps=[*(s for s in model.steps if s not in proven), *steps])
    found = []
    for step in steps:
        size, interval = ratio(shown, step)
        shape = shape_of(step, steps, revisions)
        found.append(change_point(step, model.terms, ratio=size, ratio_interval=interval, shape=shape))
    return tuple(found)


def _echo(step: Step, steps: Sequence[Step]) -> bool:
    """Whether a step is so small beside another one of its revision that this may be how uneven that is."""
    return any(other.at == step.at and abs(step.size) < ECHO * abs(other.size) for other in steps)


def one_way(steps: Sequence[Step], terms: Terms) -> Sequence[Step]:
    """Steps of which none takes back a part of another: nothing is told to be faster where all became slower.

    Slower by x with `a`, and faster by y < x with `a` and `b`, is the same as slower by x - y with `a`, and
    by y with `a` and without `b`.
    """
    for whole, part in permutations(steps, 2):
        if part.at != whole.at or not 0.0 < -part.size / whole.size < 1.0:
            continue
        outside = without(part.term, whole.term, terms)
        if outside is not None:
            error = math.hypot(whole.error, part.error)
            left = replace(whole, size=whole.size + part.size, error=error)
            rest = replace(part, term=outside, size=-part.size)
            return one_way([left, rest, *(s for s in steps if s is not whole and s is not part)], terms)
    return steps


def without(term: Term, wider: Term, terms: Terms) -> Term | None:
    """What of a term that holds in more configurations is left outside one; None: it is not one term."""
    more = set(term) - set(wider)
    if len(more) != 1 or not set(wider) < set(term):
        return None
    (added,) = more
    other = opposite_of(added, terms.levels)
    return None if other is None else in_order((*wider, other))


def complementary(one: Level, other: Level) -> bool:
    """Whether always exactly one of two levels holds."""
    operators = {one.operator, other.operator}
    halves = operators == {"<", ">="} and one.value == other.value
    return one.option == other.option and (operators == {"on", "off"} or halves)


def opposite_of(level: Level, levels: Sequence[Level]) -> Level | None:
    """The first of some levels that always holds where one does not; None: there is none."""
    return next((other for other in levels if opposite(other, level, levels)), None)


def opposite(one: Level, other: Level, levels: Sequence[Level]) -> bool:
    """Whether always exactly one of two levels holds; of `levels` each value of a choice or number is one."""
    if one.option != other.option:
        return False
    values = [x.value for x in levels if x.option == one.option and x.operator == "="]
    exact = bool(values) and all(one.holds(value) != other.holds(value) for value in values)
    return exact or complementary(one, other)


def change_point(
    step: Placed, terms: Terms, *, ratio: float, ratio_interval: tuple[float, float], shape: Shape
) -> ChangePoint:
    """A step in its canonical words."""
    term, aliases = terms.canonical(step.term)
    return ChangePoint(
        revision=step.at,
        interval=(step.low, step.high),
        term=term,
        aliases=aliases,
        ratio=ratio,
        ratio_interval=ratio_interval,
        probability=step.probability,
        shape=shape,
    )


class Placed(Protocol):
    """A step, as far as telling it is concerned."""

    @property
    def term(self) -> Term:
        """What carries it."""
        ...

    @property
    def at(self) -> int:
        """Its revision."""
        ...

    @property
    def low(self) -> int:
        """First revision at which it may be."""
        ...

    @property
    def high(self) -> int:
        """The last one."""
        ...

    @property
    def probability(self) -> float:
        """Of its term."""
        ...

    @property
    def size(self) -> float:
        """Upwards or downwards, in any unit."""
        ...


def shape_of(step: Placed, steps: Sequence[Placed], revisions: int) -> Shape:
    """Transient when its term moves back nearby: in one step, which undoes none that is nearer to it."""
    near = [s for s in steps if s.term == step.term and abs(s.at - step.at) <= max(EPISODE * revisions, 2)]
    for other in near:
        away = abs(other.at - step.at)
        nearer = (s for s in near if abs(s.at - other.at) < away)
        if _undone(step, other) and not any(_undone(s, other) for s in nearer):
            return "transient"
    return "step"


def _undone(step: Placed, other: Placed) -> bool:
    """Whether a step goes about as far in one direction as another does in the other one."""
    return step.size * other.size < 0 and abs(step.size + other.size) < UNDONE * abs(step.size)
