"""Functions of single options from which small models and the lasso build their terms, and their products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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


USES = ("smooth", "border")


@dataclass(frozen=True)
class Columns:
    """Functions of single options over configurations.

    values: shape (n_configurations, n_columns), each within -1 to 1. owner: the option of each, by place.
    smooth: bool, those the lasso uses (a flag, a value of a choice, a number and its logarithm). border:
    those that tell where a method is called (a flag, a value of a choice, a number, its steps).
    """

    values: Floats
    owner: NDArray[np.intp]
    smooth: NDArray[np.bool_]
    border: NDArray[np.bool_]

    def rows(self, which: NDArray[np.intp] | slice) -> Columns:
        """The same columns of some configurations."""
        return replace(self, values=self.values[which])


class Basis:
    """Builds columns for any configurations of a space: flags, values of choices, functions of numbers."""

    def __init__(self, space: Space) -> None:
        self._parts = [(i, part) for i, option in enumerate(space.options) for part in _parts(option)]

    def columns(self, configurations: Sequence[Configuration]) -> Columns:
        """Columns of all functions, constant ones included."""
        values = np.empty((len(configurations), len(self._parts)))
        for k, (i, part) in enumerate(self._parts):
            values[:, k] = part.function([c[i] for c in configurations])
        masks = (np.array([use in part.uses for _, part in self._parts], dtype=bool) for use in USES)
        return Columns(values, np.array([i for i, _ in self._parts], dtype=np.intp), *masks)


_Function = Callable[[list[object]], Floats]


@dataclass(frozen=True)
class _Part:
    """A function of an option's values, and which masks of `Columns` it is in."""

    function: _Function
    uses: tuple[str, ...]


def _parts(option: Option) -> list[_Part]:
    if option.kind == "flag":
        return [_Part(lambda v: np.array(v, dtype=np.float64), USES)]
    if option.kind == "choice":
        return [_Part(_is(value), USES) for value in option.values]
    numbers = np.array([float(v) for v in option.values])
    forms: list[tuple[Callable[[Floats], Floats], tuple[str, ...]]] = [
        (lambda x: x, USES),
        (np.square, ()),
    ]
    if numbers.min() >= 0:
        shift = 0.0 if numbers.min() > 0 else _smallest_step(numbers)
        forms.append((lambda x: np.log(x + shift), ("smooth",)))
        forms.append((np.sqrt, ()))
    if numbers.min() > 0:
        forms.append((np.reciprocal, ()))
    if np.abs(numbers).max() <= DOUBLING and len(numbers) > 2:
        forms.append((np.exp2, ()))
    if 2 < len(numbers) <= LEVELS:
        forms += [(_from(border), ("border",)) for border in np.sort(numbers)[1:].tolist()]
    return [_Part(_scaled(form, numbers), uses) for form, uses in forms]


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
