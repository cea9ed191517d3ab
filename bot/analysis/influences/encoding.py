"""Configurations as rows of numbers: flags 0 or 1, a column per value of a choice, numbers as they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.analysis.influences.costs import Floats
from bot.model.space import Configuration, Space


class Encoding:
    """Columns of a space; `owner[k]` is the option (by place) that column k belongs to."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._parts: list[tuple[int, object]] = []
        for i, option in enumerate(space.options):
            if option.kind == "choice":
                self._parts += [(i, value) for value in option.values]
            else:
                self._parts.append((i, None))
        self.owner: NDArray[np.intp] = np.array([i for i, _ in self._parts], dtype=np.intp)

    def matrix(self, configurations: Sequence[Configuration]) -> Floats:
        """Shape (n_configurations, n_columns)."""
        table = np.empty((len(configurations), len(self._parts)))
        for k, (i, value) in enumerate(self._parts):
            values = [c[i] for c in configurations]
            table[:, k] = values if value is None else [v == value for v in values]
        return table
