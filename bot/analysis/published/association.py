"""Which options explain the likelihood of a candidate commit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LassoCV

from bot.analysis.published.peaks import peak_threshold

FOLDS = 3
"""Threefold cross-validation of the penalty (section 3.3.2)."""
N_INFLUENCE = 1.0
"""Section 3.3.2's factor n_influence; the reference's."""
LEAST_OPTIONS = 8
"""Options of the smallest systems of section 4.1; d options pass the threshold only among more than 2 d."""
PENALTIES = 30
"""Penalties tried, from the one that removes every option on down by three orders of magnitude."""


@dataclass(frozen=True)
class Association:
    """What a candidate commit is associated with.

    columns: of the design; everything: the intercept passed, the change does not depend on options.
    """

    commit: int
    columns: tuple[int, ...]
    everything: bool


def associate(commit: int, design: NDArray[np.float64], likelihoods: NDArray[np.float64]) -> Association:
    """Options whose influence on a commit's likelihood exceeds the influence threshold (section 3.3.2).

    Influences are shares of their sum, so that noise, too, has influential options. Therefore a change is
    only associated with options if the configurations that select them peak there on average, and with every
    configuration if those that select none of them do.

    Args:
        commit: the candidate.
        design: 1 where a configuration selects an option, shape (n_configurations, n_columns).
        likelihoods: shape (n_configurations, n_commits).
    """
    n, width = design.shape
    target = likelihoods[:, commit]
    if n < FOLDS or not target.any():
        return Association(commit, (), False)
    coefficients, intercept = _fit(design, target / target.max())
    total = coefficients.sum() + max(intercept, 0.0)
    options = np.concatenate((coefficients / total, np.zeros(max(0, LEAST_OPTIONS - width))))
    average = 1 / len(options)
    limit = average + N_INFLUENCE * float(np.sqrt(((options - average) ** 2).mean()))
    columns = np.flatnonzero(options > limit)
    selected = design[:, columns] > 0
    if not _peaks(commit, likelihoods[selected.all(axis=1)]):
        columns = columns[:0]
    everything = intercept / total > limit and _peaks(commit, likelihoods[~selected.any(axis=1)])
    return Association(commit, tuple(int(c) for c in columns), bool(everything))


def _peaks(commit: int, likelihoods: NDArray[np.float64]) -> bool:
    """Whether configurations are above the threshold of peaks on average."""
    if not len(likelihoods):
        return False
    mean = likelihoods.mean(axis=0)
    return bool(mean[commit] > peak_threshold(mean[None])[0])


def _fit(design: NDArray[np.float64], target: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Coefficients, shape (n_columns,), and intercept of a lasso with a cross-validated penalty."""
    if np.ptp(target) == 0 or not np.ptp(design, axis=0).any():
        return np.zeros(design.shape[1]), float(target.mean())
    rows = np.arange(len(target))
    # Every third configuration is left out: they come in order of acquisition, which is no random order.
    folds = [(rows[rows % FOLDS != k], rows[rows % FOLDS == k]) for k in range(FOLDS)]
    # Selecting an option causes a change or not; it does not prevent one.
    model = LassoCV(alphas=PENALTIES, cv=folds, positive=True, tol=1e-3, max_iter=10_000)
    model.fit(design, target)
    return np.asarray(model.coef_, dtype=np.float64), float(model.intercept_)
