"""Whether profiling keeps the order of configurations, and which options drive its overhead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bot.analysis.influences.costs import Floats
from bot.analysis.influences.encoding import Encoding
from bot.model.space import Configuration, Space

DRIVES = 0.3
"""Smallest rank correlation of an option with the overhead to be named as its driver; a choice."""
SURE = 0.01
"""And its p-value, after Bonferroni over the columns."""


@dataclass(frozen=True)
class Overhead:
    """Profiled against unprofiled seconds over configurations.

    pearson, spearman: correlations. median: of profiled / unprofiled. drivers: option and the rank
    correlation of its value (of a choice: of its most telling value) with that ratio, strongest first.
    """

    pearson: float
    spearman: float
    median: float
    drivers: tuple[tuple[str, float], ...]


def overhead(
    space: Space, configurations: tuple[Configuration, ...], *, profiled: Floats, unprofiled: Floats
) -> Overhead | None:
    """Compares seconds of both, shape (n_configurations,), NaN: failed; None with fewer than three of both.

    Source: Weber, Apel and Siegmund, White-Box Performance-Influence Models (ICSE 2021), section VI-C.
    """
    known = np.isfinite(profiled) & np.isfinite(unprofiled) & (profiled > 0) & (unprofiled > 0)
    a, b = profiled[known], unprofiled[known]
    if len(a) < 3:
        return None
    from scipy import stats  # half a second, not of every start

    ratio = a / b
    encoding = Encoding(space)
    x = encoding.matrix(configurations)[known]
    best: dict[int, float] = {}
    for column, owner in zip(x.T, encoding.owner, strict=True):
        if column.min() == column.max() or ratio.min() == ratio.max():
            continue
        told = stats.spearmanr(column, ratio)
        strength = float(told.statistic)
        sure = told.pvalue * len(encoding.owner) < SURE
        if sure and abs(strength) >= DRIVES and abs(strength) > abs(best.get(int(owner), 0.0)):
            best[int(owner)] = strength
    drivers = sorted(((space.names[i], s) for i, s in best.items()), key=lambda d: -abs(d[1]))
    return Overhead(
        _correlation(stats.pearsonr, a, b),
        _correlation(stats.spearmanr, a, b),
        float(np.median(ratio)),
        tuple(drivers),
    )


def _correlation(test: object, a: Floats, b: Floats) -> float:
    """NaN where one side is the same everywhere."""
    if a.min() == a.max() or b.min() == b.max():
        return float("nan")
    return float(test(a, b).statistic)  # type: ignore[operator]
