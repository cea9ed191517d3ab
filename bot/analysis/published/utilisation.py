"""Published utilisation profiles (FGRUP): importances of gradient boosting, and their ranked comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.preprocessing import StandardScaler

from bot.analysis.machines.hardware import Floats

SEEDS = range(20)
"""Importances depend on the seed (the five largest of two seeds overlap by a half): their mean is told."""
EPSILON = 10.0
"""Difference of relative importances (of 100) that is still "equivalent"; the paper names no value."""
MOST_FEATURES = 3


class PublishedProfile:
    """Section 3.2 of the paper: standardised rates, gradient boosting, importances relative to the largest.

    After `fit`: `importances_`, (n_stressors,), 0 to 100, the mean over all seeds; `by_seed_`, (n_seeds,
    n_stressors); `error_`, the mean relative error on machines that were left out (first seed), and
    `own_error_`, that on the machines it was learnt from, which trees that overfit bring to nothing.
    """

    def __init__(self, *, seeds: Sequence[int] = SEEDS, judged: bool = True) -> None:
        """judged: whether errors are found, which takes as many trees as there are machines."""
        self.seeds = seeds
        self.judged = judged

    def fit(self, rates: Floats, values: Floats) -> Self:
        """rates: (n_machines, n_stressors), complete; values: times or rates, (n_machines,)."""
        scaled = StandardScaler().fit_transform(rates)
        found = [_boosted(scaled, values, seed).feature_importances_ for seed in self.seeds]
        self.by_seed_: Floats = np.array([100 * one / max(one.max(), 1e-300) for one in found])
        mean = self.by_seed_.mean(axis=0)
        self.importances_: Floats = 100 * mean / max(mean.max(), 1e-300)
        self.error_ = self.own_error_ = float("nan")
        if self.judged:
            self._judge(scaled, values)
        return self

    def _judge(self, scaled: Floats, values: Floats) -> None:
        own = _boosted(scaled, values, self.seeds[0]).predict(scaled)
        self.own_error_ = float(np.mean(np.abs(own / values - 1)))
        errors = []
        for out in range(len(values)):
            rest = np.arange(len(values)) != out
            told = _boosted(scaled[rest], values[rest], self.seeds[0]).predict(scaled[[out]])
            errors.append(abs(told[0] / values[out] - 1))
        self.error_ = float(np.mean(errors))


def ranked_difference(
    base: Floats, head: Floats, *, epsilon: float = EPSILON, most: int | None = MOST_FEATURES
) -> int | None:
    """Section 3.3: the first feature, in base's order of importance, that is not within epsilon of head's.

    None: the profiles are equivalent. most: features that are looked at; None: all, as published. Never a
    gate: on the same data, another seed alone lets more than half of the comparisons fail.
    """
    for feature in np.argsort(-base, kind="stable")[:most].tolist():
        if abs(base[feature] - head[feature]) > epsilon:
            return int(feature)
    return None


def _boosted(scaled: Floats, values: Floats, seed: int) -> GradientBoostingRegressor:
    return GradientBoostingRegressor(random_state=seed).fit(scaled, values)
