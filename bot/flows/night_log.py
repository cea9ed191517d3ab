"""Trials of several nights in arrays: what one night measured is compared within that night only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.analysis.change_points.trials import TrialLog
from bot.model.change_points import Observation
from bot.model.space import Configuration, Level, Space


class NightLog(TrialLog):
    """A log in which each configuration has a level of its own in each night.

    A machine that was replaced, or one more kernel mitigation, moves every trial of a night: what is the same
    for all revisions of a configuration is that night's level, and no step. So nothing that happens between
    two nights can look like a commit, and no trial has to be divided by a noisy one.
    """

    def __init__(self, space: Space, levels: Sequence[Level]) -> None:
        super().__init__(space, levels)
        self._nights: list[tuple[slice, dict[Configuration, int]]] = []

    def add_night(self, observations: Sequence[Observation]) -> None:
        """Takes in all trials of an earlier night; what `add` takes later is another night's."""
        start = len(self._values)
        self.add(observations)
        self._nights.append((slice(start, len(self._values)), self.place))
        self.place = {}

    def as_tonight(self, anchor: int) -> None:
        """Brings earlier nights' seconds to tonight's machine by the median ratio of trials at the anchor.

        Steps in seconds are then the same in all nights; a night that shares no configuration stays as it is.
        """
        rows = np.array([row for row, _ in self._where], dtype=np.intp)
        there = np.array([revision == anchor for _, revision in self._where], dtype=bool)
        values = np.array(self._values)
        for span, place in self._nights:
            ratios = []
            for configuration in self.place.keys() & place.keys():
                now = values[there & (rows == self.place[configuration])]
                then = values[there & (rows == place[configuration])]
                if len(now) and len(then):
                    ratios.append(float(np.log(np.median(now) / np.median(then))))
            if ratios:
                values[span] *= np.exp(np.median(ratios))
        self._values = values.tolist()
        self.forget()
