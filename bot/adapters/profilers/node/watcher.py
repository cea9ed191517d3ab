"""Fine profiles of Node programs: clocks inserted into chosen functions as their files are loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.adapters.profilers.call_series import MOST_KEPT, merged, trusted
from bot.adapters.profilers.node import preloading
from bot.adapters.profilers.node.clocks import Clocks, clocks_for
from bot.adapters.profilers.node.preloading import HERE
from bot.adapters.profilers.node.watched import WatchedReport, contexts, costs, edges, validated
from bot.adapters.profilers.reports import clean_name
from bot.model.profiles import Method, Profile, Target, Tool

MOST_SLOWDOWN = 5.0
SECONDS_PER_CALL = 250e-9
"""As measured on one machine; each run measures its own."""


class NodeWatcher:
    """Times each call of chosen functions. `arguments`: with a summary of what it was given."""

    def __init__(self, *, arguments: bool = False) -> None:
        self._arguments = arguments

    @property
    def tool(self) -> Tool:
        """What it is, costs and cannot see."""
        return Tool(
            name="inserted clocks",
            version="",
            grain="fine",
            quantities=frozenset(
                {"calls", "seconds", "edges", "durations", "arguments"}
                if self._arguments
                else {"calls", "seconds", "edges", "durations"}
            ),
            slowdown=1.05,
            seconds_per_call=SECONDS_PER_CALL * (4 if self._arguments else 1),
            blind=(
                "Of an async function or a generator only the time in which it runs itself is counted, not "
                "the time in which it waits or another generator runs for it.",
                "Code that reads its own source text sees the clocks; V8 inlines watched functions less.",
                "Files that are translated on the way, and functions made at run time, are not watched.",
            ),
        )

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not."""
        return preloading.what_is_missing(target)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One trial in which the calls of these methods are timed."""
        try:
            clocks = clocks_for(target, methods, summaries=self._arguments)
            settings = {
                "methods": len(methods),
                "kept": MOST_KEPT,
                "summaries": self._arguments,
                "modules": any(plan.module for plan in clocks.files.values()),
                "files": {
                    path: plan.model_dump(include={"hash", "insertions"})
                    for path, plan in clocks.files.items()
                },
            }
            extra = [HERE / name for name in ("recorder.cjs", "loading.cjs", "loader.mjs")]
            hooked = preloading.run_hooked(
                target, "watcher.cjs", settings, extra=extra, slowdown=MOST_SLOWDOWN
            )
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No profile: {error.strerror}.",))
        launched = hooked.launched
        reports, damaged = validated(hooked.reports.contents.values(), len(methods))
        notes = [*clocks.notes, *hooked.notes, *damaged]
        if launched.outcome != "ok":
            notes.append(launched.ended.reason("The profiled trial"))
        profile = Profile(self.tool, launched.outcome, launched.cpu, notes=tuple(notes))
        return _explained(profile, reports, methods, clocks) if reports else profile


def _explained(
    profile: Profile, reports: Sequence[WatchedReport], methods: Sequence[Method], clocks: Clocks
) -> Profile:
    """Sums the threads up, and drops what the tool's own time blurs."""
    parts = [part for report in reports for part in contexts(report, methods)]
    bias = max(report.bias for report in reports) / 1e9
    series, notes = trusted(merged(parts), bias)
    known = costs(reports, methods, clocks.timed)
    calls = sum(cost.calls or 0 for cost in known.values())
    own = sum(r.cost / 1e9 * sum(s.calls for s in r.series) for r in reports)
    if calls and profile.seconds > 0:
        notes.append(
            f"{calls} watched calls cost {own / calls * 1e9:.0f} ns each: "
            f"{own / profile.seconds:.1%} of the trial."
        )
    uncalled = [methods[n].name for n in sorted(clocks.timed) if not known[methods[n]].calls]
    if uncalled:
        notes.append(
            f"{len(uncalled)} watched methods were never called, or their files are not what ran "
            f"(first: {uncalled[0]})."
        )
    if left := sum(report.left for report in reports):
        notes.append(f"{left} calls came from more contexts than are kept: their callers are not told apart.")
    return replace(
        profile,
        tool=replace(
            profile.tool,
            version=clean_name(reports[0].node),
            seconds_per_call=max(report.cost for report in reports) / 1e9,
        ),
        methods=known,
        edges=edges(parts),
        series=tuple(series),
        notes=(*profile.notes, *notes),
    )
