"""Paired log ratios: how they are kept, their robust location and their scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HUBER = 1.5
"""Residuals beyond so many scales count no more (Huber 1964: 96 % efficient when the noise is normal)."""
PRIOR_PAIRS = 4.0
"""A configuration's own scale counts against the pooled one like its pairs against so many."""
UNKNOWN = 0.1
"""Scale of a pair's log ratio while nothing is known of the noise."""
TRUSTS = np.linspace(0.0, 1.0, 5)
"""Powers of a pattern of noise that are compared."""
LEAST_PATTERN = 8
"""Fewer configurations with a pair do not tell a right pattern from a wrong one."""
SMALL_SAMPLE = np.array([1.0, 1.0, 1.196, 1.495, 1.363, 1.206, 1.2, 1.14, 1.129, 1.107])
"""Factors that unbias the median absolute deviation of n < 10 values (Croux and Rousseeuw 1992)."""


class PairLog:
    """Log ratios of every configuration, in order of arrival.

    values: shape (n_configurations, most pairs so far), NaN where one has fewer; counts: pairs each.
    """

    def __init__(self, configurations: int) -> None:
        self.counts = np.zeros(configurations, dtype=np.int64)
        self._values = np.full((configurations, 16), np.nan)

    def extend(self, configurations: int) -> None:
        """Makes room for further configurations."""
        self.counts = np.concatenate([self.counts, np.zeros(configurations, dtype=np.int64)])
        more = np.full((configurations, self._values.shape[1]), np.nan)
        self._values = np.concatenate([self._values, more])

    @property
    def values(self) -> Floats:
        """Log ratios, shape (n_configurations, max(counts))."""
        return self._values[:, : max(int(self.counts.max(initial=0)), 1)]

    def add(self, configuration: int, log_ratio: float) -> None:
        """Appends one pair's log ratio."""
        self.add_all(np.array([configuration]), np.array([log_ratio]))

    def add_all(self, configurations: NDArray[np.int64], log_ratios: Floats) -> None:
        """Appends pairs in order, (n_pairs,) each."""
        order = np.argsort(configurations, kind="stable")
        rows = configurations[order]
        fresh = np.bincount(rows, minlength=len(self.counts))
        places = np.arange(len(rows)) - (np.cumsum(fresh) - fresh)[rows] + self.counts[rows]
        while places.max(initial=0) >= self._values.shape[1]:
            self._values = np.hstack([self._values, np.full_like(self._values, np.nan)])
        self._values[rows, places] = log_ratios[order]
        self.counts += fresh


def scales(values: Floats, counts: NDArray[np.int64], floor: float, pattern: Floats | None = None) -> Floats:
    """Scale of one pair's log ratio in each configuration, shape (n_configurations,), never below `floor`.

    The median absolute deviation of a configuration, drawn towards a pooled scale: the median over all
    configurations of successive differences, which needs no location and forgives slow drift.

    pattern: how noisy each configuration is believed to be beside the others, (n_configurations,). It is
    followed as far as these pairs bear it out, and never below what a configuration's own pairs show.
    """
    believed = np.ones(len(values)) if pattern is None else pattern
    unit = believed ** trust(values, counts, believed)
    pooled = max(_pooled(values / unit[:, None], counts), floor)
    n = np.maximum(counts, 1)
    centre = _medians(values, counts)
    deviations = np.abs(values - centre[:, None])
    own = unbiased(n) * _medians(deviations, counts)
    weight = np.where(counts >= 2, n - 1.0, 0.0)
    own = np.where(weight > 0, own, 0.0)
    prior = np.maximum(pooled * unit, np.minimum(own, pooled))
    return np.maximum(np.sqrt((weight * own**2 + PRIOR_PAIRS * prior**2) / (weight + PRIOR_PAIRS)), floor)


