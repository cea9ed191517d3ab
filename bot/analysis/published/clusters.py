"""Candidate commits: where the peaks of all configurations gather."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

BANDWIDTHS = (2.5, 5.0, 10.0)
"""Commits. Section 3.3.1 names none; finer ones split what the tolerance of 5 commits treats as one."""
_REACH = 6.0  # bandwidths after which a kernel is cut off


def candidate_commits(peaks: NDArray[np.int64], n_commits: int) -> NDArray[np.int64]:
    """Local maxima of a kernel density estimate of the peaks (section 3.3.1), ascending.

    Of `BANDWIDTHS` the one under which each peak is likeliest given all others is taken.

    Args:
        peaks: commits, one entry for each configuration that peaks there, shape (n,).
        n_commits: length of the history.
    """
    if not len(peaks):
        return np.zeros(0, dtype=np.int64)
    counts = np.bincount(peaks, minlength=n_commits).astype(np.float64)
    # Commits are whole numbers: the density is a histogram, blurred.
    densities = [gaussian_filter1d(counts, b, mode="constant", truncate=_REACH) for b in BANDWIDTHS]
    fits = [_left_out(counts, d, b) for d, b in zip(densities, BANDWIDTHS, strict=True)]
    density = densities[int(np.argmax(fits))]
    found: NDArray[np.int64] = find_peaks(np.concatenate(([0.0], density, [0.0])))[0] - 1
    return found


def _left_out(counts: NDArray[np.float64], density: NDArray[np.float64], bandwidth: float) -> float:
    """Log likelihood of each peak under the density of the others."""
    own = 1 / (bandwidth * np.sqrt(2 * np.pi))
    seen = counts > 0
    rest = np.maximum(density[seen] - own, 1e-12)
    return float((counts[seen] * np.log(rest)).sum())
