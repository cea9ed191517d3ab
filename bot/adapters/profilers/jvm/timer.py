"""Fine profiles of JVM programs without an agent: the method timing of JDK 25, constructors included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from xml.sax.saxutils import escape

from bot.adapters.profilers.affordable import OVERHEAD, affordable
from bot.adapters.profilers.jvm import toolchain
from bot.adapters.profilers.jvm.recording import recorded_trial
from bot.adapters.profilers.reports import clean_name
from bot.model.profiles import CallSeries, Method, MethodCost, Profile, Target, Tool

OLDEST = 25
SECONDS_PER_CALL = 50e-9
"""As measured on one machine; the JVM does not tell its own."""
_EVENTS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0" label="Suspects" description="Times of methods" provider="Suspects">
  <event name="jdk.MethodTiming">
    <setting name="enabled">true</setting><setting name="period">endChunk</setting>
    <setting name="filter">{}</setting>
  </event>
</configuration>
"""


class JvmTimer:
    """Calls and total time of chosen methods, by the JVM itself; no single durations, no callers.

    coarse: how often they are called; those that would cost more than `overhead` are left out (a share
    of the trial).
    """

    def __init__(self, coarse: Profile | None = None, *, overhead: float = OVERHEAD) -> None:
        self._coarse, self._overhead = coarse, overhead

    @property
    def tool(self) -> Tool:
        """What it is, costs and cannot see."""
        return Tool(
            name="Java method timing",
            version="",
            grain="fine",
            quantities=frozenset({"calls", "seconds"}),
            slowdown=1.1,
            seconds_per_call=SECONDS_PER_CALL,
            blind=(
                "Times are with callees, and a recursion counts each of its calls.",
                "Durations are elapsed time: waiting is in them.",
                "Methods of classes that are named like a package or numbered (local classes) are not found.",
            ),
        )

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not."""
        return toolchain.what_is_missing(target, oldest=OLDEST)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One trial in which the JVM times these methods."""
        javac = toolchain.compiler(target)
        if javac is None:
            return Profile(self.tool, "not-started", 0.0, notes=tuple(self.missing(target)))
        methods, left = affordable(
            methods, self._coarse, seconds_per_call=SECONDS_PER_CALL, overhead=self._overhead
        )
        watched = {m.name: m for m in methods if m.name.isprintable() and not set(m.name) & set("; @")}
        filters = ";".join(one for name in watched for one in _filters(name))
        try:
            launched, recorded = recorded_trial(target, _EVENTS.format(escape(filters)), javac=javac)
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No profile: {error.strerror or error}",))
        profile = Profile(self.tool, launched.outcome, launched.cpu, notes=(*left, *recorded.notes))
        timed = {
            watched[clean_name(n)]: sums for n, sums in recorded.timed.items() if clean_name(n) in watched
        }
        if unseen := len(methods) - len(timed):
            note = f"{unseen} watched methods were never called, or not found by the JVM."
            profile = replace(profile, notes=(*profile.notes, note))
        seen = sum(nanoseconds for _, nanoseconds in timed.values()) or 1
        costs = {
            method: MethodCost(self_share=nanoseconds / seen, total_seconds=nanoseconds / 1e9, calls=calls)
            for method, (calls, nanoseconds) in timed.items()
        }
        series = [
            CallSeries.summed(method, (), calls, nanoseconds / 1e9)
            for method, (calls, nanoseconds) in timed.items()
            if calls
        ]
        return replace(profile, methods=costs, series=series)


def _filters(name: str) -> list[str]:
    """The ways in which the JVM may know a method: its name hides where nested classes begin."""
    *parts, method = name.split(".")
    splits = range(1, len(parts) + 1)
    return [f"{'.'.join(parts[:i])}{''.join(f'${part}' for part in parts[i:])}::{method}" for i in splits]
