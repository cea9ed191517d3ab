"""Fewer and shorter terms that explain the same: steps at one place that are pieces of one, or crossed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

from bot.analysis.change_points.steps import Step, StepModel
from bot.analysis.change_points.terms import Term, Terms, in_order
from bot.analysis.change_points.together import REACH, clusters, pairs
from bot.model.space import Level

STEP_COSTS, LEVEL_COSTS, ABSENT_COSTS = 12.0, 8.0, 2.0
"""Squared scales that a step, each level, and each absent level must explain: a description length."""
AGAIN = 1.1
"""Two steps are looked at again with so many times more trials."""
CLEARLY = 6.0
"""Squared scales by which two terms must explain better what was told in other ones before."""
ALIKE = 0.3
"""Sizes of pieces differ by less than this share, or three errors."""


def simplify(model: StepModel) -> bool:
    """Replaces two steps at one place by a simpler explanation while there is one; whether there was."""
    whole, found = _cost(model), False
    while (better := _simpler(model, whole) or _together(model, whole)) is not None:
        model.steps[:], whole = better
        found = True
    model.fit()
    return found


def _simpler(model: StepModel, whole: float) -> tuple[list[Step], float] | None:
    """The simplest explanation of the first two steps that have a simpler one, and its cost."""
    steps = list(model.steps)
    order = sorted(steps, key=lambda s: (not s.settled, -abs(s.size) / max(s.error, 1e-300)))
    for one, other in combinations(order, 2):
        if one.low > other.high or other.low > one.high or not _news(model, one, other):
            continue
        found = []
        for terms in list(_explanations(model.terms, one, other)):
            replaced = [_renamed(s, t) for t, s in zip(terms, (one, other), strict=False)]
            model.steps[:] = [*(s for s in steps if s is not one and s is not other), *replaced]
            found.append((_cost(model), list(model.steps)))
        model.steps[:] = steps
        model.fit()
        if found and (best := min(found, key=lambda f: f[0]))[0] < whole:
            return best[1], best[0]
    return None


def _renamed(step: Step, term: Term) -> Step:
    """A step of another term at the same place; what fresh trials confirmed stays so."""
    return step if step.confirmed == (term, step.at) else Step(term, step.at, step.low, step.high)


def _together(model: StepModel, whole: float) -> tuple[list[Step], float] | None:
    """Two terms instead of all steps at the first place that they explain better, and their cost."""
    if model.exact or not len(model.log):
        return None
    reach = max(REACH * float(model.log.columns()[1].max()), 3.0)
    steps = list(model.steps)
    for cluster in clusters(steps, reach):
        if len(cluster) < 2 or not _news(model, *cluster):
            continue
        found, first = [], cluster[0]
        for terms in pairs(model, cluster, reach):
            # Settled: what one of them moves must be known when the other one is looked at.
            replaced = [Step(t, first.at, first.low, first.high, settled=True) for t in terms]
            model.steps[:] = [*(s for s in steps if s not in cluster), *replaced]
            found.append((_cost(model), list(model.steps)))
        model.steps[:] = steps
        model.fit()
        if (best := min(found, key=lambda f: f[0]))[0] < whole - CLEARLY:
            return best[1], best[0]
    return None


def _news(model: StepModel, *steps: Step) -> bool:
    """Whether steps were not looked at yet, as they are and with (nearly) as many trials."""
    key = tuple((step.term, step.low, step.high) for step in steps)
    before = model.compared.get(key, 0)
    if len(model.log) <= AGAIN * before:
        return False
    model.compared[key] = len(model.log)
    return True


def _cost(model: StepModel) -> float:
    levels = [level for step in model.steps for level in step.term]
    absent = sum(level.operator in ("off", "<") for level in levels)
    costs = STEP_COSTS * len(model.steps) + LEVEL_COSTS * len(levels) + ABSENT_COSTS * absent
    return model.fit() + costs


def _explanations(terms: Terms, one: Step, other: Step) -> Iterator[tuple[Term, ...]]:
    """Terms that may stand for those of two steps."""
    if one.term == other.term:
        yield (one.term,)
        return
    common = tuple(level for level in one.term if level in other.term)
    mine = [level for level in one.term if level not in common]
    theirs = [level for level in other.term if level not in common]
    if len(mine) == len(theirs) == 1 and _exclude(mine[0], theirs[0]):
        yield from ((common, in_order((*common, x))) for x in (*mine, *theirs))
    error = 3.0 * math.hypot(one.error, other.error)
    if abs(one.size - other.size) <= error + ALIKE * abs(one.size):
        yield (common,)
        # Or pieces of a level that constraints cut in two: "x without a", and "b" (which needs x and a).
        yield from ((in_order((*common, x)),) for x in (*mine, *theirs))
    if abs(one.size + other.size) <= error + ALIKE * abs(one.size):
        yield from (tuple(in_order((*common, x)) for x in pair) for pair in _uncrossed(mine, theirs))
        yield from (tuple(in_order((*common, x)) for x in pair) for pair in _present(terms, mine, theirs))
        for short, long in ((mine, theirs), (theirs, mine)):
            if not short and len(long) == 1:
                yield from ((in_order((*common, x)),) for x in terms.levels if _exclude(x, long[0]))


def _uncrossed(mine: list[Level], theirs: list[Level]) -> Iterator[tuple[Level, Level]]:
    """Of "x, not y" and "y, not x": x and y."""
    if len(mine) != 2 or len(theirs) != 2:
        return
    for x, not_y in (mine, mine[::-1]):
        for y, not_x in (theirs, theirs[::-1]):
            if x.option != y.option and _exclude(y, not_y) and _exclude(x, not_x):
                yield x, y


def _present(terms: Terms, mine: list[Level], theirs: list[Level]) -> Iterator[tuple[Level, Level]]:
    """Of "not x" and "not y", in opposite directions: x and y, in the other two directions."""
    if len(mine) != 1 or len(theirs) != 1 or {mine[0].operator, theirs[0].operator} - {"off", "<"}:
        return
    for x in (level for level in terms.levels if _exclude(level, mine[0])):
        yield from ((x, y) for y in terms.levels if _exclude(y, theirs[0]))


def _exclude(one: Level, other: Level) -> bool:
    """Whether two levels of one option are different (and so, most often, never hold together)."""
    return one.option == other.option and one != other
