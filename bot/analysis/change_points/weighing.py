"""Trials against each other: what those on both sides of a place tell, and what is left when values walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.analysis.change_points.noise import Floats, Ints

Columns = tuple[Ints, Ints, Floats, Floats]
"""Configuration, revision, value and standard deviation of trials, (n,) each, in order of configuration."""
Flags = NDArray[np.bool_]
Sides = tuple[Floats, Floats, Flags]
"""By how much each configuration moves, the variance of that, and whether it has both sides."""


@dataclass(frozen=True)
class Walk:
    """The precision of trials that are a random walk: differences of neighbours in time are independent.

    order: numbers of trials by configuration and revision, (n,); weight: precision of the difference of each
    to the next, (n - 1,), 0 where that is of another configuration.
    """

    order: Ints
    weight: Floats

    @classmethod
    def of(cls, trials: Columns, walk: Floats) -> Walk:
        """walk: standard deviation of a move from one revision to the next in each trial's unit, (n,).

        A trial's own one is that of two next to each other; each further revision adds a move.
        """
        c, r = trials[:2]
        order = np.lexsort((r, c))
        one, other = order[:-1], order[1:]
        return cls(order, np.where(c[one] == c[other], 1.0 / _variance(trials, walk, one, other), 0.0))

    def precise(self, values: Floats) -> Floats:
        """The precision matrix times values, (n,) or (n, k); a configuration's own level drops out."""
        weighed = (np.diff(values[self.order], axis=0).T * self.weight).T
        found = np.zeros_like(values)
        found[self.order[1:]] += weighed
        found[self.order[:-1]] -= weighed
        return found

    def known(self) -> Floats:
        """What adds up, over the trials from a place on, to the information of a step there, (n,)."""
        found = np.zeros(len(self.order))
        found[self.order[1:]] += self.weight
        found[self.order[:-1]] -= self.weight
        return found


def gram(x: Floats, c: Ints, w: Floats) -> Floats:
    """Weighted products of columns without each configuration's mean, (k, k); c is in order."""
    first = np.flatnonzero(np.diff(c, prepend=-1))
    weighted = x * w[:, None]
    sums = np.add.reduceat(weighted, first, axis=0)
    return np.asarray(weighted.T @ x - sums.T @ (sums / np.add.reduceat(w, first)[:, None]))


def means(trials: Columns, early: Flags, late: Flags, count: int) -> Sides:
    """From the means of the early and the late trials of each of `count` configurations."""
    c, _, y, sd = trials
    w = sd**-2.0

    def side(rows: Flags) -> tuple[Floats, Floats]:
        total = np.bincount(c[rows], w[rows], count).astype(np.float64)
        return np.bincount(c[rows], (w * y)[rows], count) / np.where(total > 0, total, 1.0), total

    (before, known), (after, known_after) = side(early), side(late)
    both = (known > 0) & (known_after > 0)
    variance = 1.0 / np.where(both, known, 1.0) + 1.0 / np.where(both, known_after, 1.0)
    return np.where(both, after - before, 0.0), variance, both


def nearest(trials: Columns, early: Flags, late: Flags, count: int, *, walk: Floats) -> Sides:
    """From the last early and the first late trial alone: of a walk, those further away tell nothing more."""
    c, r, y, _ = trials
    last, first = np.full(count, -1, dtype=np.intp), np.full(count, -1, dtype=np.intp)
    order = np.argsort(r, kind="stable")
    rows, back = order[early[order]], order[::-1][late[order[::-1]]]
    last[c[rows]], first[c[back]] = rows, back  # of several of a configuration, the one that is written last
    both = (last >= 0) & (first >= 0)
    variance = np.where(both, _variance(trials, walk, last, first), 1.0)
    return np.where(both, y[first] - y[last], 0.0), variance, both


def _variance(trials: Columns, walk: Floats, one: Ints, other: Ints) -> Floats:
    _, r, _, sd = trials
    found: Floats = 2.0 * sd[other] ** 2 + walk[other] ** 2 * np.maximum(r[other] - r[one] - 1, 0)
    return found


def bayes_factor(moment: NDArray[Any], information: NDArray[Any], slab: float) -> NDArray[Any]:
    """Log Bayes factor of a step against none, its size normal beforehand with precision `slab`."""
    known = np.maximum(information, 0.0)  # differences of sums: no less than nothing is known
    return np.asarray(0.5 * moment**2 / (known + slab) - 0.5 * np.log1p(known / slab))
