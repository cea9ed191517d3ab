"""Which terms may carry a step: everything, levels, pairs of levels, and what grows out of a leading term."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.model.space import Level, Space
from bot.model.space import Term as Names

Term = tuple[Level, ...]
"""Sorted levels; () is every configuration."""

DEGREES = (0.25, 0.47, 0.20, 0.05, 0.02, 0.01)
"""Prior mass of terms of 0, 1, 2, ... levels: interactions are rarer the more options they need."""
ABSENT = 0.5
"""An absent option is blamed half as readily as a present one."""
MOST_PAIRS = 40_000
"""With more pairs only those of present options and single values are looked at beforehand."""
BLOCK = 64
"""Configurations for which room is made at once."""
FEW = 4
"""Columns up to which sums over all pairs are made from a product of levels rather than from each pair."""
GROWN = 600
"""Larger terms kept beside levels and pairs."""


class Terms:
    """Levels that some but not all valid configurations hold, and the pairs of them.

    possible, equivalent: questions to a solver.
    """

    def __init__(
        self,
        space: Space,
        *,
        possible: Callable[[Names], bool],
        equivalent: Callable[[Names, Names], bool],
    ) -> None:
        self.possible, self.equivalent = possible, equivalent
        self.levels = tuple(
            level for level in space.levels if possible((str(level),)) and not equivalent((str(level),), ())
        )
        self.index = {level: i for i, level in enumerate(self.levels)}
        option = np.array([space.index[level.option] for level in self.levels], dtype=np.intp)
        weight = np.array([ABSENT if level.operator in ("off", "<") else 1.0 for level in self.levels])
        total = np.zeros(len(space.options))
        np.add.at(total, option, weight)
        self._share = weight / total[option] if len(weight) else weight
        self.pairs = self._pairs(option, weight)
        self._rows: NDArray[np.float32] = np.zeros((0, len(self)), dtype=np.float32)
        self._known = 0
        self._grown: dict[Term, float] = {}
        share = self._share[self.pairs].prod(axis=1)
        whole = max(float(self._share.sum()), 1e-12)
        self.log_prior = np.concatenate(
            [
                [math.log(DEGREES[0])],
                np.log(DEGREES[1] * self._share / whole),
                np.log(DEGREES[2] * share / max(float(share.sum()), 1e-12)),
            ]
        )
        # Of the terms that were asked for last: they are asked for several times in a row.
        self._priors: tuple[Sequence[Term], NDArray[np.float64]] = (), self.log_prior
        self._members: tuple[Sequence[Term], NDArray[np.float32]] = (
            (),
            np.zeros((len(self.levels), 0), np.float32),
        )

    def __len__(self) -> int:
        return 1 + len(self.levels) + len(self.pairs)

    def _pairs(self, option: NDArray[np.intp], weight: NDArray[np.float64]) -> NDArray[np.intp]:
        rows, columns = np.triu_indices(len(option), 1)
        keep = option[rows] != option[columns]
        if keep.sum() > MOST_PAIRS:
            keep &= (weight[rows] == 1.0) & (weight[columns] == 1.0)
        return np.stack([rows[keep], columns[keep]], axis=1)

    def term(self, number: int, grown: Sequence[Term] = ()) -> Term:
        """A term by its number: everything, levels, pairs, then the grown ones."""
        if number == 0:
            return ()
        if number <= len(self.levels):
            return (self.levels[number - 1],)
        if number < len(self):
            i, j = self.pairs[number - 1 - len(self.levels)]
            return in_order((self.levels[i], self.levels[j]))
        return grown[number - len(self)]

    def number(self, term: Term) -> int | None:
        """The number of everything, a level or a pair; None: it is another term."""
        places = sorted(self.index[level] for level in term)
        if not places:
            return 0
        if len(places) == 1:
            return 1 + places[0]
        rows = np.flatnonzero((self.pairs == places).all(axis=1)) if len(places) == 2 else np.zeros(0)
        return 1 + len(self.levels) + int(rows[0]) if len(rows) else None

    def log_priors(self, grown: Sequence[Term]) -> NDArray[np.float64]:
        """Log prior of all terms and the grown ones."""
        if grown is not self._priors[0]:
            larger = [self._larger_prior(term) for term in grown]
            self._priors = grown, np.concatenate([self.log_prior, larger])
        return self._priors[1]

    def _larger_prior(self, term: Term) -> float:
        if term not in self._grown:
            whole = max(float(self._share.sum()), 1e-12)
            share = float(np.log(self._share[[self.index[level] for level in term]] / whole).sum())
            degree = min(len(term), len(DEGREES) - 1)
            self._grown[term] = share + math.log(DEGREES[degree] * math.factorial(degree))
        return self._grown[term]

    def cover(self, term: Term, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which configurations hold a term; holds: (n_configurations, n_levels)."""
        if not term:
            return np.ones(len(holds), dtype=bool)
        return np.asarray(holds[:, [self.index[level] for level in term]].all(axis=1))

    def covers(self, holds: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Which configurations hold everything, a level, a pair, (n_terms, n_configurations) of 0 and 1."""
        found = np.empty((len(self), len(holds)), dtype=np.float32)
        found[0] = 1.0
        found[1 : 1 + len(self.levels)] = holds.T
        found[1 + len(self.levels) :] = (holds[:, self.pairs[:, 0]] & holds[:, self.pairs[:, 1]]).T
        return found

    def remembered(self, holds: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The same, (n_configurations, n_terms); `holds` may only grow by rows between two calls."""
        if self._known < len(holds):
            if len(holds) > len(self._rows):
                more = np.empty((len(holds) + BLOCK, len(self)), dtype=np.float32)
                more[: self._known] = self._rows[: self._known]
                self._rows = more
            self._rows[self._known : len(holds)] = self.covers(holds[self._known :]).T
            self._known = len(holds)
        return self._rows[: len(holds)]

    def covers_of(self, terms: Sequence[Term], holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which configurations hold each of some terms (never changed later), (n_configurations, n_terms)."""
        if terms is not self._members[0]:
            members = np.zeros((len(self.levels), len(terms)), dtype=np.float32)
            places = [self.index[level] for term in terms for level in term]
            members[places, np.repeat(np.arange(len(terms)), [len(term) for term in terms])] = 1.0
            self._members = terms, members
        members = self._members[1]
        return np.asarray(holds.astype(np.float32) @ members == members.sum(axis=0))

    def sums(
        self, holds: NDArray[np.bool_], values: NDArray[Any], grown: Sequence[Term] = ()
    ) -> NDArray[Any]:
        """Sums of values, (n_configurations, n), over the configurations of each term, (n_terms, n)."""
        used = np.flatnonzero(values.any(axis=1))
        values, held = values[used], holds[used]
        if 0 < values.shape[1] <= FEW:
            each = held.astype(values.dtype)
            found = np.stack([self._sums(each, column) for column in values.T], axis=1)
        else:
            found = (values.T @ self.remembered(holds)[used].astype(values.dtype, copy=False)).T
        if not grown:
            return found
        others = self.covers_of(grown, held).astype(values.dtype)
        return np.vstack([found, others.T @ values])

    def _sums(self, held: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        """The same of one column: all pairs of levels at once are a product of the levels with themselves."""
        both = (held * values[:, None]).T @ held
        pairs = both[self.pairs[:, 0], self.pairs[:, 1]]
        return np.concatenate([[values.sum()], np.diag(both), pairs])

    def relatives(self, term: Term) -> NDArray[np.intp]:
        """Numbers of everything, all levels, and the pairs that share a level with a term."""
        mine = np.zeros(len(self.levels), dtype=bool)
        mine[[self.index[level] for level in term]] = True
        first = 1 + len(self.levels)
        return np.concatenate([np.arange(first), first + np.flatnonzero(mine[self.pairs].any(axis=1))])

    def grow(self, term: Term, grown: Sequence[Term]) -> list[Term]:
        """The grown terms, a leading term, and those with one level more or less than it."""
        found = dict.fromkeys(grown)
        if len(found) >= GROWN or not term:
            return list(found)
        used = {level.option for level in term}
        more = self.levels if len(term) < len(DEGREES) - 1 else ()
        larger = (in_order((*term, level)) for level in more if level.option not in used)
        smaller = (tuple(x for x in term if x != level) for level in term)
        for candidate in (term, *smaller, *larger):
            if len(candidate) > 2:
                found[candidate] = None
        return list(found)

    def named(self, term: Term) -> Names:
        """A term as sorted level texts."""
        return tuple(sorted(str(level) for level in term))

    def canonical(self, term: Term) -> tuple[Names, tuple[Names, ...]]:
        """The shortest, then alphabetically first term of the same valid configurations; the others.

        Looked for among single levels, sub-terms, and terms in which a level is replaced by an equal one.
        """
        names = self.named(term)
        parts = [tuple(sorted(c)) for n in range(len(names)) for c in combinations(names, n)]
        singles: list[Names] = [(str(level),) for level in self.levels] if names else []
        others = (t for t in dict.fromkeys([*parts, *singles]) if t != names and len(t) <= len(names))
        found = [names, *(other for other in others if self.equivalent(names, other))]
        found.sort(key=lambda t: (len(t), t))
        return found[0], tuple(found[1:])


def in_order(levels: Iterable[Level]) -> Term:
    """A term of these levels."""
    return tuple(sorted(levels, key=str))
