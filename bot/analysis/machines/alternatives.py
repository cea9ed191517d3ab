"""Other views of a utilisation profile: by class of stressors, and in terms of factors (published ideas)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from bot.analysis.machines.hardware import Floats
from bot.model.machines import CLASSES, CLASSES_OF, StressorClass

EXPLAINED = 0.95
"""Part of the variance of vectors that the factors keep."""
PENALTY = 0.1
"""Of the regression on factors, relative to their variance: a dozen machines, half as many factors."""


def by_class(shares: Mapping[str, float]) -> dict[StressorClass, float]:
    """Shares of stressors added up by class, largest first; a stressor of several counts to each in part."""
    found = dict.fromkeys(CLASSES, 0.0)
    for stressor, share in shares.items():
        classes = CLASSES_OF.get(stressor, ())
        for name in classes:
            found[name] += share / len(classes)
    return {name: found[name] for name in sorted(CLASSES, key=lambda name: -found[name]) if found[name] > 0}


class Factors:
    """Principal components of the standardised logarithms of rates, and how a program's time goes with them.

    After `fit`: `explained_` (share of the variance by factor, (n_factors,)), `loadings_`, (n_factors,
    n_stressors), `weights_` (standardised slopes of log time, (n_factors,); ridge regression).
    """

    def fit(self, rates: Floats, seconds: Floats) -> Self:
        """rates: (n_types, n_stressors), complete. seconds: (n_types,)."""
        scaled = StandardScaler().fit_transform(np.log(rates))
        found = PCA(n_components=EXPLAINED, svd_solver="full").fit(scaled)
        self.explained_: Floats = found.explained_variance_ratio_
        self.loadings_: Floats = found.components_
        scores = found.transform(scaled) / np.sqrt(found.explained_variance_)
        time = np.log(seconds) - np.log(seconds).mean()
        inner = scores.T @ scores
        self.weights_: Floats = np.linalg.solve(
            inner + PENALTY * len(time) * np.eye(len(inner)), scores.T @ time
        )
        return self

    def names(self, stressors: Sequence[str], most: int = 3) -> list[str]:
        """Each factor by the stressors that load on it most."""
        order = np.argsort(-np.abs(self.loadings_), axis=1)[:, :most]
        return [", ".join(stressors[j] for j in row) for row in order.tolist()]
