"""Models that are sums of terms, of the cost or of its logarithm: few exact ones, or many by the lasso."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from bot.analysis.influences.basis import Columns, Products
from bot.analysis.influences.costs import Floats

FEW = 8
"""Most terms of a small exact model: what a person can still read."""
ALPHAS = 16
"""Penalties that the lasso tries, over three decades."""
INNER_FOLDS, MANY = 4, 100
REACH = np.log(4.0)
"""A prediction lies at most this far (in logarithms) beyond what was seen: nothing is known out there."""
EXACT = 1e-9
SPANNED = 1e-11
"""Of a column's squared length: less is rounding, the chosen columns say all that it does."""
_Path = list[tuple[list[int], Floats]]


@dataclass(frozen=True)
class _Scale:
    """Costs or their logarithms as the target of a sum, weighted so that relative errors count; and back.

    target, weight: shape (n,). bounds: logarithms of the least and the largest cost that is predicted.
    """

    logarithmic: bool
    target: Floats
    weight: Floats
    bounds: tuple[float, float]

    @classmethod
    def of(cls, y: Floats, *, logarithmic: bool) -> _Scale:
        """The scale of positive costs, shape (n,)."""
        logs = np.log(y)
        bounds = (float(logs.min() - REACH), float(logs.max() + REACH))
        if logarithmic:
            return cls(logarithmic, logs, np.ones(len(y)), bounds)
        return cls(logarithmic, y, 1.0 / y, bounds)

    def back(self, value: Floats) -> Floats:
        """Costs from sums, within reach of what was seen."""
        if self.logarithmic:
            return np.asarray(np.exp(np.clip(value, *self.bounds)))
        return np.asarray(np.clip(value, *np.exp(self.bounds)))


class FewTerms:
    """A sum of at most `FEW` terms (functions of single options and their products), chosen one by one.

    Orthogonal matching pursuit (Pati, Rezaiifar and Krishnaprasad 1993) on relative errors, so that a count
    that is an exact function is found exactly; the number of terms by cross-validation. With `logarithmic`
    the logarithm is such a sum: the cost is a product.
    """

    def __init__(self, *, logarithmic: bool) -> None:
        self.logarithmic = logarithmic

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Self:
        """Learns terms and their number."""
        self._scale = _Scale.of(y, logarithmic=self.logarithmic)
        target, weight = self._scale.target, self._scale.weight
        every = np.ones(columns.values.shape[1], dtype=bool)
        self._products = Products().fit(columns, target * weight, every)
        x = self._products.lift(columns)
        errors = np.zeros(FEW + 1)
        for train, held in _folds(len(y), rng):
            path = _pursuit(x[train], target[train], weight[train])
            for k in range(FEW + 1):
                chosen, solution = path[min(k, len(path) - 1)]
                guess = self._scale.back(solution[0] + x[held][:, chosen] @ solution[1:])
                errors[k] += np.minimum(np.abs(guess / y[held] - 1.0), 10.0).sum()
        path = _pursuit(x, target, weight)
        # The fewest terms that are as good as the best within a fiftieth: fewer terms extrapolate better.
        best = int(np.flatnonzero(errors <= errors.min() * 1.02 + EXACT * len(y))[0])
        self.terms_, self.solution_ = path[min(best, len(path) - 1)]
        return self

    def predict(self, columns: Columns) -> Floats:
        """Cost of the chosen terms, within reach of what was seen."""
        x = self._products.lift(columns)[:, self.terms_]
        return self._scale.back(self.solution_[0] + x @ self.solution_[1:])


