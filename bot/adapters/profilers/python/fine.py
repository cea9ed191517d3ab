"""Fine profiler: times the calls of a few chosen functions, by call path, from inside the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.adapters.profilers.call_budget import CallBudget, CallCosts, planned, some
from bot.adapters.profilers.call_series import LEFT
from bot.adapters.profilers.python.durations import TimedLeft, series_of, tell_durations
from bot.adapters.profilers.python.injection import Watched, not_started, run_watched, too_old
from bot.adapters.profilers.python.names import suffixes
from bot.adapters.profilers.reports import ToldMethod
from bot.model.profiles import Method, Profile, Target, Tool

COSTS = CallCosts(timed=5e-6, counted=0.6e-6, start=0.015)
"""Arguments included, rough, in a real program; the start: to load, to calibrate, to write what was seen."""
ARGUED_CALLS = 5_000
"""Methods of which more calls are timed are timed without a look at their arguments."""
DEPTH = 8
"""Callers in a call path."""


class PythonFine:
    """The port `Profiler`, fine.

    coarse: how often methods are called, to stay within the overhead. arguments: whether they are looked at,
    of methods that are not called too often.
    """

    def __init__(
        self,
        coarse: Profile | None = None,
        *,
        overhead: float = 0.1,
        depth: int = DEPTH,
        arguments: bool = True,
    ) -> None:
        self._coarse, self._overhead, self._depth = coarse, overhead, depth
        self._arguments = arguments

    tool = Tool(
        name="suspects agent",
        version="1",
        grain="fine",
        quantities=frozenset({"calls", "seconds", "durations", "arguments"}),
        seconds_per_call=COSTS.timed,
        left=LEFT,
        callers=True,
        sampled=True,
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
        plan = planned(methods, self._coarse, costs=COSTS, overhead=self._overhead)
        try:
            watched = run_watched(
                target,
                tell_durations,
                [ToldMethod(method.name, method.file, method.line) for method in methods],
                empty=TimedLeft(),
                parts=("timing", "arguments", "events", "rewriting", "telling"),
                settings={"depth": self._depth, "selected": self._selected(plan)},
                slowdown=2.0,
                compiled_by_us=True,
            )
        except OSError as error:
            return not_started(self.tool, error)
        result = series_of(watched.left)
        notes = [*watched.notes, *result.notes, *self._notes(watched, plan)]
        absent = [method for method in plan.every if method not in result.seen]
        if absent and watched.left.processes:
            notes.append(f"{len(absent)} of {len(plan.every)} chosen methods were not seen: {some(absent)}.")
        # By the wall clock, too: of that the tool had a core as much as the program.
        wall = sum(process.wall for process in watched.left.processes)
        cost = result.seconds_per_call * min(1.0, watched.launched.cpu / max(wall, 1e-9))
        return Profile(
            tool=replace(self.tool, seconds_per_call=cost or COSTS.timed, bias=result.bias),
            outcome=watched.launched.outcome,
            seconds=watched.launched.cpu,
            series=result.series,
            notes=tuple(notes),
        )

    def _selected(self, plan: CallBudget) -> list[list[Any]]:
        """For the agent: qualified name, ends of file names, `every`, whether arguments are told."""
        selected = []
        for method in plan.every:
            module, _, qualified = method.name.partition(":")
            cost = self._coarse.methods.get(method) if self._coarse else None
            every = plan.every[method]
            few = cost is None or (cost.calls or 0) <= ARGUED_CALLS * every
            selected.append([qualified, suffixes(module, method.file), every, few and self._arguments])
        return selected

    def _notes(self, watched: Watched[TimedLeft], plan: CallBudget) -> list[str]:
        notes = plan.notes(self._overhead)
        # Both by the wall clock: on a busy machine the tool waits for a core as the program does.
        wall = sum(process.wall for process in watched.left.processes)
        own = sum(process.own for process in watched.left.processes)
        if wall > own > 0:
            notes.append(f"Fine profiling made the run about {own / (wall - own):.0%} longer.")
        return notes
