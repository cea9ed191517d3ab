"""Functions of single options from which small models and the lasso build their terms, and their products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.analysis.influences.costs import Floats
from bot.model.space import Configuration, Option, Space

STRONGEST = 24
"""Columns of a target that may form products: most telling first; 24 of them make 276 products."""
LEVELS = 8
"""A number with no more values may be a choice in disguise (a compression level): each step counts."""
DOUBLING = 40.0
"""Numbers up to here may be exponents of two (rounds, memory as a power)."""


@dataclass(frozen=True)
class Columns:
    """Functions of single options over configurations.

    values: shape (n_configurations, n_columns), each within -1 to 1. owner: the option of each, by place.
    smooth: bool, those the lasso uses (a flag, a value of a choice, a number and its logarithm).
    """

    values: Floats
    owner: NDArray[np.intp]
    smooth: NDArray[np.bool_]


class Basis:
    """Builds columns for any configurations of a space: flags, values of choices, functions of numbers."""

    def __init__(self, space: Space) -> None:
        self._parts = [(i, *part) for i, option in enumerate(space.options) for part in _functions(option)]

    def columns(self, configurations: Sequence[Configuration]) -> Columns:
        """Columns of all functions, constant ones included."""
        values = np.empty((len(configurations), len(self._parts)))
        for k, (i, function, _) in enumerate(self._parts):
            values[:, k] = function([c[i] for c in configurations])
        return Columns(
            values,
            np.array([i for i, _, _ in self._parts], dtype=np.intp),
            np.array([smooth for _, _, smooth in self._parts], dtype=bool),
        )


_Function = Callable[[list[object]], Floats]


def _functions(option: Option) -> list[tuple[_Function, bool]]:
    """Functions of an option's values, and whether the lasso uses them."""
    if option.kind == "flag":
        return [(lambda v: np.array(v, dtype=np.float64), True)]
    if option.kind == "choice":
        return [(_is(value), True) for value in option.values]
    numbers = np.array([float(v) for v in option.values])
    forms: list[tuple[Callable[[Floats], Floats], bool]] = [(lambda x: x, True), (np.square, False)]
    if numbers.min() >= 0:
        shift = 0.0 if numbers.min() > 0 else _smallest_step(numbers)
        forms.append((lambda x: np.log(x + shift), True))
        forms.append((np.sqrt, False))
    if numbers.min() > 0:
        forms.append((np.reciprocal, False))
    if np.abs(numbers).max() <= DOUBLING and len(numbers) > 2:
        forms.append((np.exp2, False))
    if 2 < len(numbers) <= LEVELS:
        forms += [(_from(border), False) for border in np.sort(numbers)[1:].tolist()]
    return [(_scaled(form, numbers), smooth) for form, smooth in forms]


def _from(border: float) -> Callable[[Floats], Floats]:
    return lambda x: (x >= border).astype(np.float64)


def _smallest_step(numbers: Floats) -> float:
    steps = np.diff(np.sort(numbers))
    return float(steps.min()) if len(steps) else 1.0


def _is(value: object) -> _Function:
    return lambda v: np.array([x == value for x in v], dtype=np.float64)


def _scaled(form: Callable[[Floats], Floats], numbers: Floats) -> _Function:
    top = float(np.abs(form(numbers)).max()) or 1.0
    return lambda v: form(np.array(v, dtype=np.float64)) / top


class Products:
    """Columns and the products of the most telling ones, for one target.

    After `fit`: `singles_` and `pairs_`, places of the columns; `lift` gives their matrix.
    """

    def fit(self, columns: Columns, y: Floats, among: NDArray[np.bool_]) -> Products:
        """Keeps the columns `among` that vary; the `STRONGEST` by correlation with y form products."""
        x = columns.values
        spread = x.std(axis=0)
        self.singles_ = np.flatnonzero(among & (spread > 1e-12))
        centred = (x[:, self.singles_] - x[:, self.singles_].mean(axis=0)) / spread[self.singles_]
        telling = np.abs(centred.T @ (y - y.mean()))
        strong = np.sort(self.singles_[np.argsort(-telling, kind="stable")[:STRONGEST]])
        a, b = np.triu_indices(len(strong), k=1)
        a, b = strong[a], strong[b]
        differ = columns.owner[a] != columns.owner[b]
        a, b = a[differ], b[differ]
        varies = (x[:, a] * x[:, b]).std(axis=0) > 1e-12
        self.pairs_ = (a[varies], b[varies])
        return self

    def lift(self, columns: Columns) -> Floats:
        """Shape (n_configurations, n_singles + n_pairs)."""
        x = columns.values
        a, b = self.pairs_
        return np.hstack([x[:, self.singles_], x[:, a] * x[:, b]])
