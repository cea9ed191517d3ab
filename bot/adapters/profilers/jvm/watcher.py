"""Fine profiles of JVM programs: an agent puts clocks around chosen methods as their classes are loaded."""

from __future__ import annotations

from collections.abc import Sequence

from bot.adapters.profilers.affordable import OVERHEAD
from bot.adapters.profilers.call_budget import CallCosts, planned
from bot.adapters.profilers.jvm import toolchain
from bot.adapters.profilers.jvm.agent import timed
from bot.adapters.profilers.watched import explained
from bot.model.profiles import Method, Profile, Target, Tool

SECONDS_PER_CALL, WITH_ARGUMENTS = 100e-9, 400e-9
"""As measured on one machine; each run measures its own."""
COUNTED = 20e-9
"""Of a call of a sampled method that is not timed, as measured on one machine."""
MOST_METHODS = 32_000
"""Their numbers are 16-bit constants in the woven code."""


class JvmWatcher:
    """Times calls of chosen methods; constructors are counted only.

    coarse: how often they are called; of those that would cost more than `overhead` (a share of the trial)
    only some are timed, or none. arguments: with a summary of what each call was given.
    """

    def __init__(
        self, coarse: Profile | None = None, *, overhead: float = OVERHEAD, arguments: bool = False
    ) -> None:
        self._coarse, self._overhead, self._arguments = coarse, overhead, arguments
        self._cost = WITH_ARGUMENTS if arguments else SECONDS_PER_CALL

    @property
    def tool(self) -> Tool:
        """What it is, costs and cannot see."""
        return Tool(
            name="Java agent",
            version="",
            grain="fine",
            quantities=frozenset(
                {"calls", "seconds", "edges", "durations", "arguments"}
                if self._arguments
                else {"calls", "seconds", "edges", "durations"}
            ),
            slowdown=1.05,
            seconds_per_call=self._cost,
            sampled=True,
            blind=(
                "Of methods that are called often only some calls are timed: there they are no callers, and "
                "the own times of their callers contain them.",
                "Constructors and static initialisers are counted, not timed.",
                "A watched method has a second frame on the stack and a private twin: code can see them.",
                "Durations are elapsed time: waiting is in them.",
            ),
        )

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not."""
        return toolchain.what_is_missing(target)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """One trial in which the calls of these methods are timed."""
        javac = toolchain.compiler(target)
        if javac is None:
            return Profile(self.tool, "not-started", 0.0, notes=tuple(self.missing(target)))
        costs = CallCosts(self._cost, COUNTED)
        plan = planned(methods, self._coarse, costs=costs, overhead=self._overhead)
        watched = [m for m in plan.every if m.name.isprintable()][:MOST_METHODS]
        try:
            chosen = {m.name: plan.every[m] for m in watched}
            trial = timed(target, toolchain.agent_jar(javac), chosen, arguments=self._arguments)
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No profile: {error.strerror or error}",))
        notes = [*plan.notes(self._overhead), *trial.notes]
        launched = trial.launched
        if launched.outcome != "ok":
            notes.append(launched.ended.reason("The profiled trial"))
        if len(watched) < len(plan.every):
            notes.append(
                f"{len(plan.every) - len(watched)} methods were too many, or have no names for a list."
            )
        profile = Profile(self.tool, launched.outcome, launched.cpu, notes=tuple(notes))
        clocked = {n: not m.name.endswith(("<init>", "<clinit>")) for n, m in enumerate(watched)}
        return explained(profile, trial.reports, watched, clocked, every=plan.every)
