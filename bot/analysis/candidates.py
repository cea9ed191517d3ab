"""Which terms could carry a change: everything, levels, pairs of levels, single configurations."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.model.space import Configuration, Level, Space, Term

Kind: TypeAlias = Literal["everything", "level", "pair", "triple", "configuration"]
Equivalent: TypeAlias = Callable[[Term, Term], bool]

PRIOR = {"everything": 0.25, "level": 0.45, "pair": 0.25, "configuration": 0.05}
"""Prior mass of each kind, spread evenly over its members: a judgement, not a measurement."""
ABSENT = 0.5
"""An absent option (`!a`) is blamed half as readily as a present one: absent code rarely gets slower."""
PAIR_COVER = 3
"""A pair of levels seen in fewer configurations is not told from a quirk of those configurations."""
MOST_LEVELS = 200
"""Beyond so many levels pairs are only formed among levels that already look suspicious."""
MOST_PAIRS = 6000
"""Beyond so many pairs likewise: time and memory grow with candidates times configurations."""


@dataclass(frozen=True)
class Group:
    """Terms that hold in the same measured configurations, the shortest first, and their prior masses."""

    terms: tuple[Term, ...]
    masses: tuple[float, ...]


@dataclass(frozen=True)
class Told:
    """A term, its share of its group's prior mass, and what else holds where it holds.

    same: in every valid configuration. alike: in this sample, with their shares.
    """

    term: Term
    share: float
    same: tuple[Term, ...]
    alike: tuple[tuple[Term, float], ...]


@dataclass(frozen=True)
class Candidates:
    """Candidate terms, one for each different set of measured configurations.

    terms: the shortest, then alphabetically first of each group. kinds: of that term. covers: bool, shape
    (n_terms, n_configurations). prior: shape (n_terms,), sums to 1. groups: all terms of each set.
    screened: whether pairs were left out because there are too many.
    """

    terms: tuple[Term, ...]
    kinds: tuple[Kind, ...]
    covers: NDArray[np.bool_]
    prior: NDArray[np.float64]
    groups: tuple[Group, ...]
    screened: bool
    equivalent: Equivalent

    def told(self, index: int) -> Told:
        """What a candidate is called: the shortest, then likeliest term of its group; and the others."""
        classes: list[list[tuple[Term, float]]] = []
        group = self.groups[index]
        for term, mass in zip(group.terms, group.masses, strict=True):
            home = next((c for c in classes if self.equivalent(c[0][0], term)), None)
            if home is None:
                classes.append([(term, mass)])
            else:
                home.append((term, mass))
        weight = [float(sum(mass for _, mass in c) / self.prior[index]) for c in classes]
        # The sort is stable: of the shortest and likeliest the alphabetically first.
        order = sorted(range(len(classes)), key=lambda i: (len(classes[i][0][0]), -weight[i]))
        first, *rest = order
        return Told(
            term=classes[first][0][0],
            share=weight[first],
            same=tuple(term for term, _ in classes[first][1:]),
            alike=tuple((classes[i][0][0], weight[i]) for i in rest),
        )


def candidates(
    space: Space,
    configurations: Sequence[Configuration],
    equivalent: Equivalent,
    *,
    suspicious: Callable[[NDArray[np.bool_]], NDArray[np.intp]] | None = None,
    fewest: int = PAIR_COVER,
) -> Candidates:
    """All terms worth testing on a sample; fewest: configurations that hold a pair of levels.

    `equivalent` is only asked about terms with the same cover, when their aliases are. With too many levels
    no pairs are formed, unless `suspicious` picks rows to pair from covers (n_levels, n_configurations).
    """
    levels, covers = level_covers(space, configurations)
    seen = np.flatnonzero(covers.any(axis=1))
    levels, covers = [levels[i] for i in seen], covers[seen]
    everything = np.ones((1, len(configurations)), dtype=bool)
    pairs, pair_covers, screened = _pairs(levels, covers, fewest)
    if screened and suspicious is not None:
        rows = suspicious(covers)
        pairs, pair_covers, _ = _pairs([levels[i] for i in rows], covers[rows], fewest, bounded=False)
    # With one option a whole configuration is a level.
    singles = [whole_term(space, c) for c in configurations] if len(space.options) > 1 else []
    kinds: list[tuple[Kind, Sequence[Term], NDArray[np.bool_]]] = [
        ("everything", [()], everything),
        ("level", [(str(level),) for level in levels], covers),
        ("pair", pairs, pair_covers),
        ("configuration", singles, np.eye(len(configurations), dtype=bool)),
    ]
    return _grouped(kinds, readiness(levels), screened=screened, equivalent=equivalent)


def level_covers(
    space: Space, configurations: Sequence[Configuration]
) -> tuple[list[Level], NDArray[np.bool_]]:
    """All levels of a space and where they hold, shape (n_levels, n_configurations)."""
    levels = list(space.levels)
    covers = np.zeros((len(levels), len(configurations)), dtype=bool)
    for row, level in enumerate(levels):
        column = space.index[level.option]
        covers[row] = [level.holds(configuration[column]) for configuration in configurations]
    return levels, covers


def pair_term(first: Level, second: Level) -> Term:
    """The term of two levels of different options."""
    a, b = sorted((str(first), str(second)))
    return (a, b)


def _pairs(
    levels: Sequence[Level], covers: NDArray[np.bool_], fewest: int, *, bounded: bool = True
) -> tuple[list[Term], NDArray[np.bool_], bool]:
    """Pairs that hold often enough, or wherever one of their levels holds; whether they were too many."""
    none = np.zeros((0, covers.shape[1]), dtype=bool)
    if bounded and len(levels) > MOST_LEVELS:
        return [], none, True
    index = [(i, j) for i, j in combinations(range(len(levels)), 2) if levels[i].option != levels[j].option]
    if not index:
        return [], none, False
    rows = np.array(index)
    both = covers[rows[:, 0]] & covers[rows[:, 1]]
    n = both.sum(axis=1)
    least = covers.sum(axis=1)[rows].min(axis=1)
    keep = (n >= fewest) | ((n > 0) & (n == least))
    if bounded and keep.sum() > MOST_PAIRS:
        return [], none, True
    kept = [pair_term(levels[i], levels[j]) for (i, j), k in zip(index, keep, strict=True) if k]
    return kept, both[keep], False


def whole_term(space: Space, configuration: Configuration) -> Term:
    """The term that holds in one configuration only."""
    return tuple(
        sorted(
            str(Level(o.name, "on" if v else "off", v) if o.kind == "flag" else Level(o.name, "=", v))
            for o, v in zip(space.options, configuration, strict=True)
        )
    )


def _grouped(
    kinds: Iterable[tuple[Kind, Sequence[Term], NDArray[np.bool_]]],
    ready: Mapping[str, float],
    *,
    screened: bool,
    equivalent: Equivalent,
) -> Candidates:
    """One candidate for each different cover; kinds come in the order in which they are preferred."""
    present = [(kind, terms, covers) for kind, terms, covers in kinds if len(terms)]
    total = sum(PRIOR[kind] for kind, _, _ in present)
    members: dict[bytes, list[tuple[Term, float]]] = {}
    first: dict[bytes, tuple[Kind, NDArray[np.bool_], float]] = {}
    for kind, terms, covers in present:
        weights = [
            1.0 if kind == "configuration" else math.prod(ready[level] for level in term) for term in terms
        ]
        unit = PRIOR[kind] / total / sum(weights)
        for term, weight, cover in zip(terms, weights, covers, strict=True):
            mass = unit * weight
            key = np.packbits(cover).tobytes()
            leader, row, sofar = first.get(key, (kind, cover, 0.0))
            first[key] = (leader, row, sofar + mass)
            # A whole configuration is nobody's alias: it says less than the term it looks like.
            if kind != "configuration" or leader == "configuration":
                members.setdefault(key, []).append((term, mass))
    for group in members.values():
        group.sort(key=lambda member: (len(member[0]), member[0]))
    return Candidates(
        terms=tuple(members[key][0][0] for key in first),
        kinds=tuple(kind for kind, _, _ in first.values()),
        covers=np.array([row for _, row, _ in first.values()]),
        prior=np.array([mass for _, _, mass in first.values()]),
        groups=tuple(Group(tuple(t for t, _ in members[k]), tuple(m for _, m in members[k])) for k in first),
        screened=screened,
        equivalent=equivalent,
    )


def readiness(levels: Sequence[Level]) -> dict[str, float]:
    """Relative prior mass of each level: every option is as suspect as any other, shared by its levels."""
    weight = {level: ABSENT if level.operator == "off" else 1.0 for level in levels}
    total: dict[str, float] = defaultdict(float)
    for level in levels:
        total[level.option] += weight[level]
    return {str(level): weight[level] / total[level.option] for level in levels}
