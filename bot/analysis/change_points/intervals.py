"""By how much a step changes a configuration, and between what that lies in most of them."""

from __future__ import annotations

import math

import numpy as np

from bot.analysis.change_points.noise import Floats, Ints
from bot.analysis.change_points.steps import Step, StepModel

QUANTILE = 1.645
"""Standard errors of a 90 % interval."""
LEAST = 1e-3
"""Ratio that is told of what takes no time any more."""
TINY = 1e-9
"""Of a ratio: less is not told apart."""


def ratio(model: StepModel, step: Step) -> tuple[float, tuple[float, float]]:
    """Seconds after over before in the mean configuration that holds a step of a model's, and an interval.

    In 90 % of the configurations the ratio is within it. Noise is the least of what makes it wide: a step is
    neither quite the same seconds nor quite the same share in all of them, and their levels differ. So each
    one's own ratio is looked at, whatever unit the model is in.
    Source: DerSimonian and Laird, "Meta-analysis in clinical trials", 1986 (effects that differ by study).
    """
    rows, before = _levels(model, step)
    if not len(rows):
        return 1.0, (1.0, 1.0)
    level = float(np.median(before))
    moment, information = (x[rows, 0] for x in model.beside(step, math.inf))
    both = information > 0.0
    own = moment[both] / information[both] / before[both]
    middle, error, apart = step.size / level, step.error / level, 0.0
    if len(own) > 1:
        noise = np.zeros(len(own)) if model.exact else 1.0 / (information[both] * before[both] ** 2)
        weight = 1.0 / (noise + max(_apart(own, noise), TINY) ** 2)
        middle = float(np.average(own, weights=weight))
        error = max(error, float(weight.sum()) ** -0.5)
        apart = _apart(*((own, noise) if model.log.logarithmic else _logs(own, noise)))
    if not math.isfinite(error):
        error = 0.0
    ratio_ = math.exp(middle) if model.log.logarithmic else max(1.0 + middle, LEAST)
    reach = QUANTILE * math.hypot(error if model.log.logarithmic else error / ratio_, apart)
    return ratio_, (ratio_ * math.exp(-reach), ratio_ * math.exp(reach))


def _logs(moves: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Logarithms of ratios, of moves in levels before and their variances, and the variances of these.

    What makes some configurations four times as slow and others twice makes none faster: an interval of
    as much either way would say so.
    """
    ratios = np.maximum(1.0 + moves, LEAST)
    return np.log(ratios), noise / ratios**2


def _levels(model: StepModel, step: Step) -> tuple[Ints, Floats]:
    """Numbers of the measured configurations that hold a step, and what each took right before (logs: 1)."""
    c, r, y, _ = model.log.columns()
    for other in model.steps:  # as if all trials were just before the step
        moved = other.size * model.cover(other)[c]
        y = y - np.where(other.at <= r, moved, 0.0) + (moved if other.at < step.at else 0.0)
    rows = np.intersect1d(c, np.flatnonzero(model.cover(step)))
    if model.log.logarithmic:
        return rows, np.ones(len(rows))
    ends = np.searchsorted(c, rows), np.searchsorted(c, rows, side="right")  # sorted by configuration
    parts = [slice(a, b) for a, b in zip(*ends, strict=True)]
    # One that moves further than others has no right level after it, less what the step moves the others by.
    early = [y[part][r[part] < step.at] for part in parts]
    before = np.array([np.median(e if len(e) else y[p]) for e, p in zip(early, parts, strict=True)], float)
    return rows[before > 0.0], before[before > 0.0]


def _apart(own: Floats, noise: Floats) -> float:
    """Standard deviation of the configurations' ratios beyond noise (its variance, of each)."""
    if not noise.any():
        return float(own.std(ddof=1))
    weight = 1.0 / noise
    beyond = float(weight @ (own - np.average(own, weights=weight)) ** 2) - (len(own) - 1)
    several = float(weight.sum() - (weight**2).sum() / weight.sum())
    return math.sqrt(beyond / several) if min(beyond, several) > 0.0 else 0.0
