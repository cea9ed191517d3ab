"""Fine profiler: times the calls of a few chosen functions, by call path, from inside the program."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.adapters.profilers.python.durations import TimedBody, series_of
from bot.adapters.profilers.python.injection import Watched, not_started, run_watched, too_old
from bot.adapters.profilers.python.names import suffixes
from bot.model.profiles import Method, Profile, Target, Tool

CALL_SECONDS, SKIP_SECONDS = 2e-6, 0.3e-6
"""Of a call that is timed, and of one that is only counted: assumed before a run, measured in it."""
ALWAYS_TIMED = 1000
"""Methods with fewer calls are timed at each."""
ARGUED_CALLS = 20_000
"""Methods with more calls are timed without a look at their arguments."""
DEPTH = 8
"""Callers in a call path."""


@dataclass(frozen=True)
class Plan:
    """Of which method each how-manieth call is timed on average, and the share of the run that will cost."""

    every: Mapping[Method, int]
    overhead: float


def plan(calls: Mapping[Method, int], *, seconds: float, target: float) -> Plan:
    """Times each n-th call of frequent methods: a run of `seconds` (unwatched) gets at most `target` longer.

    calls: expected of each method. target: share, 0.1 for 10 %.
    """
    rare = sum(n for n in calls.values() if n <= ALWAYS_TIMED)
    often = sum(n for n in calls.values() if n > ALWAYS_TIMED)
    budget = target * seconds - rare * CALL_SECONDS - often * SKIP_SECONDS
    wanted = often * (CALL_SECONDS - SKIP_SECONDS)
    most = max(1, often // ALWAYS_TIMED)
    every = most if budget <= 0 else min(most, max(1, math.ceil(wanted / budget)))
    cost = rare * CALL_SECONDS + often * SKIP_SECONDS + wanted / every
    return Plan(
        {method: every if n > ALWAYS_TIMED else 1 for method, n in calls.items()},
        cost / seconds if seconds > 0 else 0.0,
    )


class PythonFine:
    """The port `Profiler`, fine. `coarse`: how often methods are called, to stay within the overhead."""

    def __init__(self, coarse: Profile | None = None, *, overhead: float = 0.1, depth: int = DEPTH) -> None:
        self._coarse, self._overhead, self._depth = coarse, overhead, depth

    tool = Tool(
        name="suspects agent",
        version="1",
        grain="fine",
        quantities=frozenset({"calls", "seconds", "durations", "arguments"}),
        seconds_per_call=CALL_SECONDS,
        blind=(
            f"A call path ends {DEPTH} callers above the method.",
            "Before Python 3.12 coroutines and generators with `yield from` contain waiting.",
            "Before Python 3.12 functions are watched only in modules that have their source.",
            "Python processes that other programs start with -S, -E, -I or an environment of their own "
            "are not seen.",
        ),
    )

    def missing(self, target: Target) -> Sequence[str]:
        """An interpreter that is too old; what a command hides (a shell script) shows only when it runs."""
        return too_old(target)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One trial with the calls of `methods` timed."""
        planned = self._plan(methods)
        try:
            watched = run_watched(
                target,
                TimedBody,
                parts=("timing", "events", "rewriting", "telling"),
                settings={"depth": self._depth, "selected": self._selected(methods, planned)},
                slowdown=2.0,
                compiled_by_us=True,
            )
        except OSError as error:
            return not_started(self.tool, error)
        result = series_of(watched, target.root, methods)
        notes = [*watched.notes, *result.notes, *self._notes(watched, methods, planned)]
        seen = {series.method for series in result.series}
        absent = [method.name for method in methods if method not in seen]
        if absent and watched.processes.each:
            notes.append(f"{len(absent)} of {len(methods)} chosen methods were not seen: {_some(absent)}.")
        return Profile(
            tool=replace(self.tool, seconds_per_call=result.seconds_per_call or CALL_SECONDS),
            outcome=watched.launched.outcome,
            seconds=watched.launched.cpu,
            series=result.series,
            notes=tuple(notes),
        )

    def _plan(self, methods: Sequence[Method]) -> Plan:
        coarse = self._coarse
        if coarse is None:
            return Plan(dict.fromkeys(methods, 1), 0.0)
        known = {m: coarse.methods[m].calls or 0 for m in methods if m in coarse.methods}
        seconds = coarse.seconds / max(1.0, coarse.tool.slowdown)
        return plan({m: known.get(m, 0) for m in methods}, seconds=seconds, target=self._overhead)

    def _selected(self, methods: Sequence[Method], planned: Plan) -> list[list[Any]]:
        """For the agent: qualified name, ends of file names, `every`, whether arguments are told."""
        selected = []
        for method in methods:
            module, _, qualified = method.name.partition(":")
            cost = self._coarse.methods.get(method) if self._coarse else None
            few = cost is None or (cost.calls or 0) <= ARGUED_CALLS
            selected.append([qualified, suffixes(module, method.file), planned.every[method], few])
        return selected

    def _notes(self, watched: Watched[TimedBody], methods: Sequence[Method], planned: Plan) -> list[str]:
        notes = []
        if planned.overhead > self._overhead * 1.001:
            notes.append(
                f"Fine profiling is expected to cost {planned.overhead:.0%} of the run, more than the "
                f"{self._overhead:.0%} that are allowed: the chosen methods are called too often."
            )
        sampled = [method.name for method in methods if planned.every[method] > 1]
        if sampled:
            every = max(planned.every.values())
            notes.append(f"One in {every} calls was timed, of {len(sampled)} methods: {_some(sampled)}.")
        cpu = sum(process.body.cpu for process in watched.processes.each if process.body)
        own = 1e-9 * sum(process.body.own for process in watched.processes.each if process.body)
        if cpu > own > 0:
            notes.append(f"Fine profiling cost {own / (cpu - own):.1%} of the run.")
        return notes


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
