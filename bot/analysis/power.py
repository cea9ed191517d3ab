"""How large a change must be to be seen in four runs of five."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bot.analysis.distributions import student_quantile
from bot.analysis.look import CLIP
from bot.analysis.pairs import Floats
from bot.analysis.sequential import BETS

POWER = 0.84
"""Normal quantile of 80 % power."""
_CHANGES = np.exp(np.linspace(np.log(0.002), np.log(2.0), 60))


def smallest_visible(
    covers: Floats,
    scale: Floats,
    counts: NDArray[np.int64],
    *,
    margin: float,
    evidence: Floats,
    score: Floats,
) -> Floats:
    """Smallest change (ratio minus one) of each row of covers that alarms in four of five; inf: none.

    covers: (n, n_configurations); scale: of a pair; counts: pairs. Either the bets reach the log evidence or
    the look at the end reaches the score, both (n,); means and variances over the noise.
    """
    pairs = covers * counts
    gap = (np.log1p(_CHANGES)[None, :] - margin) / scale[:, None]
    values = gap[:, :, None] + _nodes()
    factor = np.log(2.0) - np.logaddexp(0.0, -2.0 * BETS[:, None] * values[:, :, None, :])
    mean, spread = _summed(pairs, factor)
    won = (mean - POWER * spread).max(axis=2) - np.log(len(BETS))
    cut = np.clip(values, -CLIP, CLIP)[:, :, None, :]
    mean, spread = _summed(pairs, cut)
    square, _ = _summed(pairs, cut**2)
    stands = ((mean - POWER * spread) / np.sqrt(np.maximum(square, 1e-12)))[:, :, 0]
    enough = (won >= evidence[:, None]) | (stands >= score[:, None])
    return np.where(enough.any(axis=1), _CHANGES[np.argmax(enough, axis=1)], np.inf)


def _summed(pairs: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation, summed over pairs, of values (n_configurations, ..., nodes)."""
    mean = values.mean(axis=-1)
    variance = np.maximum((values**2).mean(axis=-1) - mean**2, 0.0)
    shape = (len(pairs), *mean.shape[1:])
    flat = len(mean)
    total = (pairs @ mean.reshape(flat, -1)).reshape(shape)
    return total, np.sqrt(pairs @ variance.reshape(flat, -1)).reshape(shape)


@cache
def _nodes() -> Floats:
    """Noise in scales: quantiles of Student's t, because a normal one would promise too much."""
    return student_quantile((np.arange(15) + 0.5) / 15, 5) / (1.4826 * student_quantile(0.75, 5))
