"""How far a change point reaches: its interval of commits and its ratio where its term holds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

MASS = 0.9
"""Of the likelihood around a change point, and of the ratio's confidence."""
NEAREST = 3
"""Commits on each side whose median is a configuration's level there."""

History = tuple[NDArray[np.int64], NDArray[np.float64]]


def interval(commit: int, likelihood: NDArray[np.float64]) -> tuple[int, int]:
    """The first and last commit that hold 90 % of the likelihood of the hill around a commit.

    The hill is what is connected with the commit at half of its height or more. The paper states no interval.

    Args:
        commit: the change point, which the interval always holds.
        likelihood: of the affected configurations together, shape (n_commits,).
    """
    if likelihood[commit] <= 0:
        return commit, commit
    high = likelihood >= likelihood[commit] / 2
    low_ends = np.flatnonzero(~high[:commit])
    first = int(low_ends[-1]) + 1 if len(low_ends) else 0
    after = np.flatnonzero(~high[commit:])
    last = commit + int(after[0]) - 1 if len(after) else len(likelihood) - 1
    mass = np.cumsum(likelihood[first : last + 1])
    mass /= mass[-1]
    low = first + int(np.searchsorted(mass, (1 - MASS) / 2))
    high_end = first + int(np.searchsorted(mass, (1 + MASS) / 2))
    return min(low, commit), max(min(high_end, last), commit)


def ratio(extent: tuple[int, int], histories: Iterable[History]) -> tuple[float, float, float] | None:
    """Seconds after / seconds before an interval: the median over configurations, and its 90 % bounds.

    The bounds are order statistics (the sign test's). None: no configuration was measured on both sides.

    Args:
        extent: first and last commit at which the change may have happened.
        histories: ascending commits and seconds of the affected configurations.
    """
    moves = [move for commits, values in histories if (move := _move(extent, commits, values)) is not None]
    if not moves:
        return None
    from scipy.stats import binom  # half a second, not of every start

    ordered = np.sort(moves)
    rank = int(binom.ppf((1 - MASS) / 2, len(moves), 0.5))
    low, middle, high = (
        ordered[max(rank - 1, 0)],
        np.median(ordered),
        ordered[min(len(moves) - rank, len(moves) - 1)],
    )
    return float(np.exp(middle)), float(np.exp(low)), float(np.exp(high))


def _move(extent: tuple[int, int], commits: NDArray[np.int64], values: NDArray[np.float64]) -> float | None:
    """Log ratio of the medians of the nearest commits on both sides."""
    before = values[: np.searchsorted(commits, extent[0])][-NEAREST:]
    after = values[np.searchsorted(commits, extent[1]) :][:NEAREST]
    if not len(before) or not len(after):
        return None
    low, high = float(np.median(before)), float(np.median(after))
    return float(np.log(high / low)) if low > 0 and high > 0 else None
