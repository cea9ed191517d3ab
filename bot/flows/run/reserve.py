"""When pairs make room for what explains a change: as soon as it is certain, in the last part of the time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bot.analysis.look import EARLY
from bot.flows.run.evidence import Evidence

LEAST_SHARE = 0.15
"""Of the budget: with less time left pairs are not looked at again, for too little could be explained."""


@dataclass
class Reserve:
    """The end of a run's measuring, which pairs leave to what explains a change, and have if there is none.

    enough: seconds from which on more pairs would only make its size more precise. latest: seconds until
    which pairs are looked at for changes that few configurations show, which bets alone make certain too
    late; None: they are not.
    """

    evidence: Evidence
    enough: float
    latest: float | None = None
    _looks: list[float] = field(init=False)

    def __post_init__(self) -> None:
        latest = self.latest
        self._looks = [] if latest is None else np.linspace(self.enough, latest, len(EARLY)).tolist()

    def due(self, now: float) -> bool:
        """Whether measuring ends `now`, seconds on the bench's clock."""
        if now < self.enough:
            return False
        passed = sum(now >= look for look in self._looks)
        if passed and not self.evidence.alarmed:
            self.evidence.look(len(EARLY) - len(self._looks) + passed - 1)
        del self._looks[:passed]
        return self.evidence.alarmed