def _pursuit(x: Floats, y: Floats, weight: Floats) -> _Path:
    """Columns chosen so far and intercept with coefficients, for 0 to `FEW` terms (fewer when exact)."""
    columns, rest = x * weight[:, None], y * weight
    small = EXACT * np.abs(rest).max()
    # Of each column the squared length, and how much of it the chosen ones do not say already.
    whole = np.einsum("ij,ij->j", columns, columns)
    fresh = whole.copy()
    basis: list[Floats] = []
    direction = column = weight
    chosen: list[int] = []
    path: _Path = []
    # What the basis says of intercept, chosen columns and cost: the upper triangle of their QR factors.
    triangle, onto = np.zeros((FEW + 1, FEW + 1)), np.zeros(FEW + 1)
    while True:
        k = len(basis)
        direction = direction / np.sqrt(direction @ direction)
        basis.append(direction)
        triangle[: k + 1, k] = np.array(basis) @ column
        onto[k] = direction @ (y * weight)
        fresh -= (direction @ columns) ** 2
        rest = rest - direction * (direction @ rest)
        solution = np.linalg.solve(triangle[: k + 1, : k + 1], onto[: k + 1])
        path.append((list(chosen), np.asarray(solution, dtype=np.float64)))
        if len(chosen) >= FEW or len(chosen) + 2 >= len(y) or np.abs(rest).max() < small:
            return path
        usable = fresh > SPANNED * whole + 1e-300
        gain = np.where(usable, (rest @ columns) ** 2 / np.where(usable, fresh, 1.0), -1.0)
        best = int(np.argmax(gain))
        if gain[best] <= 0:
            return path
        chosen.append(best)
        direction = column = columns[:, best]
        for _ in range(2):  # once more: the first time leaves what rounding made of it
            for one in basis:
                direction = direction - one * (one @ direction)


class Lasso:
    """Lasso over columns and their products, on relative errors; the penalty by cross-validation.

    With `logarithmic` of the logarithm of the cost (many options multiply it), else of the cost itself (many
    options add to it, more than a sum of `FEW` terms has).
    """

    def __init__(self, *, logarithmic: bool) -> None:
        self.logarithmic = logarithmic

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Self:
        """Learns coefficients."""
        self._scale = _Scale.of(y, logarithmic=self.logarithmic)
        target, weight = self._scale.target, self._scale.weight
        self._products = Products().fit(columns, target, columns.smooth)
        x = self._products.lift(columns)
        errors: Floats = np.zeros(ALPHAS)
        for train, held in _folds(len(y), rng):
            for k, (coefficients, intercept) in enumerate(_lasso(x[train], target[train], weight[train])):
                guess = self._scale.back(x[held] @ coefficients + intercept)
                errors[k] += np.minimum(np.abs(guess / y[held] - 1.0), 10.0).sum()
        self.coefficients_, self.intercept_ = _lasso(x, target, weight)[int(np.argmin(errors))]
        return self

    def predict(self, columns: Columns) -> Floats:
        """Costs within reach of what was seen."""
        return self._scale.back(self._products.lift(columns) @ self.coefficients_ + self.intercept_)


def _lasso(x: Floats, y: Floats, weight: Floats) -> list[tuple[Floats, float]]:
    """Coefficients and intercept for each of `ALPHAS` penalties, the largest first."""
    length = float(np.sqrt(weight @ weight))
    direction = weight / length
    part, rest = x * weight[:, None], y * weight
    # The intercept is not penalised: what it says of columns and costs is taken off first.
    part = part - np.outer(direction, direction @ part)
    rest = rest - direction * (direction @ rest)
    spread = np.sqrt((part**2).mean(axis=0))
    spread = np.where(spread > 1e-12 * float(weight.max()), spread, np.inf)
    scaled = part / spread
    largest = np.abs(scaled.T @ rest).max(initial=0.0) / len(y)
    if np.ptp(y) < EXACT * np.abs(y).max() or largest <= 0.0:
        return [(np.zeros(x.shape[1]), float(direction @ (y * weight)) / length)] * ALPHAS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the smallest penalties: the folds judge them
        penalties = np.geomspace(largest, 1e-3 * largest, ALPHAS)
        _, path, _ = lasso_path(scaled, rest, alphas=penalties, max_iter=300, tol=1e-3)
    found = [path[:, k] / spread for k in range(path.shape[1])]
    return [(c, float(direction @ ((y - x @ c) * weight)) / length) for c in found]


def _folds(count: int, rng: np.random.Generator) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Train and held rows of `INNER_FOLDS` random parts, or of two where half of them are `MANY`."""
    parts = np.array_split(rng.permutation(count), 2 if count >= 2 * MANY else INNER_FOLDS)
    return [
        (np.concatenate([p for j, p in enumerate(parts) if j != i]), part) for i, part in enumerate(parts)
    ]
