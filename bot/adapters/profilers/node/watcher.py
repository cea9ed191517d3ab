"""Fine profiles of Node programs: clocks inserted into chosen functions as their files are loaded."""

from __future__ import annotations

from collections.abc import Sequence

from bot.adapters.profilers.affordable import OVERHEAD, affordable
from bot.adapters.profilers.call_series import MOST_KEPT
from bot.adapters.profilers.node import preloading
from bot.adapters.profilers.node.clocks import clocks_for
from bot.adapters.profilers.node.preloading import HERE
from bot.adapters.profilers.watched import explained, tell_watched
from bot.model.profiles import Method, Profile, Target, Tool

MOST_SLOWDOWN = 5.0
SECONDS_PER_CALL = 250e-9
"""As measured on one machine; each run measures its own."""


class NodeWatcher:
    """Times each call of chosen functions.

    coarse: how often they are called; those that would cost more than `overhead` are left out (a share
    of the trial). arguments: with a summary of what each call was given.
    """

    def __init__(
        self, coarse: Profile | None = None, *, overhead: float = OVERHEAD, arguments: bool = False
    ) -> None:
        self._coarse, self._overhead, self._arguments = coarse, overhead, arguments

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
        methods, left = affordable(
            methods, self._coarse, seconds_per_call=self.tool.seconds_per_call, overhead=self._overhead
        )
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
                target,
                "watcher.cjs",
                settings,
                tell_watched,
                len(methods),
                False,
                extra=extra,
                slowdown=MOST_SLOWDOWN,
            )
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No profile: {error.strerror or error}.",))
        launched = hooked.launched
        notes = [*left, *clocks.notes, *hooked.notes]
        if launched.outcome != "ok":
            notes.append(launched.ended.reason("The profiled trial"))
        profile = Profile(self.tool, launched.outcome, launched.cpu, notes=tuple(notes))
        return explained(profile, hooked.reports, methods, clocks.timed)
