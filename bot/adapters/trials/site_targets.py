"""Targets of tools: a configuration's trial at a built site, as it would run without a tool."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from pathlib import Path

from bot.adapters.builds import checkout
from bot.adapters.processes.readable import files_of
from bot.adapters.trials.starting import Place, Starter
from bot.model.errors import UsageError
from bot.model.invocation import invocation
from bot.model.profiles import Target
from bot.model.sites import Site
from bot.model.space import Configuration
from bot.model.subject import Program, Subject
from bot.model.trials import Side

SLOT = 0
"""Tools run one at a time."""


class SiteTargets:
    """scratch: a folder that the accounts can enter. stop: a signal came."""

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
        self.subject, self.program, self.sites = subject, subject.program, sites
        self._scratch, self._stop = scratch, stop
        self._boxed = subject.sandbox != "off"
        self._starter = Starter(subject, pass_env=pass_env or {}, place=place)

    @contextmanager
    def target(self, side: Side, configuration: Configuration, *, seconds: float = inf) -> Iterator[Target]:
        """The configuration's trial, with a scratch folder that goes with it.

        Raises:
            OSError: its folders could not be made ready.
            UsageError: a template fails for this configuration, or the program is a server.
        """
        if self.program.server is not None:
            raise UsageError("trials of a server (`program.server`) are not looked into yet")
        site = self.sites[side]
        until = time.monotonic() + seconds
        # Of one name: what a program does with it must not differ between trials. Tools run one at a time.
        scratch = self._scratch / "tool"
        checkout.remove(scratch)
        scratch.mkdir()
        try:
            scratch.chmod(0o755)
            checkout.give(scratch, site.account)
            command = invocation(self.subject, configuration)
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
                timeout=self.program.timeout,
                ok_exit=self.program.ok_exit,
                stop=lambda: self._stop() or time.monotonic() > until,
                fresh=fresh,
                seconds=seconds,
                one_core=not self.program.parallel,
                read=files_of(site, start.cwd, start.stdin) if self._boxed else None,
                write=tuple(map(Path, self.program.writable)),
            )
        finally:
            checkout.remove(scratch)


def unready(what: str, error: OSError | UsageError) -> str:
    """A sentence for the report: why there is no target, and so not what was wanted."""
    said = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"{what}: {said.rstrip('.')}."
