"""Runs trials at built sites under the coarse and the fine profiler of the program's runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

from bot.adapters.profilers import sources
from bot.adapters.profilers.fine import FineProfiler
from bot.adapters.profilers.jvm.sampler import JvmSampler
from bot.adapters.profilers.native.coarse import Coarse
from bot.adapters.profilers.node.sampler import NodeSampler
from bot.adapters.profilers.python.coarse import PythonCoarse
from bot.adapters.trials.site_targets import SiteTargets, unready
from bot.model.errors import UsageError
from bot.model.profiles import Method, Profile, Target
from bot.model.space import Configuration
from bot.model.trials import Side

COARSE: Mapping[str, Callable[[], Coarse | PythonCoarse | NodeSampler | JvmSampler]] = {
    "native": Coarse,
    "python": PythonCoarse,
    "node": NodeSampler,
    "jvm": JvmSampler,
}
"""By the program's runtime."""
CANNOT = "Methods could not be profiled"


class SiteProfiler:
    """Fits the port `ProfileBench`."""

    def __init__(self, targets: SiteTargets) -> None:
        self._targets = targets
        self._profiler = COARSE[targets.program.runtime]()
        self._fine = FineProfiler(targets.program.runtime, overhead=targets.subject.overhead)

    def missing(self) -> Sequence[str]:
        """What the profiler lacks for the program, as its default configuration is started at head."""
        try:
            with self._targets.target("head", self._targets.subject.space.default) as target:
                return self._profiler.missing(target)
        except (OSError, UsageError) as error:
            return (unready(CANNOT, error),)

    def profile(self, side: Side, configuration: Configuration, *, seconds: float = inf) -> Profile:
        """One coarse profile; `cut` when the seconds are over or a signal came."""
        return self._run(side, configuration, self._profiler.profile, seconds=seconds)

    def watch(
        self,
        side: Side,
        configuration: Configuration,
        methods: Sequence[Method],
        coarse: Profile,
        *,
        seconds: float = inf,
        overhead: float | None = None,
        rests: int = 1,
    ) -> Profile:
        """One fine profile of these methods, beside trials without a profiler; `cut` as `profile`."""

        def make(target: Target) -> Profile:
            return self._fine.watch(target, methods, coarse, overhead=overhead, rests=rests)

        return self._run(side, configuration, make, seconds=seconds)

    def _run(
        self,
        side: Side,
        configuration: Configuration,
        make: Callable[[Target], Profile],
        *,
        seconds: float,
    ) -> Profile:
        try:
            with self._targets.target(side, configuration, seconds=seconds) as target:
                profile = make(target)
                over = target.over
        except (OSError, UsageError) as error:
            return Profile(self._profiler.tool, "not-started", 0.0, notes=(unready(CANNOT, error),))
        # Whatever was stopped, be it a reader of what the program left, what is there may be half of it, and
        # what it lacks is no finding about the program.
        return replace(profile, outcome="cut", notes=()) if over else profile

    def bodies(self, side: Side, methods: Iterable[Method]) -> Mapping[Method, str]:
        """Source texts, from the side's checkout."""
        return sources.bodies_at(self._targets.sites[side], methods)
