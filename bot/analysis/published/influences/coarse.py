"""First step: a regression tree for each method, and the methods that are hard to learn and matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from bot.analysis.influences.costs import CostTable, Floats, Quantity, mape
from bot.analysis.influences.encoding import Encoding
from bot.model.space import Configuration

EPSILON = 0.05
"""err (section IV-C): models with this error or more are learnt again; just above the measurement's bias."""
ALPHA_SECONDS = 0.1
"""abs (section IV-C): shortest mean time of a run that is worth it. The value is ours: our copy lost it."""
BETA = 0.01
"""rel (section IV-C): smallest share of the system's time that is worth it. The value is ours, likewise."""
FOLDS = 5
"""Without a test set the error is cross-validated; a full-grown tree has none on what it was fitted to."""
FEWEST = 10
"""Methods seen in fewer configurations are not learnt: the reference's."""


class CoarseModels:
    """One regression tree (CART, not pruned) per method for the mean over repetitions (section IV-B).

    After `fit`: `trees_` (per quantity and method; None: seen too rarely), `errors_` (per quantity, shape
    (n_methods,), mean absolute percentage error as a fraction), `hard_` (bool, shape (n_methods,)), the
    predicate of section IV-C on seconds.
    """

    def __init__(
        self,
        *,
        rng: np.random.Generator,
        epsilon: float = EPSILON,
        alpha_seconds: float = ALPHA_SECONDS,
        beta: float = BETA,
    ) -> None:
        self.rng = rng
        self.epsilon = epsilon
        self.alpha_seconds = alpha_seconds
        self.beta = beta

    def fit(self, costs: CostTable, test: CostTable | None = None) -> Self:
        """Learns from one sample; errors are of `test` (fresh random configurations) when it is given."""
        self.encoding_ = Encoding(costs.space)
        self.trees_: dict[Quantity, list[DecisionTreeRegressor | None]] = {}
        self.errors_: dict[Quantity, Floats] = {}
        x = self.encoding_.matrix(costs.configurations)
        for quantity in costs.quantities:
            y = costs.means(quantity)
            self.trees_[quantity] = [self._tree(x, column) for column in y.T]
            if test is None:
                found = np.array([self._cross_validated(x, column) for column in y.T])
            else:
                truth, predicted = test.means(quantity), self.predict(test.configurations, quantity)
                found = np.array([mape(t, p) for t, p in zip(truth.T, predicted.T, strict=True)])
            self.errors_[quantity] = found
        if "seconds" in costs.quantities:
            self.hard_ = self._hard(costs)
        return self

    def predict(self, configurations: tuple[Configuration, ...], quantity: Quantity) -> Floats:
        """Predicted cost, shape (n_configurations, n_methods); NaN: no model."""
        x = self.encoding_.matrix(configurations)
        result = np.full((len(x), len(self.trees_[quantity])), np.nan)
        for k, tree in enumerate(self.trees_[quantity]):
            if tree is not None:
                result[:, k] = tree.predict(x)
        return result

    def _tree(self, x: Floats, y: Floats) -> DecisionTreeRegressor | None:
        known = np.isfinite(y)
        if known.sum() < FEWEST or not (y[known] != 0).any():
            return None
        return self._grown(x[known], y[known])

    def _grown(self, x: Floats, y: Floats) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(random_state=int(self.rng.integers(2**31))).fit(x, y)

    def _cross_validated(self, x: Floats, y: Floats) -> float:
        known = np.isfinite(y)
        x, y = x[known], y[known]
        if len(y) < FEWEST or not (y != 0).any():
            return float("nan")
        predicted = np.empty(len(y))
        folds = KFold(FOLDS, shuffle=True, random_state=int(self.rng.integers(2**31)))
        for train, held in folds.split(x):
            predicted[held] = self._grown(x[train], y[train]).predict(x[held])
        return mape(y, predicted)

    def _hard(self, costs: CostTable) -> NDArray[np.bool_]:
        """The conjunction of err, abs and rel, on mean seconds of a run and their share of the system's."""
        relevant = _relevant(costs, alpha_seconds=self.alpha_seconds, beta=self.beta)
        return np.asarray((self.errors_["seconds"] >= self.epsilon) & relevant)


def hard_methods(
    costs: CostTable, test: CostTable | None = None, *, rng: np.random.Generator
) -> tuple[str, ...]:
    """The filter alone: `CoarseModels.hard_` without trees for what is not relevant anyway."""
    kept = np.flatnonzero(_relevant(costs, alpha_seconds=ALPHA_SECONDS, beta=BETA))
    if not len(kept):
        return ()
    sample, probe = _seconds_of(costs, kept), None if test is None else _seconds_of(test, kept)
    errors = CoarseModels(rng=rng).fit(sample, probe).errors_["seconds"]
    return tuple(name for name, error in zip(sample.methods, errors, strict=True) if error >= EPSILON)


def _relevant(costs: CostTable, *, alpha_seconds: float, beta: float) -> NDArray[np.bool_]:
    """The conditions abs and rel, on mean seconds of a run and their share of the system's: (n_methods,)."""
    seconds = costs.means("seconds")
    seconds = seconds[np.isfinite(seconds).all(axis=1)]
    if not len(seconds):
        return np.zeros(len(costs.methods), dtype=bool)
    absolute = seconds.mean(axis=0)
    relative = absolute / max(seconds.sum(axis=1).mean(), np.finfo(float).tiny)
    return np.asarray((absolute >= alpha_seconds) & (relative >= beta))


def _seconds_of(costs: CostTable, methods: NDArray[np.intp]) -> CostTable:
    return replace(
        costs,
        methods=tuple(costs.methods[j] for j in methods),
        quantities={"seconds": costs.quantities["seconds"][:, methods]},
        stale=None if costs.stale is None else costs.stale[:, methods],
    )
