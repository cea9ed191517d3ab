"""Where the variation of a method comes from: measurement, configuration, or the context of its calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bot.analysis.influences.costs import CostTable, Floats, Quantity

PIECE = 500
"""Methods whose runs are copied at a time: thousands of them would fill the memory."""


@dataclass(frozen=True)
class Variances:
    """Coefficients of variation of each method, shape (n_methods,); NaN: cannot be told.

    measurement: over the repetitions of a configuration, mean over configurations. configuration: of the mean
    over repetitions, over configurations. threshold: the largest measurement variation that is usual, above
    which a method depends on the configuration (figure 4's dashed line; here the 95th percentile, because
    one noisy method of thousands would hide all others).
    """

    measurement: Floats
    configuration: Floats
    threshold: float

    def depends_on_configuration(self) -> np.ndarray:
        """Methods whose cost varies more over configurations than over repetitions, bool (n_methods,)."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.configuration > self.threshold)


def variances(costs: CostTable, quantity: Quantity = "seconds") -> Variances:
    """Measurement and configuration variance of each method.

    Source: Weber, Apel and Siegmund, White-Box Performance-Influence Models (ICSE 2021), section III-A, B.
    """
    means = costs.means(quantity)
    pieces = [slice(j, j + PIECE) for j in range(0, len(costs.methods), PIECE)]
    parts = [_parts(costs, quantity, means=means[:, p], piece=p) for p in pieces]
    within = np.concatenate([w for w, _ in parts]) if parts else np.zeros(0)
    between = np.concatenate([b for _, b in parts]) if parts else np.zeros(0)
    finite = within[np.isfinite(within)]
    threshold = float(np.quantile(finite, 0.95)) if len(finite) else 0.0
    return Variances(within, between, threshold)


def _parts(costs: CostTable, quantity: Quantity, *, means: Floats, piece: slice) -> tuple[Floats, Floats]:
    """Measurement and configuration variation of some methods."""
    values = np.asarray(costs.quantities[quantity][:, piece], dtype=np.float64)
    values = np.where(costs.ran[quantity][:, None, :], np.nan_to_num(values, nan=0.0), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        repeated = np.isfinite(values).sum(axis=2)
        spread = np.nansum((values - means[:, :, None]) ** 2, axis=2) / (repeated - 1)
        each = np.where((repeated > 1) & (means > 0), np.sqrt(spread) / means, np.nan)
        counted = np.isfinite(each).sum(axis=0)
        within = np.where(counted > 0, np.nansum(each, axis=0) / counted, np.nan)
        known = np.isfinite(means)
        n = known.sum(axis=0)
        centre = np.nansum(means, axis=0) / n
        between = np.sqrt(np.nansum((means - centre) ** 2, axis=0) / (n - 1)) / centre
    return within, between


def context_variance(runs: Iterable[Floats]) -> float:
    """Coefficient of variation over the single calls of a run, mean over runs (section III-C).

    runs: the durations of each run's calls of one method, in seconds. NaN: no run has two calls.
    """
    found = [d.std(ddof=1) / d.mean() for d in runs if len(d) > 1 and d.mean() > 0]
    return float(np.mean(found)) if found else float("nan")
