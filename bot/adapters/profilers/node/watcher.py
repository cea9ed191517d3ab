"""Fine profiles of Node programs: clocks inserted into chosen functions as their files are loaded."""

from __future__ import annotations

from collections.abc import Sequence

from bot.adapters.profilers.affordable import OVERHEAD
from bot.adapters.profilers.call_budget import CallCosts, planned
from bot.adapters.profilers.call_series import MOST_KEPT
from bot.adapters.profilers.node import preloading
from bot.adapters.profilers.node.clocks import clocks_for
from bot.adapters.profilers.node.preloading import HERE
from bot.adapters.profilers.watched import explained, tell_watched
from bot.model.profiles import Method, Profile, Target, Tool

MOST_SLOWDOWN = 5.0
SECONDS_PER_CALL = 250e-9
"""As measured on one machine; each run measures its own."""
COUNTED = 12e-9
"""Of a call of a sampled method that is not timed, as measured on one machine."""


class NodeWatcher:
    """Times calls of chosen functions.

    coarse: how often they are called; of those that would cost more than `overhead` (a share of the trial)
    only some are timed, or none. arguments: with a summary of what each call was given.
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
            sampled=True,
            blind=(
                "Of methods that are called often only some calls are timed: there they are no callers, and "
                "the own times of their callers contain them.",
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
        costs = CallCosts(self.tool.seconds_per_call, COUNTED)
        plan = planned(methods, self._coarse, costs=costs, overhead=self._overhead)
        methods = tuple(plan.every)
        try:
            clocks = clocks_for(target, methods, summaries=self._arguments)
            settings = {
                "every": list(plan.every.values()),
                "kept": MOST_KEPT,
                "summaries": self._arguments,
                "modules": any(file.module for file in clocks.files.values()),
                "files": {
                    path: file.model_dump(include={"hash", "insertions"})
                    for path, file in clocks.files.items()
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
        notes = [*plan.notes(self._overhead), *clocks.notes, *hooked.notes]
        if launched.outcome != "ok":
            notes.append(launched.ended.reason("The profiled trial"))
        profile = Profile(self.tool, launched.outcome, launched.cpu, notes=tuple(notes))
        return explained(profile, hooked.reports, methods, clocks.timed, every=plan.every)
