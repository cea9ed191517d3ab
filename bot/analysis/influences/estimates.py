"""How much a term adds to a cost, with an interval that holds whether or not the model is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bot.analysis.distributions import student_quantile
from bot.analysis.influences.costs import Floats

CONFIDENCE = 0.9
FEW = 5
"""Residuals of a corner below which they may agree by luck: the spread of all corners counts, if larger."""


@dataclass(frozen=True)
class Estimate:
    """An influence in the cost's unit: by model and probe together, its interval, and by the model alone."""

    value: float
    interval: tuple[float, float]
    modelled: float


def estimate(predicted: Floats, signs: Floats, *, sides: np.ndarray, residuals: Floats) -> Estimate | None:
    """The mean signed sum of predictions, corrected by the probe.

    predicted: shape (n_backgrounds, n_corners), of a contrast's versions. residuals: measured minus predicted
    of the probe, shape (n_probe,), NaN: unknown; sides: their corners. None: a corner has fewer than two.

    Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Science 2023): the model's
    mean over many unmeasured configurations plus the mean of its error on randomly drawn measured ones.
    What the model gets wrong widens the interval and does not bias it. The variance of the corner means of
    the residuals is taken together (their degrees of freedom by Welch and Satterthwaite).
    """
    differences = predicted @ signs
    modelled = float(differences.mean())
    value = modelled
    parts: list[tuple[float, int]] = []
    if len(differences) > 1:
        parts.append((float(differences.var(ddof=1)) / len(differences), len(differences) - 1))
    corners = [residuals[(sides == corner) & np.isfinite(residuals)] for corner in range(len(signs))]
    if min(map(len, corners)) < 2:
        return None
    together = float(np.concatenate([found - found.mean() for found in corners]).var(ddof=len(corners)))
    for found, sign in zip(corners, signs, strict=True):
        value += float(sign * found.mean())
        own = float(found.var(ddof=1))
        spread = max(own, together) if len(found) < FEW else own
        parts.append((spread / len(found), len(found) - 1))
    variance = sum(v for v, _ in parts)
    if variance == 0:
        return Estimate(value, (value, value), modelled)
    freedom = variance**2 / sum(v**2 / d for v, d in parts)
    half = float(student_quantile(0.5 + CONFIDENCE / 2, freedom) * np.sqrt(variance))
    return Estimate(value, (value - half, value + half), modelled)
