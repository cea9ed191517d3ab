"""How likely each commit is to have changed the performance of one configuration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.published.threshold import steps

DISTANCE_POWER = 2
"""A pair weighs 1 / distance ** 2 (section 3.2, equation 4; the reference squares the distance, too)."""


def change_point_likelihood(
    commits: NDArray[np.int64], values: NDArray[np.float64], *, n_commits: int, threshold: float
) -> NDArray[np.float64]:
    """The likelihood of each commit being a change point (section 3.2, equations 4 and 5).

    Every pair of measured commits a < b whose performance differs speaks for each commit in (a, b], the more
    the closer they are: the step happened at one of these. Commit 0 has no predecessor, so it never changes.

    Args:
        commits: strictly ascending, shape (n,).
        values: their seconds, finite, shape (n,).
        n_commits: length of the history.
        threshold: relative, see `steps`.

    Returns:
        Shape (n_commits,), sums to 1; all 0 when no pair differs.
    """
    likelihood = np.zeros(n_commits)
    if len(commits) < 2:
        return likelihood
    gaps = np.abs(commits[:, None] - commits).astype(np.float64)
    np.fill_diagonal(gaps, 1.0)
    weights = np.triu(steps(values, threshold) / gaps**DISTANCE_POWER, 1)
    # A pair opens after its first commit and closes after its second.
    opened = np.cumsum(weights.sum(axis=1) - weights.sum(axis=0))[:-1]
    opened[~_open(weights)] = 0.0  # what rounding leaves between pairs is no evidence
    likelihood[commits[0] + 1 : commits[-1] + 1] = np.repeat(opened, np.diff(commits))
    total = likelihood.sum()
    return likelihood / total if total > 0 else likelihood


def _open(weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether any pair spans the gap after each measured commit but the last, shape (n - 1,)."""
    pairs = weights > 0
    found: NDArray[np.bool_] = np.cumsum(pairs.sum(axis=1) - pairs.sum(axis=0))[:-1] > 0
    return found
