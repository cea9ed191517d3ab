"""Quantiles and tails of a few distributions, without the half second that `scipy.stats` costs each start.

`scipy.special` still costs a third of one: who needs normal quantiles alone does not load it.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Quantiles = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


_standard = NormalDist()
_normal = np.frompyfunc(lambda p: _standard.inv_cdf(p) if p > 0.0 else -np.inf, 1, 1)


def _special() -> Any:  # scipy publishes no types
    from scipy import special

    return special


def normal_quantile(probability: ArrayLike) -> Quantiles:
    """Where the standard normal distribution reaches probabilities (below 1)."""
    return np.asarray(_normal(probability), dtype=np.float64)


def student_quantile(probability: ArrayLike, freedom: ArrayLike) -> Quantiles:
    """Where Student's t with degrees of freedom (inf: the normal distribution) reaches probabilities."""
    return np.asarray(_special().stdtrit(freedom, probability))


def student_tail(value: ArrayLike, freedom: ArrayLike) -> Quantiles:
    """Probability that Student's t is larger than values."""
    return np.asarray(_special().stdtr(freedom, np.negative(value)))


def chi2_tail(value: ArrayLike, freedom: ArrayLike) -> Quantiles:
    """Probability that a sum of squares of normal numbers is larger than values."""
    return np.asarray(_special().chdtrc(freedom, value))


def chi2_median(freedom: ArrayLike) -> Quantiles:
    """Median of a sum of so many squares of normal numbers."""
    return np.asarray(_special().chdtri(freedom, 0.5))


def cauchy_tail(value: ArrayLike) -> Quantiles:
    """Probability that a Cauchy variable is larger than values."""
    return np.asarray(np.arctan2(1.0, value) / np.pi)
