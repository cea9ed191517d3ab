"""How well change points match the truth: the exact term within 5 commits, one to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from bot.model.space import Term

TOLERANCE = 5
LARGE = 0.10
"""Relative size from which a step counts as large."""

Place = tuple[int, Term]


@dataclass(frozen=True)
class Match:
    """true, found, hits: counts over all steps; large_*: without small steps and what was found of them.

    exact: hits at the very revision. Counts, so that cells can be pooled.
    """

    true: int
    found: int
    hits: int
    exact: int
    large_true: int
    large_found: int
    large_hits: int

    @property
    def f1(self) -> float:
        """Over all steps; 1 when there is nothing and nothing is found."""
        return _f1(self.hits, self.true, self.found)

    @property
    def large_f1(self) -> float:
        """Over large steps; small ones that are found count neither way."""
        return _f1(self.large_hits, self.large_true, self.large_found)


def match(truth: Sequence[tuple[int, Term, float]], found: Sequence[Place]) -> Match:
    """Scores found (revision, term) against true (revision, term, relative size)."""
    cost = np.array(
        [
            # The more hits the better; among equally many, the closer.
            [1.0 - abs(a - c) * 1e-3 if b == d and abs(a - c) <= TOLERANCE else 0.0 for c, d in found]
            for a, b, _ in truth
        ]
    ).reshape(len(truth), len(found))
    rows, columns = linear_sum_assignment(cost, maximize=True) if cost.size else ((), ())
    pairs = [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if cost[i, j] > 0]
    large = {i for i, (_, _, size) in enumerate(truth) if abs(size) >= LARGE}
    small_hits = sum(i not in large for i, _ in pairs)
    return Match(
        true=len(truth),
        found=len(found),
        hits=len(pairs),
        exact=sum(truth[i][0] == found[j][0] for i, j in pairs),
        large_true=len(large),
        large_found=len(found) - small_hits,
        large_hits=len(pairs) - small_hits,
    )


def _f1(hits: int, true: int, found: int) -> float:
    return 2.0 * hits / (true + found) if true + found else 1.0
