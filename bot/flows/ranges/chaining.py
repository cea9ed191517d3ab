"""From ratios to one anchor to seconds: what was measured hours apart, as if it had been side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from bot.model.change_points import ChangePoint, ChangePointSearch, Doubt, Doubting, Observation, Probe
from bot.model.space import Configuration


class Chain:
    """Multiplies ratios by what the anchor took in the same configuration.

    Searches add steps of several terms up, and it is seconds that add up: of two steps of one second each
    a configuration that was always slow shows smaller ratios. One figure for each configuration serves all
    its ratios (the median of the first observations), so that the anchor's own noise does not come back.
    """

    def __init__(self) -> None:
        self._anchors: dict[Configuration, float] = {}

    def seconds(self, observations: Sequence[Observation]) -> list[Observation]:
        """The observations with ratio x anchor for their value, and that one figure for their anchor.

        A trial that failed keeps its own: 0 says that it was the anchor that did.
        """
        fresh: dict[Configuration, list[float]] = defaultdict(list)
        for o in observations:
            if o.value > 0 and o.probe.configuration not in self._anchors:
                fresh[o.probe.configuration].append(o.anchor)
        self._anchors |= {configuration: float(np.median(found)) for configuration, found in fresh.items()}
        return [
            replace(o, value=o.value * anchor, anchor=anchor)
            for o in observations
            for anchor in (self._anchors.get(o.probe.configuration, 1.0) if o.value > 0 else o.anchor,)
        ]


@dataclass
class Chained:
    """A search that is given seconds where trials gave ratios; satisfies `ChangePointSearch`."""

    search: ChangePointSearch
    _chain: Chain = field(default_factory=Chain)

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        """What the trials so far show, in order of revision."""
        return self.search.change_points_

    @property
    def doubts_(self) -> Sequence[Doubt]:
        """Where something surely moved that has no sure name, as far as the search knows such places."""
        return self.search.doubts_ if isinstance(self.search, Doubting) else ()

    def wishes(self) -> Sequence[Probe]:
        """The next trials; empty: nothing is left to learn."""
        return self.search.wishes()

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        """Takes in any trials."""
        self.search.partial_fit(self._chain.seconds(observations))
        return self
