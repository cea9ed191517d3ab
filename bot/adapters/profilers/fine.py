"""The fine profiler of each runtime, on as many of the chosen methods as the overhead allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import nan
from statistics import median

from bot.adapters.profilers.affordable import OVERHEAD, affordable
from bot.adapters.profilers.jvm.timer import JvmTimer
from bot.adapters.profilers.jvm.watcher import JvmWatcher
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.native.frida_watcher import FridaWatcher
from bot.adapters.profilers.native.uftrace import SECONDS_PER_CALL, Uftrace
from bot.adapters.profilers.node.watcher import NodeWatcher
from bot.adapters.profilers.python.fine import PythonFine
from bot.model.profiles import Method, MethodCost, Profile, Target, Tool

AGENTS: Mapping[
    str, Callable[[Profile, float, bool], Sequence[PythonFine | NodeWatcher | JvmWatcher | JvmTimer]]
] = {
    "python": lambda coarse, most, arguments: [PythonFine(coarse, overhead=most, arguments=arguments)],
    "node": lambda coarse, most, arguments: [NodeWatcher(coarse, overhead=most, arguments=arguments)],
    "jvm": lambda coarse, most, arguments: [
        JvmWatcher(coarse, overhead=most, arguments=arguments),
        JvmTimer(coarse, overhead=most),
    ],
}
"""Tools inside of the program, by runtime, the first choice first; they know what they can afford."""


class FineProfiler:
    """Watches chosen methods, with summaries of arguments where the tool can.

    overhead: the share of a trial's CPU seconds that watching should add at most.
    """

    def __init__(self, runtime: str, *, overhead: float = OVERHEAD) -> None:
        self._runtime, self._overhead = runtime, overhead
        frida = FridaWatcher()
        self._tracers = {told: (Uftrace(arguments=told), frida) for told in (True, False)}
        """By whether arguments are told; they calibrate themselves once."""

    def watch(
        self,
        target: Target,
        methods: Sequence[Method],
        coarse: Profile,
        *,
        overhead: float | None = None,
        rests: int = 1,
    ) -> Profile:
        """Trials without a profiler, to compare with, and one in which the methods are watched.

        coarse: the same configuration's, which tells how often methods are called. Where it could not count
        calls and watching takes too long, the calls that were seen decide what is watched in another trial.
        overhead: of the watched trial, if it is another than usual; then durations are all that is wanted,
        and no arguments are told. rests: trials without a profiler.

        Raises:
            OSError: the trial cannot be started here.
        """
        most = self._overhead if overhead is None else overhead
        resting = [launch(target, target.words) for _ in range(rests)]
        failed = next((one for one in resting if one.outcome != "ok"), None)
        # None are left of a short trial where launching one took longer, once: nothing could be afforded.
        seconds = (median(one.cpu for one in resting) if resting else 0.0) or coarse.plain_seconds
        known = replace(coarse, seconds=seconds, tool=replace(coarse.tool, slowdown=1.0))
        told = overhead is None
        profile = self._watched(target, methods, known, failed, overhead=most, arguments=told)
        exceeds = bool(resting) and _exceeds(profile, seconds, most)
        if exceeds and (counted := _counted(known, profile)) is not known:
            profile = self._watched(target, methods, counted, failed, overhead=most, arguments=told)
        if resting and _exceeds(profile, seconds, most):
            note = (
                f"{_named(profile.tool)} made a trial {profile.seconds / seconds - 1.0:.0%} longer, more"
                f" than the {most:.0%} that were asked for."
            )
            profile = replace(profile, notes=(*profile.notes, note))
        return replace(profile, unprofiled=seconds if resting else nan)

    def _watched(
        self,
        target: Target,
        methods: Sequence[Method],
        known: Profile,
        failed: Launched | None,
        *,
        overhead: float,
        arguments: bool,
    ) -> Profile:
        """One trial under a tool of the runtime; none, if one without it failed."""
        ways = self._ways(known, overhead, arguments)
        if failed is not None:
            first = next((way for way in ways if not way.missing(target)), ways[0])
            notes = (*first.missing(target), failed.ended.reason("The trial without a profiler"))
            return Profile(first.tool, failed.outcome, known.seconds, notes=notes)
        tried: list[Profile] = []
        lacking: list[str] = []
        for way in ways:
            # A program may not stand one way of being watched (it looks at its environment), but another.
            if tried and tried[-1].outcome not in ("exit", "signal"):
                break
            if missing := way.missing(target):
                lacking += missing if tried or not lacking else ()
            elif isinstance(way, Uftrace | FridaWatcher):
                tried.append(_traced(way, target, methods, known, overhead=overhead))
            else:
                tried.append(way.profile(target, methods))
        if not tried:
            return Profile(ways[0].tool, "not-started", known.seconds, notes=tuple(lacking))
        before = [note for one in tried[:-1] for note in one.notes]
        return replace(tried[-1], notes=(*before, *tried[-1].notes, *lacking))

    def _ways(
        self, known: Profile, overhead: float, arguments: bool
    ) -> Sequence[Uftrace | FridaWatcher | PythonFine | NodeWatcher | JvmWatcher | JvmTimer]:
        """The runtime's tools, the first choice first."""
        if self._runtime == "native":
            return self._tracers[arguments]
        return AGENTS[self._runtime](known, overhead, arguments)


def _traced(
    tracer: Uftrace | FridaWatcher,
    target: Target,
    methods: Sequence[Method],
    known: Profile,
    *,
    overhead: float,
) -> Profile:
    with suppress(OSError):  # tried again with the profile, which says why
        tracer.bias(target)
    cost = tracer.tool.seconds_per_call or SECONDS_PER_CALL  # 0: it could not be calibrated
    kept, left = affordable(methods, known, seconds_per_call=cost, overhead=overhead)
    profile = tracer.profile(target, kept)
    return replace(profile, notes=(*left, *profile.notes))


def _exceeds(profile: Profile, plain: float, overhead: float) -> bool:
    return profile.outcome == "ok" and profile.seconds > plain * (1.0 + overhead) > 0


def _counted(known: Profile, watched: Profile) -> Profile:
    """The coarse profile with the calls that it could not count and the fine one saw; itself without any."""
    calls = Counter[Method]()
    for series in watched.series:
        if known.methods.get(series.method, _UNCOUNTED).calls is None:
            calls[series.method] += series.calls
    if not calls:
        return known
    return replace(
        known, methods={**known.methods, **{m: MethodCost(0.0, calls=n) for m, n in calls.items()}}
    )


_UNCOUNTED = MethodCost(0.0)


def _named(tool: Tool) -> str:
    """As the beginning of a sentence."""
    return tool.name[:1].upper() + tool.name[1:]