def unbiased(counts: NDArray[np.int64]) -> Floats:
    """What makes the median distance from the median a normal standard deviation, for so many values each."""
    return 1.4826 * np.where(counts < 10, SMALL_SAMPLE[np.minimum(counts, 9)], counts / (counts - 0.8))


def trust(values: Floats, counts: NDArray[np.int64], pattern: Floats) -> float:
    """The power of a pattern of noise, 0 (nothing of it) to 1, that fits the pairs so far.

    Posterior mean over `TRUSTS` by the likelihood of absolute differences (Laplace's distribution) of
    successive pairs and of the first pairs from their median: none depends on the sign of a change.
    """
    started = np.flatnonzero(counts > 0)
    if len(started) < LEAST_PATTERN or np.ptp(pattern) == 0.0:
        return 0.0
    steps = np.abs(np.diff(values, axis=1)) / np.sqrt(2.0)
    rows, columns = np.nonzero(~np.isnan(steps))
    first = values[started, 0]
    away = np.concatenate([steps[rows, columns], np.abs(first - np.median(first))])
    home = np.concatenate([rows, started])
    fit = np.array(
        [
            -np.log(pattern[home] ** share).sum()
            - len(away) * np.log(np.mean(away / pattern[home] ** share) + 1e-300)
            for share in TRUSTS
        ]
    )
    chance = np.exp(fit - fit.max())
    return float(chance @ TRUSTS / chance.sum())


def locations(values: Floats, counts: NDArray[np.int64], scale: Floats) -> tuple[Floats, Floats]:
    """Huber's location of each configuration and its variance, each of shape (n_configurations,).

    Configurations without pairs get location 0 and infinite variance. The variance is the sandwich s^2
    mean(psi^2) / mean(psi')^2 / n with its ratio pooled over all configurations (Huber 1981, section 3.2).
    """
    seen = ~np.isnan(values)
    filled = np.where(seen, values, 0.0)
    n = np.maximum(counts, 1)
    place = np.nan_to_num(_medians(values, counts))
    for _ in range(20):
        residual = np.abs(filled - place[:, None]) / scale[:, None]
        weight = np.where(seen, np.minimum(1.0, HUBER / np.maximum(residual, 1e-12)), 0.0)
        place = (weight * filled).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-12)
    variance = np.where(counts > 0, _sandwich(filled - place[:, None], seen, n, scale) * scale**2 / n, np.inf)
    return place, variance


def _sandwich(residuals: Floats, seen: NDArray[np.bool_], n: NDArray[np.int64], scale: Floats) -> float:
    """Pooled ratio of a Huber location's variance to scale^2 / n."""
    use = seen & (n > 2)[:, None]
    if use.sum() < 12:
        return 1.1
    standard = (residuals / scale[:, None])[use]
    correction = np.broadcast_to((n / np.maximum(n - 1.0, 1.0))[:, None], residuals.shape)[use]
    inside = float(np.mean(np.abs(standard) < HUBER))
    psi = np.clip(standard, -HUBER, HUBER)
    return float(np.clip(np.mean(correction * psi**2) / max(inside, 0.3) ** 2, 1.0, 4.0))


def _pooled(values: Floats, counts: NDArray[np.int64]) -> float:
    """Scale of one pair over all configurations."""
    steps = np.abs(np.diff(values, axis=1))
    steps = steps[~np.isnan(steps)]
    if len(steps) >= 3:
        return float(1.4826 * np.median(steps) / np.sqrt(2.0))
    first = values[counts > 0, 0]
    if len(first) >= 4:
        return float(1.4826 * np.median(np.abs(first - np.median(first))))
    return UNKNOWN


def _medians(values: Floats, counts: NDArray[np.int64]) -> Floats:
    """Median of each row's first `counts` values (NaN sorts last); NaN for an empty row."""
    ordered = np.sort(values, axis=1)
    rows = np.arange(len(ordered))
    low, high = np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, ordered.shape[1] - 1)
    middle: Floats = (ordered[rows, low] + ordered[rows, high]) / 2.0
    return middle
