"""What trials of mining cost so far: hence what watching costs, and how many rest beside the next."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from bot.flows.assertions.mining_choice import Price
from bot.model.profiles import Profile, Tool

MOST_SHIFT = 0.1
"""Share of a method's median call by which the tool may shift it, once its own part is taken off (RQ5)."""
MOST_RESTS = 9
"""Trials without the tool beside one with it, at most, or as many as allow for twice as long a trial."""
CALL, LEAST_CALL = 5e-7, 5e-8
"""Seconds of a tool in each call, until it has said it itself, and at least."""


@dataclass
class Spending:
    """Over all trials. overhead: share of their CPU seconds that watching may add.

    plain: CPU seconds of a trial without the tool; 0: none was run. tool: the last one. added, beside: CPU
    seconds that the tool added, and of all trials beside those with it and of those without it.
    """

    overhead: float
    plain: float = 0.0
    tool: Tool = field(default_factory=lambda: Tool("", "", "fine", frozenset()))
    added: float = 0.0
    beside: float = 0.0
    _trials: int = 0
    _units: float = 0.0

    @property
    def most_rests(self) -> int:
        """Trials without the tool beside one with it, at most: the more, the longer that one may take."""
        return max(MOST_RESTS, math.ceil(1.0 / self.overhead) - 1)

    @property
    def measured(self) -> bool:
        """Whether a trial with the tool was compared with one without."""
        return self._trials > 0

    @property
    def share(self) -> float | None:
        """Of all CPU seconds without the tool, those that it added; None: not measured."""
        return self.added / self.beside if self.beside else None

    def price(self, trial: float) -> Price:
        """Of watching. trial: CPU seconds of one, as long as none was run without the tool.

        On a busy machine a tool that asks the clock on the wall has waited for a core, too: a call cannot
        cost more than what all that were watched have added.
        """
        tool, call = self.tool, self.tool.seconds_per_call or CALL
        if self._units:
            call = max(min(call, self.added / self._units), LEAST_CALL)
        shortest = tool.left * tool.bias / MOST_SHIFT
        return Price(self.overhead, self.plain or trial, call, tool.sampled, shortest)

    def book(self, profile: Profile, calls: Iterable[int], rests: int) -> None:
        """A watched trial and those beside it. calls: in a trial, of each watched method."""
        self.tool = profile.tool
        if profile.unprofiled > 0:
            price = self.price(profile.unprofiled)
            self.plain = profile.unprofiled
            self.added += profile.seconds - self.plain
            self.beside += (rests + 1) * self.plain
            self._trials += 1
            self._units += sum(map(price.units, calls))

    def rests(self, least: int) -> int:
        """Trials without the tool: as many as keep the overhead over all trials, if they go on so."""
        if not self.measured:
            return least
        next_one = self.added / self._trials
        needed = ((self.added + next_one) / self.overhead - self.beside) / self.plain - 1.0
        return min(max(least, math.ceil(needed)), self.most_rests)
