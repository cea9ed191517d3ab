"""Runs trials at built sites under the coarse and the fine profiler of the program's runtime."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path

from bot.adapters import checkout
from bot.adapters.profilers import sources
from bot.adapters.profilers.fine import FineProfiler
from bot.adapters.profilers.jvm.sampler import JvmSampler
from bot.adapters.profilers.native.coarse import Coarse
from bot.adapters.profilers.node.sampler import NodeSampler
from bot.adapters.profilers.python.coarse import PythonCoarse
from bot.adapters.starting import Place, Starter
from bot.model.errors import UsageError
from bot.model.invocation import invocation
from bot.model.profiles import Method, Profile, Target
from bot.model.sites import Site
from bot.model.space import Configuration
from bot.model.subject import Program, Subject
from bot.model.trials import Side

COARSE: Mapping[str, Callable[[], Coarse | PythonCoarse | NodeSampler | JvmSampler]] = {
    "native": Coarse,
    "python": PythonCoarse,
    "node": NodeSampler,
    "jvm": JvmSampler,
}
"""By the program's runtime."""
SLOT = 0
"""Profiles run one at a time."""


class SiteProfiler:
    """Fits the port `ProfileBench`. scratch: a folder that the accounts can enter. stop: a signal came."""

    def __init__(
        self,
        subject: Subject,
        sites: Mapping[Side, Site],
        *,
        scratch: Path,
        stop: Callable[[], bool],
        pass_env: Mapping[str, str] | None = None,
        place: Place | None = None,
    ) -> None:
        assert isinstance(subject.program, Program)
        self._subject, self._program, self._sites = subject, subject.program, sites
        self._scratch, self._stop = scratch, stop
        self._starter = Starter(subject, pass_env=pass_env or {}, place=place)
        self._profiler = COARSE[subject.program.runtime]()
        self._fine = FineProfiler(subject.program.runtime, overhead=subject.overhead)

    def missing(self) -> Sequence[str]:
        """What the profiler lacks for the program, as its default configuration is started at head."""
        try:
            with self._target("head", self._subject.space.default) as target:
                return self._profiler.missing(target)
        except (OSError, UsageError) as error:
            return (_cannot(error),)

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
            with self._target(side, configuration, seconds=seconds) as target:
                profile = make(target)
                over = target.stop is not None and target.stop()
        except (OSError, UsageError) as error:
            return Profile(self._profiler.tool, "not-started", 0.0, notes=(_cannot(error),))
        # Whatever was stopped, be it a reader of what the program left, what is there may be half of it.
        return replace(profile, outcome="cut") if over else profile

    def bodies(self, side: Side, methods: Iterable[Method]) -> Mapping[Method, str]:
        """Source texts, from the side's checkout."""
        return sources.bodies(self._sites[side].root, methods)

    @contextmanager
    def _target(self, side: Side, configuration: Configuration, *, seconds: float = inf) -> Iterator[Target]:
        """The configuration's trial, with a scratch folder that goes with it."""
        site = self._sites[side]
        until = time.monotonic() + seconds
        scratch = Path(tempfile.mkdtemp(prefix="profile-", dir=self._scratch))
        try:
            scratch.chmod(0o755)
            checkout.give(scratch, site.account)
            command = invocation(self._subject, configuration)
            fresh = scratch / "trial"
            start = self._starter.start(site, command, slot=SLOT, scratch=str(fresh))
            yield Target(
                words=start.words,
                env=start.env,
                root=start.cwd,
                cwd=start.cwd,
                scratch=scratch,
                stdin=start.stdin,
                account=site.account,
                timeout=self._program.timeout,
                ok_exit=self._program.ok_exit,
                stop=lambda: self._stop() or time.monotonic() > until,
                fresh=fresh,
                seconds=seconds,
                one_core=not self._program.parallel,
            )
        finally:
            checkout.remove(scratch)


def _cannot(error: Exception) -> str:
    said = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"Methods could not be profiled: {said.rstrip('.')}."
