"""How large the changes of each term are likely to be: those of the past, and beside them the default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.candidates import Candidates
from bot.analysis.pairs import Floats
from bot.analysis.past_changes import PastChange

OTHERS = 3.0
"""Sizes of all changes count for a term like so many of its own."""
SMEAR = 0.5
"""Standard deviation of the logarithm of a size around a past one: changes resemble each other loosely."""


@dataclass(frozen=True)
class Sizes:
    """A mixture for each candidate: past changes' sizes, smeared, and a default that says what is left.

    past: absolute log ratios, (n_changes,), above 0. weights: of each past size, (n_terms, n_changes); rows
    sum to less than 1, so that no size becomes impossible.
    """

    past: Floats
    weights: Floats

    @property
    def cost(self) -> float:
        """Log evidence that it costs at most where sizes are others than those of the past."""
        return float(-np.log1p(-self.weights.sum(axis=1).max()))

    def at(self, points: Floats, default: Floats, *, like: Floats | None = None) -> Floats:
        """Probability of each point, (n_terms, n_points), from what it has by default.

        points: above 0 and evenly spaced on a logarithmic scale, default: (n_points,). like: the points that
        past sizes correspond to, (n_changes,), where points are no log ratios.
        """
        middles = np.log(self.past if like is None else like)
        near = np.exp(-0.5 * ((np.log(points) - middles[:, None]) / SMEAR) ** 2) + 1e-300
        near /= near.sum(axis=1, keepdims=True)
        left = 1.0 - self.weights.sum(axis=1)
        found: Floats = left[:, None] * default + self.weights @ near
        return found


def sizes(changes: Sequence[PastChange], found: Candidates, weight: float) -> Sizes | None:
    """What past changes say of candidates' sizes, with this weight in all; None: there was no change.

    A term's own changes count most, those of others make up for few: a term that never changed is expected
    to change as the program does.
    """
    kept = [change for change in changes if change.size != 0.0]
    if not kept or weight <= 0.0:
        return None
    own = np.array(
        [[sum(change.shares.get(t, 0.0) for t in group.terms) for change in kept] for group in found.groups]
    )
    count = own.sum(axis=1, keepdims=True)
    weights = weight * (own + OTHERS / len(kept)) / (count + OTHERS)
    return Sizes(np.abs([change.size for change in kept]), weights)
