"""Level curves: what a method costs at each value of a number, all else as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.influences.contrasts import Valid
from bot.analysis.influences.costs import Floats
from bot.analysis.influences.learning import InfluenceModels, Learnt
from bot.model.space import Configuration, Space

MOST_LEVELS = 12
"""Values of a number that are asked for, spread over its range."""


@dataclass(frozen=True)
class LevelCurve:
    """Mean predicted cost at each of some values of an option; both of shape (n_values,)."""

    option: str
    values: Floats
    costs: Floats


def asked_values(space: Space, option: str, most: int = MOST_LEVELS) -> list[float]:
    """At most so many of a number's values, spread over them, the ends among them."""
    values = sorted(float(v) for v in space.options[space.index[option]].values)
    picks = np.unique(np.linspace(0, len(values) - 1, min(len(values), most)).round().astype(int))
    return [values[k] for k in picks]


def level_curve(
    models: InfluenceModels,
    learnt: Learnt,
    option: str,
    *,
    population: Sequence[Configuration],
    valid: Valid,
) -> LevelCurve | None:
    """Partial dependence (Friedman 2001): the option is set to each value in the same configurations.

    These are those of the population in which every asked value is valid; None: there is no such one, or
    no model.
    """
    space = models.sample_.space
    place = space.index[option]
    values = asked_values(space, option)
    sets = [[(*c[:place], v, *c[place + 1 :]) for v in values] for c in population]
    sets = [versions for versions in sets if all(valid(v) for v in versions)]
    if learnt.model is None or not sets:
        return None
    asked = models.basis_.columns([version for versions in sets for version in versions])
    costs = learnt.model.predict(asked).reshape(len(sets), len(values)).mean(axis=0)
    return LevelCurve(option, np.array([float(v) for v in values]), costs)
