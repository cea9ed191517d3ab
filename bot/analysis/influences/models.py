"""The kinds of influence models: constant, few exact terms, lasso, tree, forest and Gaussian process."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, WhiteKernel
from sklearn.linear_model import lasso_path
from sklearn.tree import DecisionTreeRegressor

from bot.analysis.influences.basis import Columns, Products
from bot.analysis.influences.costs import Floats

FEW = 8
"""Most terms of a small exact model: what a person can still read."""
ALPHAS = 16
"""Penalties that the lasso tries, over three decades."""
INNER_FOLDS = 4
REACH = np.log(4.0)
"""A prediction lies at most this far (in logarithms) beyond what was seen: nothing is known out there."""
TUNED, CONDITIONED = 120, 600
"""Configurations that a Gaussian process learns its kernel from, and predicts from; time is their cube."""
EXACT = 1e-9
SMALL = 16
"""Leaves of a small tree: steps that a person can still read, and little memory for thousands of methods."""


class Model(Protocol):
    """Learns positive costs over columns; the learner of zeros is `activity`."""

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Self:
        """Columns of n configurations and their costs, shape (n,), all positive."""
        ...

    def predict(self, columns: Columns) -> Floats:
        """Costs, shape (n,)."""
        ...


class Constant:
    """The median: options have no influence."""

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Self:  # noqa: ARG002
        """Learns the median."""
        self.value_ = float(np.median(y))
        return self

    def predict(self, columns: Columns) -> Floats:
        """The same everywhere."""
        return np.full(len(columns.values), self.value_)


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
        target = np.log(y) if self.logarithmic else y
        weight = np.ones(len(y)) if self.logarithmic else 1.0 / y
        every = np.ones(columns.values.shape[1], dtype=bool)
        self._products = Products().fit(columns, target * weight, every)
        x = self._products.lift(columns)
        low, high = np.log(y).min() - REACH, np.log(y).max() + REACH
        self._bounds = (np.exp(low), np.exp(high))
        errors = np.zeros(FEW + 1)
        for train, held in _folds(len(y), rng):
            path = _pursuit(x[train], target[train], weight[train])
            for k in range(FEW + 1):
                chosen, solution = path[min(k, len(path) - 1)]
                guess = self._back(solution[0] + x[held][:, chosen] @ solution[1:])
                errors[k] += np.minimum(np.abs(guess / y[held] - 1.0), 10.0).sum()
        path = _pursuit(x, target, weight)
        # The fewest terms that are as good as the best within a fiftieth: fewer terms extrapolate better.
        best = int(np.flatnonzero(errors <= errors.min() * 1.02 + EXACT * len(y))[0])
        self.terms_, self.solution_ = path[min(best, len(path) - 1)]
        return self

    def predict(self, columns: Columns) -> Floats:
        """Cost of the chosen terms, within reach of what was seen."""
        x = self._products.lift(columns)[:, self.terms_]
        return self._back(self.solution_[0] + x @ self.solution_[1:])

    def _back(self, value: Floats) -> Floats:
        low, high = self._bounds
        if self.logarithmic:
            return np.asarray(np.exp(np.clip(value, np.log(low), np.log(high))))
        return np.asarray(np.clip(value, low, high))


def _pursuit(x: Floats, y: Floats, weight: Floats) -> list[tuple[list[int], Floats]]:
    """Columns chosen so far and intercept with coefficients, for 0 to `FEW` terms (fewer when exact)."""
    fresh, rest = x * weight[:, None], y * weight
    small = EXACT * np.abs(rest).max()
    least = 1e-6 * np.sqrt((fresh**2).sum(axis=0)) + 1e-150
    direction = weight
    chosen: list[int] = []
    path: list[tuple[list[int], Floats]] = []
    while True:
        # What a column adds is what of it the chosen ones do not say already.
        direction = direction / np.sqrt(direction @ direction)
        fresh -= np.outer(direction, direction @ fresh)
        rest = rest - direction * (direction @ rest)
        path.append((list(chosen), _weighted(x[:, chosen], y, weight)))
        if len(chosen) >= FEW or len(chosen) + 2 >= len(y) or np.abs(rest).max() < small:
            return path
        size = np.sqrt((fresh**2).sum(axis=0))
        usable = size > least
        gain = np.where(usable, np.abs(rest @ fresh) / np.where(usable, size, 1.0), -1.0)
        best = int(np.argmax(gain))
        if gain[best] <= 0:
            return path
        chosen.append(best)
        direction = fresh[:, best].copy()


def _weighted(x: Floats, y: Floats, weight: Floats) -> Floats:
    """Intercept and coefficients of weighted least squares."""
    part = np.column_stack([weight, x * weight[:, None]])
    return np.asarray(np.linalg.lstsq(part, y * weight, rcond=1e-12)[0], dtype=np.float64)


class LogLasso:
    """Lasso on the logarithm of the cost over columns and their products; the penalty by cross-validation."""

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Self:
        """Learns coefficients."""
        target = np.log(y)
        self._products = Products().fit(columns, target, columns.smooth)
        x = self._products.lift(columns)
        self._low, self._high = target.min() - REACH, target.max() + REACH
        errors: Floats = np.zeros(ALPHAS)
        for train, held in _folds(len(y), rng):
            for k, (coefficients, intercept) in enumerate(_lasso(x[train], target[train])):
                guess = np.clip(x[held] @ coefficients + intercept, self._low, self._high)
                errors[k] += np.minimum(np.abs(np.exp(guess - target[held]) - 1.0), 10.0).sum()
        self.coefficients_, self.intercept_ = _lasso(x, target)[int(np.argmin(errors))]
        return self

    def predict(self, columns: Columns) -> Floats:
        """Costs within reach of what was seen."""
        value = self._products.lift(columns) @ self.coefficients_ + self.intercept_
        return np.asarray(np.exp(np.clip(value, self._low, self._high)))


def _lasso(x: Floats, y: Floats) -> list[tuple[Floats, float]]:
    """Coefficients and intercept for each of `ALPHAS` penalties, the largest first."""
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread = np.where(spread > 1e-12, spread, 1.0)
    scaled = (x - centre) / spread
    middle = y.mean()
    if np.ptp(y) < EXACT or not x.shape[1]:
        return [(np.zeros(x.shape[1]), float(middle))] * ALPHAS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the smallest penalties: the folds judge them
        largest = np.abs(scaled.T @ (y - middle)).max() / len(y)
        penalties = np.geomspace(largest, 1e-3 * largest, ALPHAS)
        _, path, _ = lasso_path(scaled, y - middle, alphas=penalties, max_iter=300, tol=1e-3)
    found = [(path[:, k] / spread) for k in range(path.shape[1])]
    return [(c, float(middle - centre @ c)) for c in found]


class Tree:
    """A regression tree on the logarithm of the cost, full-grown or of at most so many leaves."""

    def __init__(self, leaves: int | None = None) -> None:
        self.leaves = leaves

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Self:
        """Learns the tree."""
        seed = int(rng.integers(2**31))
        self._tree = DecisionTreeRegressor(random_state=seed, max_leaf_nodes=self.leaves)
        self._tree.fit(columns.values, np.log(y))
        return self

    def predict(self, columns: Columns) -> Floats:
        """Costs of the leaves."""
        return np.asarray(np.exp(self._tree.predict(columns.values)))


class Forest:
    """Extremely randomised trees on the logarithm of the cost: their random cuts interpolate numbers."""

    TREES = 40

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Self:
        """Learns the trees."""
        self._forest = ExtraTreesRegressor(self.TREES, random_state=int(rng.integers(2**31)), n_jobs=1)
        self._forest.fit(columns.values[:, columns.smooth], np.log(y))
        return self

    def predict(self, columns: Columns) -> Floats:
        """Costs, the mean of the trees' logarithms."""
        return np.asarray(np.exp(self._forest.predict(columns.values[:, columns.smooth])))


