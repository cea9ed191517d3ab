"""What a worker is asked for one trial: command, environment, account, limits, cores and time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from bot.adapters.processes.process import PATH
from bot.adapters.processes.readable import files_of, readable
from bot.adapters.trials.seats import Request, Slot
from bot.adapters.trials.starting import Place, Start, Starter
from bot.adapters.trials.valgrind import FOLLOWING, steadied
from bot.model.invocation import Invocation
from bot.model.sites import Site
from bot.model.subject import Program, Subject
from bot.model.trials import Track

DUET_FACTOR = 2.0
"""Two programs share a core: each may take twice its time limit."""
CALLGRIND_FACTOR = 60.0
"""Callgrind slows native programs about 10, interpreters up to 35 times."""
LIMITS = {"core": 0, "file_size": 4 << 30, "open_files": 65536}
PROCESSES = 4096
_COLLECTED = r"^==\d+== Collected : ([\d,]+)"


class RequestMaker:
    """Turns an invocation into what a worker understands (the keys are read in duet.py and child.py)."""

    def __init__(
        self,
        *,
        subject: Subject,
        pass_env: Mapping[str, str],
        place: Place | None,
    ) -> None:
        assert isinstance(subject.program, Program)
        self._program = subject.program
        self._boxed = subject.sandbox != "off"
        self._starter = Starter(subject, pass_env=pass_env, place=place)
        self.cores = sorted(os.sched_getaffinity(0))
        self.valgrind = shutil.which("valgrind", path=PATH)
        self._memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self._patterns = {m.name: (m.regex, "last") for m in subject.metrics if m.regex is not None}

    def make(
        self, slot: Slot, site: Site, command: Invocation, *, seat: int, track: Track
    ) -> dict[str, object]:
        """A trial at one site in one seat, alone and once; the bench adds number, deadline and company.

        Raises:
            OSError: the working directory could not be made ready.
        """
        scratch = slot.scratch[seat]
        start = self._starter.start(site, command, slot=slot.number, scratch=scratch)
        request: dict[str, object] = {
            "words": list(start.words),
            "env": dict(start.env),
            "cwd": str(start.cwd),
            "stdin": None if start.stdin is None else str(start.stdin),
            "scratch": scratch,
            "confine": {
                **self._confinement(site, [slot.core] if track == "duet" else self.cores),
                **self._files(site, start, scratch),
            },
            "patterns": self._patterns,
            "capture": bool(self._patterns),
            "ok_exit": self._program.ok_exit,
            "timeout": self._program.timeout,
            "rounds": 1,
            "partner": False,
            "first": True,
            "server": self._server(start),
        }
        return self._under_callgrind(request) if track == "instructions" else request

    def _server(self, start: Start) -> dict[str, object] | None:
        server = self._program.server
        if server is None:
            return None
        return {"start": start.start, "ready": start.ready, "measure": server.measure}

    def _files(self, site: Site, start: Start, scratch: str) -> Request:
        if not self._boxed:
            return {}
        ours = files_of(site, start.cwd, start.stdin)
        return {"write": [scratch, *self._program.writable], "read": readable(start.words, start.env, ours)}

    def _under_callgrind(self, request: Mapping[str, object]) -> dict[str, object]:
        words, env = request["words"], request["env"]
        assert isinstance(words, list) and isinstance(env, dict)
        tool = [
            str(self.valgrind),
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            *FOLLOWING,
        ]
        return {
            **request,
            "words": [*tool, *words],
            "env": {**env, **steadied(env)},
            "patterns": {"instructions": (_COLLECTED, "sum")},
            "capture": True,
            "timeout": self._program.timeout * CALLGRIND_FACTOR,
        }

    def _confinement(self, site: Site, cpus: list[int]) -> Request:
        limits = {**LIMITS, "memory": self._memory}
        if site.account is None:
            return {"uid": None, "gid": None, "limits": limits, "cpus": cpus}
        # A limit per user: only where the user is the trials' own.
        limits["processes"] = PROCESSES
        return {"uid": site.account.uid, "gid": site.account.gid, "limits": limits, "cpus": cpus}
