"""Binary columns of a space: what the published algorithm calls options."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.model.space import Configuration, Level, Space


def columns(space: Space) -> tuple[Level, ...]:
    """One binary option for each switch, one for each value of a choice or number.

    The algorithm knows no other terms: neither negated levels nor thresholds of numbers.
    """
    return tuple(level for level in space.levels if level.operator in ("on", "="))


def design_matrix(
    space: Space, levels: Sequence[Level], configurations: Sequence[Configuration]
) -> NDArray[np.float64]:
    """1 where a level holds, shape (n_configurations, n_levels)."""
    return np.array(
        [[float(space.holds(level, c)) for level in levels] for c in configurations], dtype=np.float64
    ).reshape(len(configurations), len(levels))
