"""Terms of three levels and more, where no pair says which configurations move and which do not."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bot.analysis.change_points.terms import DEGREES, Term, Terms, in_order
from bot.analysis.explanations.cells import Bools, Floats, Table
from bot.analysis.explanations.findings import Found

MOVED, STILL = 2 / 3, 1 / 3
"""Shares of a move: by more than the one, another moves with it; by less than the other, it does not."""
SURELY, LIKELY = 4.0, 2.0
"""Standard errors that a move has, and that such a share of it has: what is proposed, trials will tell."""
LASTING = 3
"""Cells on each side of a move that are asked whether it lasts."""
PLACES = 4
"""Moves that are looked at: the largest ones, each in a stretch of its own."""
MOST, MOST_LOOKED_AT = 40, 50_000
"""Terms for a move, and sets of levels that are looked through."""


FEWEST = 3
"""Options any of which moves something, from which on no pair of levels says so."""


class Jump(NamedTuple):
    """A configuration's move between two revisions next to each other in its trials; size in seconds."""

    before: int
    after: int
    size: float
    share: float


class Sides(NamedTuple):
    """The numbers of the configurations that moved somewhere, and of those that did not."""

    moved: list[int]
    still: list[int]


def who_moved(table: Table, noises: Floats) -> list[Sides]:
    """Around the largest moves, which configurations moved and which did not; those in doubt are neither.

    noises: relative standard deviation of a trial, (n_configurations,).
    """
    seen: list[Jump] = []
    for jump in sorted(_jumps(table, noises), key=lambda j: -abs(j.share)):
        if len(seen) == PLACES:
            break
        if any(jump.before < other.after and other.before < jump.after for other in seen):
            continue
        seen.append(jump)
    return [_sides(jump, table, noises) for jump in seen]


def conjunctions(places: Sequence[Sides], holds: Bools, terms: Terms) -> list[Term]:
    """The smallest terms that say who moved, of places where no level and no pair does.

    A term says it when all configurations that moved hold it, and none that did not: its levels are a hitting
    set of what each of the latter lacks. Which of several it is, trials will tell.
    holds: (n_configurations, n_levels).
    """
    found = [_smallest(holds[sides.moved], holds[sides.still], terms) for sides in places]
    absent = np.array([level.operator == "off" for level in terms.levels], dtype=bool)
    found += [_smallest(holds[sides.still] & absent, holds[sides.moved], terms) for sides in places]
    return list(dict.fromkeys(term for each in found for term in each))


def none_of(steps: Sequence[Found], terms: Terms) -> list[Term]:
    """The absence of all options that steps of one revision and direction blame: any of them may do it."""
    blamed: dict[tuple[int, bool], set[str]] = defaultdict(set)
    for step in (s for s in steps if s.clear):
        named = {level.option for level in step.term if level.operator == "on"}
        blamed[step.at, step.size > 0.0] |= named
    off = {level.option: level for level in terms.levels if level.operator == "off"}
    absent = [[off[name] for name in names if name in off] for names in blamed.values()]
    return [in_order(levels) for levels in absent if FEWEST <= len(levels) < len(DEGREES)]


def _jumps(table: Table, noises: Floats) -> list[Jump]:
    """Moves that are not noise and last: a spoilt trial is a move of one configuration there and back."""
    found = []
    for i in np.flatnonzero(np.diff(table.configuration) == 0).tolist():
        c, size = int(table.configuration[i]), float(table.value[i + 1] - table.value[i])
        if abs(size) > SURELY * _error(table, i, i + 1, noises) and _lasts(table, i):
            level = table.levels()[c]
            found.append(Jump(int(table.revision[i]), int(table.revision[i + 1]), size, size / level))
    return found


def _lasts(table: Table, place: int) -> bool:
    """Whether several cells of the configuration before and after the one at a place agree about its move."""
    mine = np.flatnonzero(table.configuration == table.configuration[place])
    before, after = mine[mine <= place][-LASTING:], mine[mine > place][:LASTING]
    if min(len(before), len(after)) < 2:
        return False
    size = np.median(table.value[after]) - np.median(table.value[before])
    return bool(size / (table.value[place + 1] - table.value[place]) > MOVED)


def _error(table: Table, one: int, other: int, noises: Floats) -> float:
    """Of the difference of two cells of a configuration, in seconds."""
    level, c = float(table.level()[one]), table.configuration[one]
    shares = [1.0 / n for n in table.count[[one, other]].tolist() if n]
    return float(noises[c] * level * math.sqrt(sum(shares)))


def _sides(jump: Jump, table: Table, noises: Floats) -> Sides:
    """Configurations that moved with a jump, by the same seconds or share; those that did not."""
    moved: list[int] = []
    still: list[int] = []
    for c, level in table.levels().items():
        mine = np.flatnonzero(table.configuration == c)
        before = mine[table.revision[mine] <= jump.before]
        after = mine[table.revision[mine] >= jump.after]
        if not len(before) or not len(after):
            continue
        size = float(table.value[after[0]] - table.value[before[-1]])
        expected = min((jump.size, jump.share * level), key=abs)
        if LIKELY * _error(table, int(before[-1]), int(after[0]), noises) > STILL * abs(expected):
            continue
        if size / expected > MOVED:
            moved.append(c)
        elif abs(size / expected) < STILL:
            still.append(c)
    return Sides(moved, still)


def _smallest(moved: Bools, still: Bools, terms: Terms) -> list[Term]:
    """The smallest sets of levels that all who moved hold and no other does; empty: two or fewer do."""
    if not len(moved) or not len(still):
        return []
    common = np.flatnonzero(moved.all(axis=0))
    option = np.unique([level.option for level in terms.levels], return_inverse=True)[1]
    if still[:, common].all(axis=1).any():
        return []
    for degree in range(1, len(DEGREES)):
        if math.comb(len(common), degree) > MOST_LOOKED_AT:
            return []
        sets = np.array(list(combinations(common.tolist(), degree)), dtype=np.intp).reshape(-1, degree)
        apart = (np.diff(np.sort(option[sets]), axis=1) > 0).all(axis=1)
        good = sets[apart & ~still[:, sets].all(axis=2).any(axis=0)]
        if len(good):
            return _likeliest(good, terms) if degree > 2 else []
    return []


def _likeliest(sets: np.ndarray, terms: Terms) -> list[Term]:
    found = [in_order(terms.levels[k] for k in row) for row in sets.tolist()]
    prior = terms.log_priors(found)[len(terms) :]
    return [found[k] for k in np.argsort(-prior, kind="stable")[:MOST]]
