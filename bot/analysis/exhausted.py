"""A name for what changed where all valid configurations were measured: the term that just these hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import level_covers, whole_term
from bot.analysis.distributions import student_quantile
from bot.analysis.pairs import PRIOR_PAIRS
from bot.analysis.reading import CERTAIN, ONE_SIDED, Reading
from bot.model.report import Effect
from bot.model.space import Configuration, Space, Term

LISTED = 64
"""Configurations of a space, forbidden ones included, of which it is asked whether all were measured."""
LONGEST = 3
"""Levels of a term at most."""
ALIKE = 2.0
"""Changes of one term differ by this factor at most. Arbitrary."""


def exhausted(
    space: Space, configurations: Sequence[Configuration], possible: Callable[[Term], bool] | None
) -> bool:
    """Whether these are all valid configurations of a space; of a large one nobody asks."""
    if math.prod(len(option.values) for option in space.options) > LISTED:
        return False
    known = set(configurations)
    others = (c for c in product(*(option.values for option in space.options)) if c not in known)
    return not any(possible is None or possible(whole_term(space, c)) for c in others)


def held_by_all_that_moved(
    space: Space, configurations: Sequence[Configuration], reading: Reading, direction: int
) -> Effect | None:
    """The effect of a term that holds where all changed alike and nowhere else; None: there is none.

    A sample cannot tell a level that one configuration holds from a quirk of that one. Where it is the only
    valid one with the level, both are the same. configurations: all valid ones. direction: 0 harm, 1 benefit.
    """
    if not np.isfinite(reading.variance).all():
        return None
    harm, error = reading.location * (1 - 2 * direction), np.sqrt(reading.variance)
    reach = student_quantile(ONE_SIDED, np.maximum(reading.watch.log.counts + PRIOR_PAIRS - 1.0, 1.0)) * error
    low, high = harm - reach, harm + reach
    moved: NDArray[np.bool_] = low > reading.watch.margin
    if not moved.any() or moved.all() or high[~moved].max() >= low[moved].min():
        return None
    terms = list(_holding(space, configurations, moved))
    sure = math.prod(_below(score) for score in ((harm - reading.watch.margin) / error)[moved].tolist())
    if not terms or sure < CERTAIN or harm[moved].max() > ALIKE * harm[moved].min():
        return None
    weight = 1.0 / reading.variance[moved]
    size = float(weight @ reading.location[moved] / weight.sum())
    half = float(reach[moved].max() / error[moved].max() / math.sqrt(weight.sum()))
    first, last = sorted(math.exp(reading.watch.sign * v) for v in (size - half, size + half))
    return Effect(
        metric=reading.metric,
        term=terms[0],
        aliases=tuple(terms[1:]),
        ratio=math.exp(reading.watch.sign * size),
        interval=(first, last),
        probability=sure,
        significant=True,
        relevant=True,
    )


def _holding(
    space: Space, configurations: Sequence[Configuration], moved: NDArray[np.bool_]
) -> Iterator[Term]:
    """The shortest terms that hold in just these configurations, in alphabetical order."""
    levels, covers = level_covers(space, configurations)
    for degree in range(1, LONGEST + 1):
        found = [
            tuple(sorted(str(levels[i]) for i in rows))
            for rows in combinations(range(len(levels)), degree)
            if len({levels[i].option for i in rows}) == degree
            and (covers[list(rows)].all(axis=0) == moved).all()
        ]
        if found:
            yield from sorted(found)
            return


def _below(score: float) -> float:
    """Probability that a standard normal lies below."""
    return 0.5 * math.erfc(-score / math.sqrt(2.0))
