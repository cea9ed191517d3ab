"""How much the profiled time of a method varies between trials of one build, and the scale between builds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.distributions import chi2_median, normal_quantile

LEAST_VARIATION = 0.01
"""Coefficient of variation of a method's time between trials, below what replicates can show. Arbitrary."""
ALONE = 0.05
"""The same when nothing was repeated. Arbitrary."""
COMMON_FREEDOM = 20
"""Degrees of freedom that the spread common to all methods counts for, beside a method's own."""
HEAVY, LIGHT = 0.01, 0.001
"""Shares of methods from which on their spread is of proportion, and up to which of bursts. Arbitrary."""
FEW = 5
"""Methods whose spread tells the size of bursts. Arbitrary."""
DRIFT = 0.01
"""Standard deviation of a profiled trial's speed against trials without profiler, logarithmic. Arbitrary."""
MOVED = 0.5
"""Standard deviation of the change of a method that changed, of its cost. Arbitrary."""
MOST_METHODS = 400
"""Methods that decide on the scale: the dearest."""
PLACES = 1001
LEAST_DEVIATION = 1e-6

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Variance of the share of each method in one trial, shape (methods,), and its degrees of freedom."""

    variance: Array
    freedom: int


def spread(groups: Sequence[Array], samples: float | None) -> Spread:
    """From replicates, shapes (profiles, methods), shrunk to what is common: counting and proportion.

    The variance of a share p is p b + b² + (v p)²: time comes in bursts of b (a sample, or a while in which
    the program waited for a core), of which any method may get one, and trials differ by the proportion v.
    Both are estimated over all methods. Shrinkage as of variances in limma (Smyth 2004).
    """
    share = np.mean([group.mean(axis=0) for group in groups], axis=0)
    free = sum(len(group) - 1 for group in groups)
    if free == 0:
        return Spread(share / (samples or np.inf) + (ALONE * share) ** 2, COMMON_FREEDOM)
    own = np.sum([((g - g.mean(axis=0)) ** 2).sum(axis=0) for g in groups], axis=0) / free
    usual = float(chi2_median(free)) / free
    burst = _burst(own, share < (2.0 / samples if samples else LIGHT))
    if samples:
        burst = burst if burst > 2.0 / samples else 1.0 / samples
    counting = share * burst * (1.0 - np.minimum(share, 1.0))
    heavy = share >= HEAVY
    left = np.median((own - counting)[heavy] / share[heavy] ** 2) / usual if heavy.any() else 0.0
    common = counting + burst**2 + max(LEAST_VARIATION**2, float(left)) * share**2
    shrunk = (COMMON_FREEDOM * common + free * own) / (COMMON_FREEDOM + free)
    return Spread(shrunk, COMMON_FREEDOM + free)


def _burst(own: Array, light: NDArray[np.bool_]) -> float:
    """The usual size of what comes and goes in methods that cost next to nothing; 0: there are too few."""
    light = light & (own > 0.0)
    if light.sum() < FEW:
        return 0.0
    return float(np.sqrt(2.0) * own[light].sum() / np.sqrt(own[light]).sum())


@dataclass(frozen=True)
class Scale:
    """Factor from shares at head to shares of base's cost, and its standard deviation."""

    factor: float
    deviation: float


def common_scale(
    shares: tuple[Array, Array],
    deviation: Array,
    moved: Array,
    *,
    ratio: float,
    interval: tuple[float, float],
) -> Scale:
    """The factor at which most methods cost at head what they cost at base.

    shares: of base and head, shape (methods,); deviation: of their difference; moved: probability that a
    method changed, before time is looked at; ratio, interval: of the trials without profiler, which tell
    what of two answers is right: one method got dearer, or all others cheaper. Each method either kept its
    cost or moved by anything; the ratio may be off (Student, 4 degrees of freedom).
    """
    base, head = shares
    dearest = np.argsort(np.maximum(base, head))[-MOST_METHODS:]
    base, head, deviation, moved = base[dearest], head[dearest], deviation[dearest], moved[dearest]
    known = (interval[1] - interval[0]) / ratio / (2.0 * normal_quantile(0.95))
    width = float(np.hypot(known, DRIFT))
    centre = float(np.log(ratio))
    ends = min(0.0, centre) - 0.3, max(0.0, centre) + 0.3
    places = np.linspace(*ends, PLACES)
    deviation = np.maximum(deviation, LEAST_DEVIATION)
    # Between both scales: on base's alone, the noise of many small methods would make head's seem too large.
    root = np.exp(places / 2.0)[:, None]
    change = root * head - base / root
    deviation = deviation * np.sqrt((root**2 + root**-2) / 2.0)
    wide = np.sqrt(deviation**2 + (MOVED * (base + head) / 2.0) ** 2)
    from scipy import stats  # half a second, only when methods are compared

    kept = stats.t.pdf(change / deviation, 10) / deviation * (1.0 - moved)
    other = np.exp(-0.5 * (change / wide) ** 2) / (wide * np.sqrt(2.0 * np.pi)) * moved
    logs = np.log(kept + other).sum(axis=1) + stats.t.logpdf((places - centre) / width, 4)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = float(weights @ places)
    return Scale(float(np.exp(mean)), float(np.sqrt(weights @ (places - mean) ** 2)))
