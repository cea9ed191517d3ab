"""The solution cache: associations gain weight while they are found again, and are dropped otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

W_INCREASE = 1.0
"""Weight of one sighting (section 3.5)."""
E_DECREASE = 0.5
"""Every iteration multiplies all weights by it (section 3.5; the digit is lost in our copy)."""
K = 3
"""An association seen once is dropped after so many iterations; so many without a change end the search."""
T_DROP = E_DECREASE**K * W_INCREASE
"""Lighter associations are dropped (section 3.5)."""
STABLE = E_DECREASE * W_INCREASE
"""All weights must be above it to stop (section 3.5): seen in more than one of the latest iterations."""
HEAVIEST = W_INCREASE * E_DECREASE / (1 - E_DECREASE)
"""What a weight tends to while its association is found in every iteration."""
TOLERANCE = 5
"""Commits within which two sightings are the same (section 4.1.4)."""

Pair: TypeAlias = tuple[int, int]
"""A commit and a column of the design; column -1: every configuration."""
EVERYTHING = -1


@dataclass(frozen=True)
class SolutionCache:
    """Weights of associations, and for how many iterations in a row they stayed the same ones."""

    weights: tuple[tuple[Pair, float], ...] = ()
    unchanged: int = 0

    def updated(self, solution: Iterable[Pair]) -> SolutionCache:
        """The cache after one more iteration: increase, decrease, drop (section 3.5).

        An association within `TOLERANCE` commits of a known one with the same column is the known one, and
        moves it to where it was seen last.
        """
        weights = dict(self.weights)
        seen: dict[Pair, float] = {}
        changed = False
        for commit, column in sorted(solution):
            near = [p for p in weights if p[1] == column and abs(p[0] - commit) <= TOLERANCE]
            known = min(near, key=lambda p: abs(p[0] - commit), default=None)
            changed |= known is None
            before = 0.0 if known is None else weights.pop(known)
            seen[commit, column] = before + W_INCREASE
        decreased = [(pair, w * E_DECREASE) for pair, w in sorted({**weights, **seen}.items())]
        kept = tuple((pair, w) for pair, w in decreased if w >= T_DROP)
        changed |= len(kept) < len(decreased)
        return SolutionCache(kept, 0 if changed else self.unchanged + 1)

    @property
    def stable(self) -> bool:
        """Whether to stop: nothing was added or dropped for `K` iterations and all is confirmed."""
        return bool(self.weights) and self.unchanged >= K and all(w > STABLE for _, w in self.weights)
