"""How far runs of the same code differ, in one run of the product."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bot.model.report_part import Part

LEAST_FOR_SCALE = 3
"""A standard deviation of fewer values is not worth stating."""
UNSTEADY, LEAST_PAIRS = 10.0, 5
"""Percent by which pairs of equal runs spread, from which on it is the program that differs from run to run
and not the machine; and of how many. Real programs in pairs on one core spread by 1 to 5 %."""


class Noise(Part):
    """This run's own noise, from pairs of base against base; of a range, from trials that were repeated."""

    metric: str
    pairs: int
    sd_percent: float | None
    bias_percent: float | None

    @classmethod
    def of_pairs(cls, metric: str, log_ratios: Sequence[float]) -> Noise:
        """Robust standard deviation (by the median absolute deviation) and middle of pairs of equal code."""
        found = np.array([value for value in log_ratios if math.isfinite(value)])
        if len(found) < LEAST_FOR_SCALE:
            return cls(metric=metric, pairs=len(found), sd_percent=None, bias_percent=None)
        middle = float(np.median(found))
        scale = 1.4826 * float(np.median(np.abs(found - middle)))
        return cls(metric=metric, pairs=len(found), sd_percent=100 * scale, bias_percent=100 * middle)

    @property
    def unsteady(self) -> bool:
        """Whether equal runs differ by more than machines let them."""
        return self.sd_percent is not None and self.sd_percent >= UNSTEADY and self.pairs >= LEAST_PAIRS
