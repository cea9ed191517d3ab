"""A bench without a machine: pairs from a function or a table, on a simulated clock.

A callable's seconds are the metric `cpu`; a table's values are the metric named like its column, and count as
seconds on the clock, unless they are too large for that. There are no warm-ups, and one slot.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from bot.model.errors import UsageError
from bot.model.report import Environment, Unit
from bot.model.revisions import Comparison, Revision
from bot.model.space import Configuration
from bot.model.trials import Pair, Side, Trial, Wish

SHORTEST = 0.01
"""Seconds that a trial costs at least, about what a process takes to start: the millions of shorter ones
that a budget could hold would take hours here."""
FIRST_FAILURE_SECONDS = 1.0
"""What a failed trial costs before any trial went well (arbitrary; without it such a run would never end)."""


class Source(Protocol):
    """Where simulated trials come from; revisions are 0, 1, ..."""

    @property
    def metric(self) -> str:
        """Name of the metric."""
        ...

    @property
    def unit(self) -> Unit:
        """What values are, in a report."""
        ...

    @property
    def second(self) -> float:
        """What counts as a second on the clock, in the metric's unit."""
        ...

    @property
    def revisions(self) -> Sequence[str]:
        """Labels of the revisions, in order."""
        ...

    @property
    def configurations(self) -> Sequence[Configuration] | None:
        """The only configurations that can be measured; None: all."""
        ...

    def nearest(self, configuration: Configuration, revisions: tuple[int, int]) -> Configuration:
        """The configuration that is really measured at both revisions."""
        ...

    def draw(
        self, configuration: Configuration, revisions: tuple[int, int], rng: np.random.Generator
    ) -> Iterator[float]:
        """Two values, one for each revision, computed as they are asked for; NaN: the trial failed."""
        ...


def cost(source: Source, value: float) -> float:
    """Seconds of the clock that a trial of a value takes."""
    return max(value / source.second, SHORTEST)


def nothing_run(source: Source) -> Sequence[str]:
    """Sentences on what was measured, and how its time was reckoned."""
    told = "The trials are simulated or were measured elsewhere: nothing was built or run here."
    if source.second == 1.0:
        return (told,)
    unit = f"{source.second:,.0f} of {source.metric}, a median trial, count as a second of the budget."
    return (told, f"The table's values are too large for seconds: {unit}")


class SimulatedBench:
    """Fits the port Bench; `budget` in simulated seconds: no trial starts once that many are spent."""

    slots = 1

    def __init__(
        self,
        source: Source,
        comparison: Comparison,
        *,
        budget: float,
        rng: np.random.Generator,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._source = source
        self._revision: dict[Side, int] = {"base": int(comparison.base.id), "head": int(comparison.head.id)}
        self._budget = budget
        self._rng = rng
        self._stop = stop or (lambda: False)
        self._clock = 0.0
        self._costs: list[float] = []

    def measure(self, wishes: Iterator[Wish | None]) -> Iterator[Pair]:
        """Pairs in the order of their wishes, until these or the budget end.

        Raises:
            UsageError: the callable raised, or returned something else than seconds.
        """
        idle = False
        for wish in wishes:
            if wish is None:
                if idle:  # nothing runs here while a flow waits, so nothing will change its mind
                    return
                idle = True
                continue
            idle = False
            if self._ended():
                return
            yield self._pair(wish)

    def served(self, configuration: Configuration) -> Configuration:
        """The configuration that is measured for this one: the nearest known at base and head."""
        return self._source.nearest(configuration, (self._revision["base"], self._revision["head"]))

    def elapsed(self) -> float:
        """Simulated seconds of all trials so far."""
        return self._clock

    def stopped(self) -> bool:
        """Whether the run was asked to end."""
        return self._stop()

    def notes(self) -> Sequence[str]:
        """Nothing was run."""
        return nothing_run(self._source)

    def environment(self) -> Environment:
        """No machine."""
        return Environment(cpu="simulated")

    def _ended(self) -> bool:
        return self._clock >= self._budget or self._stop()

    def _pair(self, wish: Wish) -> Pair:
        began = self._clock
        if wish.track == "instructions":
            nothing = Trial("not-started", detail="a simulated program has no instructions to count")
            return Pair(wish, nothing, nothing, 0.0)
        revisions = (self._revision[wish.sides[0]], self._revision[wish.sides[1]])
        configuration = self.served(wish.configuration)
        swapped = self._rng.random() < 0.5  # a random start order, as on a real bench
        order = revisions[::-1] if swapped else revisions
        values = self._source.draw(configuration, (order[0], order[1]), self._rng)
        first = self._trial(next(values))
        second = Trial("cut") if self._ended() else self._trial(next(values))
        if swapped:
            first, second = second, first
        if configuration != wish.configuration:
            wish = replace(wish, configuration=configuration)
        return Pair(wish, first, second, self._clock - began)

    def _trial(self, value: float) -> Trial:
        if 0.0 < value < np.inf:
            seconds = cost(self._source, value)
            self._clock += seconds
            bisect.insort(self._costs, seconds)
            return Trial("ok", {self._source.metric: value}, exit_code=0)
        middle = self._costs[(len(self._costs) - 1) // 2 : len(self._costs) // 2 + 1]
        self._clock += sum(middle) / len(middle) if middle else FIRST_FAILURE_SECONDS
        detail = "no value" if np.isnan(value) else f"{value:g} is not a positive time"
        return Trial("exit", detail=detail)


def simulated_comparison(base: str, head: str, revisions: Sequence[str]) -> Comparison:
    """Two of the revisions 0, 1, ...; a label that is no such number (a tag of a table) is understood too.

    Raises:
        UsageError: there is no such revision.
    """
    return Comparison(_revision(base, revisions), _revision(head, revisions))


def _revision(word: str, revisions: Sequence[str]) -> Revision:
    if word.isascii() and word.isdigit() and int(word) < len(revisions):
        return Revision(str(int(word)), revisions[int(word)])
    if word in revisions:
        return Revision(str(revisions.index(word)), word)
    raise UsageError(f"There is no revision {word!r}: they are 0 to {len(revisions) - 1}.")
