"""Whether the few values of a table that moved are noise in those that were measured again, or a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.pairs import Floats
from bot.model.space import Configuration

FEWEST = 3
"""Configurations that moved; of two that moved opposite ways one may be guessed to be noise, too."""
UNLIKE, SEVERAL = 0.6, 8
"""Of noise so many amounts (a share, at most a number) are unlike: a change moves many alike."""
MOST_LEVELS = 60
"""With more, only single levels are tried as the one of two terms."""

Bools = NDArray[np.bool_]


def scattered(configurations: Sequence[Configuration], moves: Floats, dust: float) -> bool:
    """Whether what moved moved by unlike amounts, and is not what one or two terms hold in.

    Where most values are carried on from the revision before, the few that were measured again are anywhere;
    a change moves all the configurations between those that it moves, mostly one way. One alone is more
    likely measured again than hit by a change of three options at once. moves: log ratios, (n,). dust: what
    is no move.
    """
    moved = np.abs(moves) > dust
    count = int(moved.sum())
    if count == 1:
        return len(moves) > 2 and not _short_term(_numbered(configurations), moved)
    opposite = len(np.unique(np.sign(moves[moved]))) > 1
    unlike = len(np.unique(np.floor(moves[moved] / dust)))
    if count < FEWEST - opposite or unlike < min(UNLIKE * count, SEVERAL):
        return False
    table = _numbered(configurations)
    one_term = not opposite and _one_term(table, moved)
    one_misses = moved.all() or bool((_between(table, ~moved) == ~moved).all())
    return not (one_term or one_misses or _two_terms(table, moved))


def _numbered(configurations: Sequence[Configuration]) -> NDArray[np.intp]:
    """Values as numbers, (n_configurations, n_options)."""
    columns = [
        {value: i for i, value in enumerate(dict.fromkeys(x))} for x in zip(*configurations, strict=True)
    ]
    rows = [[codes[v] for codes, v in zip(columns, c, strict=True)] for c in configurations]
    return np.array(rows, dtype=np.intp)


def _one_term(table: NDArray[np.intp], moved: Bools) -> bool:
    """Whether no other configuration lies between these, by its values; any one alone is a term's."""
    return bool(moved.sum() > 1 and (_between(table, moved) == moved).all())


def _between(table: NDArray[np.intp], moved: Bools) -> Bools:
    found = np.ones(len(table), dtype=bool)
    for column in table.T:
        found &= np.isin(column, column[moved])
    return found


def _short_term(table: NDArray[np.intp], moved: Bools) -> bool:
    """Whether a level, or a pair of levels, holds just there."""
    return any(bool((held == moved).all()) for held in _terms(table))


def _two_terms(table: NDArray[np.intp], moved: Bools) -> bool:
    """Whether some level, or pair of levels, moved wholly, and what is left is one term's."""

    def rest_is_one(left: Bools) -> bool:
        return not left.any() or bool(left.sum() > 1 and moved[_between(table, left)].all())

    return any(held.sum() > 1 and moved[held].all() and rest_is_one(moved & ~held) for held in _terms(table))


def _terms(table: NDArray[np.intp]) -> Iterator[Bools]:
    """The configurations of each level and each pair of levels."""
    levels = [(k, table[:, k] == v) for k in range(table.shape[1]) for v in np.unique(table[:, k])]
    yield from (held for _, held in levels)
    if len(levels) <= MOST_LEVELS:
        yield from (one & two for (k, one), (m, two) in combinations(levels, 2) if k != m)
