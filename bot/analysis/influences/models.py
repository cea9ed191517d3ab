"""The kinds of influence models: constants, sums of terms, trees, forests and Gaussian processes."""

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
from sklearn.tree import DecisionTreeRegressor

from bot.analysis.influences.basis import Columns
from bot.analysis.influences.costs import Floats
from bot.analysis.influences.sums import FewTerms, Lasso

TUNED, CONDITIONED = 120, 600
"""Configurations that a Gaussian process learns its kernel from, and predicts from; time is their cube."""
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
        process = GaussianProcessRegressor(kernel, optimizer=None)
        process.fit(columns.values[rows][:, columns.smooth], (target - self._middle) / self._scale)
        # All that a mean needs: the factor of the covariance has megabytes, and hundreds of models are kept.
        self._kernel, self._seen, self._weights = process.kernel_, process.X_train_, process.alpha_
        return self

    def predict(self, columns: Columns) -> Floats:
        """Costs, the posterior mean of the logarithm."""
        mean = self._kernel(columns.values[:, columns.smooth], self._seen) @ self._weights
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
    "lasso": lambda: Lasso(logarithmic=True),
    "sum": lambda: Lasso(logarithmic=False),
    "small tree": lambda: Tree(SMALL),
    "tree": Tree,
    "Gaussian process": Gaussian,
    "forest": Forest,
}
"""In the order in which they are tried: simple ones win a tie."""


def maker(kind: str, columns: Columns, y: Floats, *, rng: np.random.Generator) -> Callable[[], Model]:
    """Makes models of a kind for the folds of these positive costs.

    A Gaussian process learns its kernel once, from all of them, where these are many: a few numbers that no
    fold is predicted by. Of few configurations they tell enough of the held-out ones to flatter it.
    """
    if kind == "Gaussian process" and len(y) >= TUNED:
        kernel = tuned(columns, y, rng=rng)
        return lambda: Gaussian(kernel)
    return KINDS[kind]
