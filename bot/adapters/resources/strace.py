"""System calls of one trial, while strace follows all of its processes and threads."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import inf

from bot.adapters.builds import checkout
from bot.adapters.processes.process import PATH
from bot.adapters.processes.tool_versions import version_of
from bot.adapters.profilers.evidence import folder_for
from bot.adapters.profilers.launching import launch
from bot.adapters.resources.around import around, ending
from bot.adapters.resources.call_classes import ToldCalls
from bot.adapters.resources.call_lines import count_lines
from bot.adapters.resources.streaming import Stream, stream
from bot.model.profiles import Target
from bot.model.resources import Counted

SLOWDOWN = 40.0
"""A call takes some 50 microseconds more: up to here a trial may be lengthened. Arbitrary."""
MISSING = "`strace` is not installed"
GRACE_SECONDS = 1.0
"""For what outlives the program, as in a trial where it is killed at once; the tracer is slower."""
_OPTIONS = ("-f", "-q", "--decode-fds=path,socket", "-s", "0", "-e", "signal=none")


class Strace:
    """What strace tells goes through a pipe of ours: nothing is stored, however much it is.

    strace: its name on the PATH of trials, or its place.
    """

    def __init__(self, strace: str = "strace") -> None:
        self._strace = shutil.which(strace, path=PATH)

    @cached_property
    def tool(self) -> str:
        """Name and version of the strace on this machine."""
        assert self._strace is not None
        return f"strace {version_of(self._strace)}"

    def missing(self, target: Target) -> Sequence[str]:
        """Whether strace is there, or leave to trace, which is tried as the target's account."""
        if self._strace is None:
            return (MISSING,)
        tried = launch(target, [self._strace, "-f", "-qq", "-o", "/dev/null", "true"])
        if tried.ended.outcome == "ok":
            return ()
        said = tried.ended.log.strip().partition("\n")[0]
        return (f"strace may not trace trials here ({said[-200:] or tried.ended.outcome})",)

    def trace(self, target: Target) -> Counted:
        """The calls from the program's own start on.

        Raises:
            OSError: its folders could not be made ready.
        """
        if self._strace is None:
            return Counted("calls", "not-started", notes=(f"{MISSING}.",))
        folder = folder_for(target, "calls")
        pipe = folder / "pipe"
        try:
            with stream(pipe, target, count_lines) as lines:
                words = [self._strace, *_OPTIONS, "-o", str(pipe), *target.words]
                launched = around(_until_ended(target, lines), words, slowdown=SLOWDOWN)
            told = lines.answer(target.stop)
        except OSError as error:
            return Counted("calls", "not-started", tool=self.tool, notes=(f"No system calls: {error}.",))
        finally:
            checkout.remove(folder)
        outcome, notes = launched.outcome, ending(launched, "strace")
        if outcome == "cut" and told.ended:
            outcome = "ok" if told.exit_code in target.ok_exit else "exit"
            notes = ("It left processes running, which strace waits for: they were killed.",)
        calls = told.calls
        if not calls.counts:
            notes = (*notes, "strace saw no system call: the program could not be started or traced.")
            return Counted("calls", "not-started", tool=self.tool, notes=notes)
        details = {count: dict(names.most_common()) for count, names in calls.details.items()}
        return Counted("calls", outcome, calls.counts, details=details, tool=self.tool, notes=notes)


def _until_ended(target: Target, lines: Stream[ToldCalls]) -> Target:
    """The target, stopped soon after its first process has ended."""
    since = inf

    def stop() -> bool:
        nonlocal since
        if since == inf and lines.told:
            since = time.monotonic()
        return time.monotonic() > since + GRACE_SECONDS or target.over

    return replace(target, stop=stop)
