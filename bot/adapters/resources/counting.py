"""Counts what trials at built sites ask of the machine, from three sources."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Protocol

from bot.adapters.resources.calls import Calls
from bot.adapters.resources.interpreters import bare
from bot.adapters.resources.simulation import Simulation
from bot.adapters.resources.usage import Usage
from bot.adapters.trials.site_targets import SiteTargets, unready
from bot.model.errors import UsageError
from bot.model.profiles import Target
from bot.model.resources import Counted, Source
from bot.model.space import Configuration
from bot.model.trials import Side


class Counter(Protocol):
    """One source: runs one trial and counts; never raises for what a program does."""

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not, one sentence each; empty: it can run."""
        ...

    def count(self, target: Target) -> Counted:
        """One trial, counted.

        Raises:
            OSError: its folders could not be made ready.
        """
        ...


COUNTERS: Mapping[Source, Callable[[], Counter]] = {
    "usage": Usage,
    "calls": Calls,
    "simulation": Simulation,
}
CANNOT = "Resources could not be counted"


class SiteCounter:
    """Fits the port `ResourceBench`."""

    def __init__(self, targets: SiteTargets) -> None:
        self._targets, self._default = targets, targets.subject.space.default
        self._counters = {source: make() for source, make in COUNTERS.items()}

    def missing(self) -> Mapping[Source, Sequence[str]]:
        """What each source lacks for the program, as its default configuration is started at head."""
        if self._targets.program.server is not None:
            return dict.fromkeys(
                self._counters, ("Resources of a server (`program.server`) are not counted.",)
            )
        try:
            with self._targets.target("head", self._default) as target:
                lacks = {source: counter.missing(target) for source, counter in self._counters.items()}
        except (OSError, UsageError) as error:
            return dict.fromkeys(self._counters, (unready(CANNOT, error),))
        return {source: sentences for source, sentences in lacks.items() if sentences}

    def count(
        self, side: Side, configuration: Configuration, source: Source, *, seconds: float = inf
    ) -> Counted:
        """One trial, counted; `cut` when the seconds are over or a signal came."""
        try:
            with self._targets.target(side, configuration, seconds=seconds) as target:
                return self._count(target, source)
        except (OSError, UsageError) as error:
            return Counted(source, "not-started", notes=(unready(CANNOT, error),))

    def start_up(self, side: Side, source: Source, *, seconds: float = inf) -> Counted | None:
        """The bare interpreter of the default configuration's trial; None: it runs on none."""
        try:
            with self._targets.target(side, self._default, seconds=seconds) as target:
                words = bare(target)
                if words is None:
                    return None
                return self._count(replace(target, words=words, stdin=None, ok_exit=(0,)), source)
        except (OSError, UsageError) as error:
            return Counted(source, "not-started", notes=(unready(CANNOT, error),))

    def _count(self, target: Target, source: Source) -> Counted:
        began = time.monotonic()
        if target.over:
            return Counted(source, "cut")
        counted = self._counters[source].count(target)
        cut = counted.outcome != "ok" and target.over
        seconds = time.monotonic() - began
        return replace(counted, seconds=seconds, outcome="cut" if cut else counted.outcome)
