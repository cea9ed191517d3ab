"""The fine profiler of each runtime, on as many of the chosen methods as the overhead allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bot.adapters.profilers.affordable import OVERHEAD, affordable
from bot.adapters.profilers.jvm.watcher import JvmWatcher
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.native.uftrace import SECONDS_PER_CALL, Uftrace
from bot.adapters.profilers.node.watcher import NodeWatcher
from bot.adapters.profilers.python.fine import PythonFine
from bot.model.profiles import Method, MethodCost, Profile, Target, Tool

AGENTS: Mapping[str, Callable[[Profile, float], PythonFine | NodeWatcher | JvmWatcher]] = {
    "python": lambda coarse, overhead: PythonFine(coarse, overhead=overhead),
    "node": lambda coarse, overhead: NodeWatcher(coarse, overhead=overhead, arguments=True),
    "jvm": lambda coarse, overhead: JvmWatcher(coarse, overhead=overhead),
}
"""Tools inside of the program, by runtime; they know themselves what they can afford."""


class FineProfiler:
    """Watches chosen methods, with summaries of arguments where the tool can.

    overhead: the share of a trial's CPU seconds that watching should add at most.
    """

    def __init__(self, runtime: str, *, overhead: float = OVERHEAD) -> None:
        self._runtime, self._overhead = runtime, overhead
        self._uftrace = Uftrace(arguments=True)  # it calibrates itself once

    def watch(self, target: Target, methods: Sequence[Method], coarse: Profile) -> Profile:
        """A trial without a profiler, to compare with, and one in which the methods are watched.

        coarse: the same configuration's, which tells how often methods are called. Where it could not count
        calls and watching takes too long, the calls that were seen decide what is watched in another trial.

        Raises:
            OSError: the trial cannot be started here.
        """
        plain = launch(target, target.words)
        known = replace(coarse, seconds=plain.cpu, tool=replace(coarse.tool, slowdown=1.0))
        profile = self._watched(target, methods, known, plain)
        if self._exceeds(profile, plain.cpu) and (counted := _counted(known, profile)) is not known:
            profile = self._watched(target, methods, counted, plain)
        if self._exceeds(profile, plain.cpu):
            told = (
                f"{_named(profile.tool)} made a trial {profile.seconds / plain.cpu - 1.0:.0%} longer, more"
                f" than the {self._overhead:.0%} that were asked for."
            )
            profile = replace(profile, notes=(*profile.notes, told))
        return replace(profile, unprofiled=plain.cpu)

    def _watched(self, target: Target, methods: Sequence[Method], known: Profile, plain: Launched) -> Profile:
        """One trial under the runtime's tool."""
        agent = None if self._runtime == "native" else AGENTS[self._runtime](known, self._overhead)
        tool = self._uftrace if agent is None else agent
        lacking = tool.missing(target)
        if plain.outcome != "ok":
            lacking = (*lacking, plain.ended.reason("The trial without a profiler"))
        if lacking:
            outcome = "not-started" if plain.outcome == "ok" else plain.outcome
            return Profile(tool.tool, outcome, plain.cpu, notes=tuple(lacking))
        return self._traced(target, methods, known) if agent is None else agent.profile(target, methods)

    def _traced(self, target: Target, methods: Sequence[Method], known: Profile) -> Profile:
        self._uftrace.bias(target)
        cost = self._uftrace.tool.seconds_per_call or SECONDS_PER_CALL  # 0: it could not be calibrated
        kept, left = affordable(methods, known, seconds_per_call=cost, overhead=self._overhead)
        profile = self._uftrace.profile(target, kept)
        return replace(profile, notes=(*left, *profile.notes))

    def _exceeds(self, profile: Profile, plain: float) -> bool:
        return profile.outcome == "ok" and profile.seconds > plain * (1.0 + self._overhead) > 0


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
