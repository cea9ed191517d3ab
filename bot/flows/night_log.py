"""Trials of several nights in arrays: what one night measured is compared within that night only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.analysis.change_points.trials import TrialLog
from bot.model.change_points import Observation


class NightLog(TrialLog):
    """A log in which each configuration has a level of its own in each night.

    A machine that was replaced, or one more kernel mitigation, moves every trial of a night: what is the same
    for all revisions of a configuration is that night's level, and no step. So nothing that happens between
    two nights can look like a commit, and no trial has to be divided by a noisy one.
    """

    def add_night(self, observations: Sequence[Observation], factor: float = 1.0) -> None:
        """Takes in an earlier night, whose seconds times `factor` are tonight's; `add` is for tonight."""
        tonight, self.place = self.place, {}
        self.add([replace(o, value=o.value * factor) for o in observations])
        self.place = tonight
