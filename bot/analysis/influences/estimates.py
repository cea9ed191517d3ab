"""How much a term adds to a cost, with an interval that holds whether or not the model is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.distributions import student_quantile
from bot.analysis.influences.costs import Floats

CONFIDENCE = 0.9
SEVERAL = 10
"""Residuals of the probe in a corner that tell alone how widely they spread; the sample's help fewer ones."""
FEW = 5
"""Residuals of a corner below which they may agree by luck: the spread of all corners counts, if larger."""


@dataclass(frozen=True)
class Estimate:
    """An influence in the cost's unit: by model and probe together, its interval, and by the model alone."""

    value: float
    interval: tuple[float, float]
    modelled: float


def estimate(
    predicted: Floats, signs: Floats, *, sides: NDArray[np.intp], residuals: Floats, probe: int
) -> Estimate | None:
    """The mean signed sum of predictions, corrected by the probe.

    predicted: shape (n_backgrounds, n_corners), of a contrast's versions. residuals: measured minus predicted
    by models that had not seen the configuration, NaN: unknown, shape (n,): first the `probe`, then the
    sample; sides: their corners. None: a corner has fewer than two of the probe.

    Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Science 2023): the model's
    mean over many unmeasured configurations plus the mean of its error on randomly drawn measured ones.
    What the model gets wrong widens the interval and does not bias it. The sample's residuals tell no more
    than their spread: the sample chose the terms, so their mean would confirm what noise made of it. The
    variances of the corner means are added (their degrees of freedom by Welch and Satterthwaite).
    """
    differences = predicted @ signs
    modelled = float(differences.mean())
    value = modelled
    parts: list[tuple[float, int]] = []
    if len(differences) > 1:
        parts.append((float(differences.var(ddof=1)) / len(differences), len(differences) - 1))
    fresh, seen = (
        [own[(place == corner) & np.isfinite(own)] for corner in range(len(signs))]
        for own, place in zip(np.split(residuals, [probe]), np.split(sides, [probe]), strict=True)
    )
    if min(map(len, fresh)) < 2:
        return None
    known = [
        (one,) if len(one) >= SEVERAL or not len(two) else (one, two)
        for one, two in zip(fresh, seen, strict=True)
    ]
    squares = [sum(float(((some - some.mean()) ** 2).sum()) for some in groups) for groups in known]
    free = [sum(len(some) - 1 for some in groups) for groups in known]
    together = sum(squares) / sum(free)
    for found, sign, square, freedom in zip(fresh, signs, squares, free, strict=True):
        value += float(sign * found.mean())
        spread = square / freedom if freedom + 1 >= FEW else max(square / freedom, together)
        parts.append((spread / len(found), freedom))
    variance = sum(v for v, _ in parts)
    if variance == 0:
        return Estimate(value, (value, value), modelled)
    effective = variance**2 / sum(v**2 / d for v, d in parts)
    half = float(student_quantile(0.5 + CONFIDENCE / 2, effective) * np.sqrt(variance))
    return Estimate(value, (value - half, value + half), modelled)
