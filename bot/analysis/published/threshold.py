"""Which difference between two commits counts as a change of performance."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 0.01
"""Section 3.2 leaves it to the user; the reference's default, relative."""
DEVIATIONS = 2.0
"""How many standard deviations of a difference noise may explain; section 3.2 names no number."""


def steps(values: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """The step function (section 3.2, equation 3): which pairs differ by more than the threshold.

    Args:
        values: seconds, shape (n,), finite.
        threshold: relative to the smaller of the two.

    Returns:
        Symmetric, shape (n, n).
    """
    sizes = np.abs(values)
    found: NDArray[np.bool_] = np.abs(values[:, None] - values) > threshold * np.minimum(
        sizes[:, None], sizes
    )
    return found


def noise_threshold(repeated: Iterable[NDArray[np.float64]]) -> float:
    """The least threshold that the variation of repeated measurements allows (section 3.2); relative.

    Args:
        repeated: for each configuration and commit measured more than once, its seconds, shape (n >= 2,).

    Returns:
        `DEVIATIONS` standard deviations of the difference of two single measurements; 0 without repetitions.
    """
    squares, freedom = 0.0, 0
    for values in repeated:
        mean = values.mean()
        if mean != 0:
            squares += float((((values - mean) / mean) ** 2).sum())
            freedom += len(values) - 1
    return DEVIATIONS * float(np.sqrt(2 * squares / freedom)) if freedom else 0.0
