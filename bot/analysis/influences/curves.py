"""Level curves: what a method costs at each value of a number, all else as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.influences.basis import Columns
from bot.analysis.influences.contrasts import Valid
from bot.analysis.influences.costs import Floats
from bot.analysis.influences.learning import InfluenceModels, Learnt
from bot.analysis.influences.levels import asked_values
from bot.model.space import Configuration

MOST_LEVELS = 12
"""Values of a number that are asked for, spread over its range."""


@dataclass(frozen=True)
class LevelCurve:
    """Mean predicted cost at each of some values of an option; both of shape (n_values,)."""

    option: str
    values: Floats
    costs: Floats

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """Values with their costs."""
        return tuple(zip(self.values.tolist(), self.costs.tolist(), strict=True))


class LevelCurves:
    """Partial dependence (Friedman 2001): an option is set to each value in the same configurations.

    These are those of the population in which every asked value is valid.
    """

    def __init__(self, models: InfluenceModels, population: Sequence[Configuration], valid: Valid) -> None:
        self._space, self._basis = models.sample_.space, models.basis_
        self._population, self._valid = population, valid
        self._versions: dict[str, tuple[list[float], Columns] | None] = {}

    def of(self, learnt: Learnt, option: str) -> LevelCurve | None:
        """The curve of one method; None: there is no such configuration, or no model."""
        if option not in self._versions:
            self._versions[option] = self._set(option)
        found = self._versions[option]
        if learnt.model is None or found is None:
            return None
        values, asked = found
        costs = learnt.model.predict(asked).reshape(-1, len(values)).mean(axis=0)
        return LevelCurve(option, np.array(values), costs)

    def _set(self, option: str) -> tuple[list[float], Columns] | None:
        place = self._space.index[option]
        values = asked_values(self._space, option, MOST_LEVELS)
        sets = [[(*c[:place], v, *c[place + 1 :]) for v in values] for c in self._population]
        kept = [version for versions in sets if all(map(self._valid, versions)) for version in versions]
        return (values, self._basis.columns(kept)) if kept else None
