"""The measurements so far, by configuration and commit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bot.model.change_points import Observation
from bot.model.space import Configuration


class Sample:
    """Values of repeated trials are averaged; failed ones are remembered as tried."""

    def __init__(self) -> None:
        self.configurations: list[Configuration] = []
        self.unbuilt: set[int] = set()
        self.trials = 0
        self._place: dict[Configuration, int] = {}
        self._values: list[dict[int, list[float]]] = []

    def add(self, observation: Observation) -> int | None:
        """Takes in one trial; the place of its configuration, None when the revision could not be built."""
        probe = observation.probe
        if not observation.built:
            self.unbuilt.add(probe.revision)
            return None
        self.trials += 1
        place = self._place.setdefault(probe.configuration, len(self.configurations))
        if place == len(self.configurations):
            self.configurations.append(probe.configuration)
            self._values.append({})
        values = self._values[place].setdefault(probe.revision, [])
        if np.isfinite(observation.value):
            values.append(observation.value)
        return place

    def __contains__(self, configuration: object) -> bool:
        """Whether a configuration was tried."""
        return configuration in self._place

    def measured(self) -> NDArray[np.bool_]:
        """Which configurations have a value at two commits or more, shape (n_configurations,)."""
        return np.array([sum(map(bool, v.values())) > 1 for v in self._values], dtype=bool)

    def tried(self, place: int) -> NDArray[np.int64]:
        """Commits at which a configuration was tried, and those that cannot be built; ascending."""
        return np.array(sorted(self._values[place].keys() | self.unbuilt), dtype=np.int64)

    def history(self, place: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Commits at which a configuration was measured, ascending, and its mean seconds there."""
        known = sorted((commit, np.mean(v)) for commit, v in self._values[place].items() if v)
        commits, values = zip(*known, strict=True) if known else ((), ())
        return np.array(commits, dtype=np.int64), np.array(values, dtype=np.float64)

    def repeated(self) -> Iterator[NDArray[np.float64]]:
        """The seconds of every configuration and commit that were measured more than once."""
        for history in self._values:
            yield from (np.array(v) for v in history.values() if len(v) > 1)
