"""Commits that stand out in a configuration's change point likelihood."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.signal import find_peaks

N_CPL = 3.0
"""Section 3.3.1's factor n_cpl. Its digit is lost in our copy; the reference's 5 misses one of many steps."""
LONG = 2000
"""Commits from which on n_cpl holds as it stands: the reference's example."""


def peak_threshold(likelihoods: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average likelihood plus n_cpl standard deviations over all commits (section 3.3.1, equation 6).

    A step in a history of n commits, all of them measured, stands out by about 1.1 ln(n) standard deviations
    (by simulation). In proportion less is asked of histories shorter than `LONG`.

    Args:
        likelihoods: shape (n_configurations, n_commits).

    Returns:
        Shape (n_configurations,).
    """
    n_commits = likelihoods.shape[1]
    factor = N_CPL * min(1.0, math.log(n_commits) / math.log(LONG))
    found: NDArray[np.float64] = 1 / n_commits + factor * _deviation(likelihoods)
    return found


def peaks(likelihoods: NDArray[np.float64]) -> NDArray[np.int64]:
    """The commits of all peaks above their configuration's threshold, one entry for each peak.

    A peak is a local maximum, the middle of it where it is flat.

    Args:
        likelihoods: shape (n_configurations, n_commits).
    """
    found = [
        # A border on both sides: the first and the last commit can be peaks, too.
        find_peaks(np.concatenate(([0.0], row, [0.0])), height=limit)[0] - 1
        for row, limit in zip(likelihoods, peak_threshold(likelihoods), strict=True)
        if row.any()
    ]
    return np.concatenate(found).astype(np.int64) if found else np.zeros(0, dtype=np.int64)


def uncertain(likelihoods: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Commits that could be a change point but are not sure to be one (section 3.4.1).

    Above the average likelihood, below the average plus one standard deviation; the shape of `likelihoods`.
    """
    average = 1 / likelihoods.shape[1]
    limit = average + _deviation(likelihoods)[:, None]
    found: NDArray[np.bool_] = (likelihoods > average) & (likelihoods < limit)
    return found


def _deviation(likelihoods: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation around 1 / n_commits over all commits, shape (n_configurations,)."""
    found: NDArray[np.float64] = np.sqrt(((likelihoods - 1 / likelihoods.shape[1]) ** 2).mean(axis=1))
    return found
