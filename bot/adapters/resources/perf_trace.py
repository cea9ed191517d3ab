"""System calls of one trial, as perf sees them in the kernel: no process is stopped for it."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from bot.adapters.builds import checkout
from bot.adapters.processes.process import PATH
from bot.adapters.processes.tool_versions import version_of
from bot.adapters.profilers.evidence import folder_for
from bot.adapters.profilers.launching import pour
from bot.adapters.resources.around import around, ending
from bot.adapters.resources.call_classes import ToldCalls
from bot.adapters.resources.call_events import count_events, kept_ends
from bot.adapters.resources.call_numbers import names_of
from bot.adapters.resources.perf_recording import MOST_BYTES, Recording
from bot.adapters.resources.streaming import stream
from bot.model.profiles import Target
from bot.model.resources import Counted

SLOWDOWN = 10.0
"""A call takes a microsecond more: up to here a trial may be lengthened. Arbitrary."""
MISSING = "`perf` is not installed"

_GATED = 'read -r _ <"$1" || exit 125; shift; exec "$@"'
_FIELDS = ("-F", "pid,tid,event,trace", "--show-task-events", "--show-lost-events")


class PerfTrace:
    """What `perf trace record` records: perf runs as root beside the trial, whose program waits for it.

    Only numbers are read of what it recorded: names of files and threads, which a program chooses, would
    make lines that look like calls. perf: its name on the PATH of trials, or its place.
    """

    def __init__(self, perf: str = "perf") -> None:
        self._perf = shutil.which(perf, path=PATH)
        self._names = names_of(platform.machine())

    @cached_property
    def tool(self) -> str:
        """Name and version of the perf on this machine."""
        assert self._perf is not None
        return f"perf trace {version_of(self._perf)}"

    def missing(self, target: Target) -> Sequence[str]:
        """Whether perf is there, and leave to record calls, which is tried with the target's account."""
        if self._perf is None:
            return (MISSING,)
        if os.geteuid() != 0:
            return ("`perf trace` needs root",)
        if not self._names:
            return (f"the numbers of system calls on {platform.machine()} are not known",)
        try:
            tried = self.trace(replace(target, words=("true",), stdin=None, ok_exit=(0,)))
        except OSError as error:
            return (f"`perf trace` cannot be tried ({error})",)
        return () if tried.ok else (f"perf may not record system calls here ({' '.join(tried.notes)})",)

    def trace(self, target: Target) -> Counted:
        """The calls from the program's own start on.

        Raises:
            OSError: its folders could not be made ready.
        """
        if self._perf is None:
            return Counted("calls", "not-started", notes=(f"{MISSING}.",))
        folder = folder_for(target, "calls")
        try:
            # Beside the folder in which the program may write, it cannot put another one in its place.
            beside = target.scratch.parent
            with tempfile.TemporaryDirectory(prefix="perf-", dir=beside) as private:
                gate, data = folder / "gate", Path(private, "data")
                os.mkfifo(gate, 0o600)
                checkout.give(gate, target.account)
                words = ["sh", "-c", _GATED, "sh", str(gate), *target.words]
                with Recording(self._perf, gate, data, ends=kept_ends(self._names)) as recording:
                    launched = around(target, words, slowdown=SLOWDOWN)
                large = not recording.error and data.stat().st_size >= MOST_BYTES
                if large or recording.error:
                    much = "its recording grew too large: the program calls too often"
                    return self._nothing(much if large else recording.error)
                try:
                    told, read = self._read(data, folder / "events", recording.first, target)
                except OSError as error:
                    return self._nothing(f"its recording could not be read ({error})")
        finally:
            checkout.remove(folder)
        events = told.calls
        if not events.counts:
            ran = launched.outcome == "ok"
            return self._nothing("the kernel shows none" if ran else "the program could not be started")
        if told.lost:
            return self._nothing(f"{told.lost:,} events were lost: the program calls too often")
        details = {count: dict(names.most_common()) for count, names in events.details.items()}
        return Counted(
            "calls",
            launched.outcome if read else "cut",
            events.counts,
            details=details,
            tool=self.tool,
            notes=ending(launched, "perf trace"),
        )

    def _read(self, data: Path, pipe: Path, first: int, target: Target) -> tuple[ToldCalls, bool]:
        """What was recorded, and whether that was read to its end; perf reads as the account, too.

        Raises:
            OSError: it cannot be read.
        """
        assert self._perf is not None
        data.parent.chmod(0o755)
        checkout.give(data, target.account)
        words = [self._perf, "script", "--input", str(data), *_FIELDS]
        with stream(pipe, target, count_events, self._names, first) as events:
            ended = pour(target, words, pipe, data)
        return events.answer(target.stop), ended.outcome == "ok"

    def _nothing(self, why: str) -> Counted:
        return Counted("calls", "not-started", tool=self.tool, notes=(f"perf saw no system calls: {why}.",))
