"""System calls of one trial by class, counted with the first tracer that may be used here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from bot.adapters.resources.heap import heap_peak
from bot.adapters.resources.perf_trace import PerfTrace
from bot.adapters.resources.strace import Strace
from bot.model.profiles import Target
from bot.model.resources import Counted


class Tracer(Protocol):
    """Counts system calls of one trial."""

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not, one clause each; empty: it can trace."""
        ...

    def trace(self, target: Target) -> Counted:
        """The calls from the program's own start on.

        Raises:
            OSError: its folders could not be made ready.
        """
        ...


class Calls:
    """Chooses once, so that base and head are counted with the same tracer.

    tracers: the preferred one first.
    """

    def __init__(self, tracers: Sequence[Tracer] = ()) -> None:
        self._tracers = tracers or (Strace(), PerfTrace())
        self._chosen: Tracer | None = None
        self._lacks: list[str] = []

    def missing(self, target: Target) -> Sequence[str]:
        """What each tracer lacks, which is tried as the target's account; empty: one of them can trace."""
        if self._chosen is None:
            self._lacks = []
            for tracer in self._tracers:
                lacks = tracer.missing(target)
                if not lacks:
                    self._chosen = tracer
                    return ()
                self._lacks += lacks
        return () if self._chosen else [f"No system calls by kind: {lack}." for lack in self._lacks]

    def count(self, target: Target) -> Counted:
        """All calls from the program's own start on; and the peak of its heap, from one more trial.

        Raises:
            OSError: its folders could not be made ready.
        """
        traced = self.trace(target)
        peak = heap_peak(target) if traced.ok else None
        return traced if peak is None else replace(traced, volumes={"heap_peak": peak})

    def trace(self, target: Target) -> Counted:
        """The calls alone.

        Raises:
            OSError: as `count`.
        """
        lacks = self.missing(target)
        if self._chosen is None:
            return Counted("calls", "not-started", notes=tuple(lacks))
        counted = self._chosen.trace(target)
        instead = tuple(f"System calls were counted with {counted.tool}: {lack}." for lack in self._lacks)
        return replace(counted, notes=(*instead, *counted.notes))