class Mean:
    """The mean of several models."""

    def __init__(self, models: Sequence[Model]) -> None:
        self.models = models

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Self:
        """Learns each of them."""
        for model in self.models:
            model.fit(columns, y, rng=rng)
        return self

    def predict(self, columns: Columns) -> Floats:
        """Costs, the mean of theirs."""
        return np.asarray(np.mean([model.predict(columns) for model in self.models], axis=0))


class Gaussian:
    """A Gaussian process on the logarithm of the cost, with a length scale per option's column.

    Without a kernel, its scales, amplitude and noise are learnt by likelihood, from `TUNED` configurations.
    """

    def __init__(self, kernel: Kernel | None = None) -> None:
        self.kernel = kernel

    def fit(self, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Self:
        """Learns the kernel, if none was given, and conditions on at most `CONDITIONED` configurations."""
        kernel = self.kernel if self.kernel is not None else tuned(columns, y, rng=rng)
        rows = _some(len(y), CONDITIONED, rng)
        target = np.log(y[rows])
        self._middle, self._scale = float(target.mean()), float(target.std()) or 1.0
        self._process = GaussianProcessRegressor(kernel, optimizer=None)
        self._process.fit(columns.values[rows][:, columns.smooth], (target - self._middle) / self._scale)
        return self

    def predict(self, columns: Columns) -> Floats:
        """Costs, the posterior mean of the logarithm."""
        mean = self._process.predict(columns.values[:, columns.smooth])
        return np.asarray(np.exp(mean * self._scale + self._middle))


def tuned(columns: Columns, y: Floats, *, rng: np.random.Generator) -> Kernel:
    """The kernel of the largest likelihood on `TUNED` configurations (Rasmussen and Williams 2006, 5.4)."""
    rows = _some(len(y), TUNED, rng)
    x, target = columns.values[rows][:, columns.smooth], np.log(y[rows])
    scaled = (target - target.mean()) / (target.std() or 1.0)
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(np.ones(x.shape[1]), (0.1, 1e2))
    process = GaussianProcessRegressor(kernel + WhiteKernel(1e-3, (1e-6, 1.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a bound is an answer: the option is idle
        return process.fit(x, scaled).kernel_


def _some(count: int, most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return rng.choice(count, most, replace=False) if count > most else np.arange(count)


KINDS: Mapping[str, Callable[[], Model]] = {
    "constant": Constant,
    "few terms": lambda: FewTerms(logarithmic=False),
    "few factors": lambda: FewTerms(logarithmic=True),
    "lasso": LogLasso,
    "small tree": lambda: Tree(SMALL),
    "tree": Tree,
    "Gaussian process": Gaussian,
    "forest": Forest,
}
"""In the order in which they are tried: simple ones win a tie."""


def maker(kind: str, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Callable[[], Model]:
    """Makes models of a kind for the folds of these positive costs.

    A Gaussian process learns its kernel once, from all of them: a few numbers that no fold is predicted by.
    """
    if kind == "Gaussian process":
        kernel = tuned(columns, y, rng=rng)
        return lambda: Gaussian(kernel)
    return KINDS[kind]


def _folds(count: int, rng: np.random.Generator) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Train and held rows of `INNER_FOLDS` random parts."""
    parts = np.array_split(rng.permutation(count), INNER_FOLDS)
    return [
        (np.concatenate([p for j, p in enumerate(parts) if j != i]), part) for i, part in enumerate(parts)
    ]
