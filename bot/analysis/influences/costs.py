"""Costs of methods over configurations and repetitions, as arrays, and how exactly they are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.model.space import Configuration, Space

Floats: TypeAlias = NDArray[np.float64]
Quantity: TypeAlias = Literal["calls", "seconds", "instructions"]
MEAN_OF_ABSOLUTE_NORMAL = float(np.sqrt(2.0 / np.pi))
ABSENT = 0.01
"""A prediction below this share of a method's mean cost stands for "not called"; a choice."""


@dataclass(frozen=True)
class CostTable:
    """What each method cost without its callees in each run of each configuration.

    quantities: arrays of shape (n_configurations, n_methods, n_repetitions); NaN: the method was not called
    (or not seen) in that run, or the run failed. A run in which no method has the quantity failed, or its
    tool does not measure it. seconds and instructions are sums over all calls of a run. stale: shape
    (n_configurations, n_methods), where a method has changed since it was measured, so that its cost is not
    known; None: nowhere.
    """

    space: Space
    configurations: tuple[Configuration, ...]
    methods: tuple[str, ...]
    quantities: Mapping[Quantity, NDArray[np.floating]]
    stale: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        shape = (len(self.configurations), len(self.methods))
        for name, values in self.quantities.items():
            if values.ndim != 3 or values.shape[:2] != shape:
                raise ValueError(f"{name}: shape {values.shape}, expected {shape} and repetitions")

    @cached_property
    def ran(self) -> Mapping[Quantity, NDArray[np.bool_]]:
        """Runs that measured a quantity, shape (n_configurations, n_repetitions) each."""
        return {name: np.isfinite(values).any(axis=1) for name, values in self.quantities.items()}

    def runs(self, quantity: Quantity, method: int) -> Floats:
        """Cost in each run, shape (n_configurations, n_repetitions); 0: not called; NaN: failed run."""
        values = np.asarray(self.quantities[quantity][:, method, :], dtype=np.float64)
        known = self.ran[quantity]
        if self.stale is not None:
            known = known & ~self.stale[:, method, None]
        return np.where(known, np.nan_to_num(values, nan=0.0), np.nan)

    def means(self, quantity: Quantity) -> Floats:
        """Mean over the successful runs, shape (n_configurations, n_methods); NaN: every run failed."""
        values = self.quantities[quantity]
        count = self.ran[quantity].sum(axis=1)
        total = np.nansum(values, axis=2, dtype=np.float64)
        known = count[:, None] > 0
        if self.stale is not None:
            known = known & ~self.stale
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(known, total / count[:, None], np.nan))

    def select(self, rows: Sequence[int] | NDArray[np.intp]) -> CostTable:
        """The same of some configurations only."""
        return CostTable(
            self.space,
            tuple(self.configurations[i] for i in rows),
            self.methods,
            {name: values[np.asarray(rows)] for name, values in self.quantities.items()},
            None if self.stale is None else self.stale[np.asarray(rows)],
        )


def relative_errors(truth: Floats, predicted: Floats) -> Floats:
    """Relative error in each configuration, shape of both; NaN where the truth is.

    A method that was not called (0) has error 0 when predicted below `ABSENT` of its mean, else 1.
    """
    scale = float(np.nanmean(truth)) if np.isfinite(truth).any() else 0.0
    absent = truth == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.abs(predicted - truth) / np.where(absent, 1.0, np.abs(truth))
    wrong = (np.abs(predicted) > ABSENT * scale).astype(np.float64)
    return np.asarray(np.where(absent, wrong, errors))


def mape(truth: Floats, predicted: Floats) -> float:
    """Mean absolute percentage error as a fraction (equation of section IV-C); NaN without any truth."""
    errors = relative_errors(truth, predicted)
    return float(np.nanmean(errors)) if np.isfinite(errors).any() else float("nan")


def noise_floor(runs: Floats) -> float:
    """Mean relative error that a perfect model would show on means of these runs.

    runs: shape (n_configurations, n_repetitions). The mean of r runs lies sd / sqrt(r) off the truth, of
    which a normal error is 0.80 in the mean of its absolute. NaN: nothing was repeated.
    """
    known = np.isfinite(runs)
    count = known.sum(axis=1)
    values = np.where(known, runs, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = values.sum(axis=1) / count
        variance = (np.where(known, values - mean[:, None], 0.0) ** 2).sum(axis=1) / (count - 1)
        floors = MEAN_OF_ABSOLUTE_NORMAL * np.sqrt(variance / count) / mean
    floors = floors[(count > 1) & (mean > 0)]
    return float(floors.mean()) if len(floors) else float("nan")
