"""A trial of a server: it is started, waited for, put under its client's load, and stopped."""

# Runs in the forked child of a worker (child.py), confined already: standard library only, few imports. What
# the server and the client used is kept apart, so that either can be measured.

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import struct
import time

from bot.adapters.processes import confine, supervise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

POLL_SECONDS = 0.01
PATIENCE_SECONDS = 5.0
"""For a server to end after it was asked to."""
LOG_BYTES = 400
USAGE = struct.Struct("<dqqqqqqd")
"""CPU seconds, the counts of child.py, bytes of the largest resident size, wall seconds of the client."""
SAID, FAILED = b"S", b"F"
"""What a status begins with: `USAGE`, or why the trial failed."""


class ServerError(Exception):
    """The server did not come to serve."""


class Trial:
    """One server and one client. command: start, ready (or None), measure; log: where the server writes."""

    def __init__(self, command: Mapping[str, Any], env: Mapping[str, str], port: int, log: str) -> None:
        self._command, self._env, self._port, self._log = command, dict(env), port, log
        self._used: dict[str, list[Any]] = {"server": [], "client": []}
        self._roles: dict[int, str] = {}
        self._codes: dict[int, int] = {}

    def run(self, words: Sequence[str]) -> tuple[int, bytes]:
        """The client's exit code and the status to send."""
        confine.adopt_orphans()
        try:
            server = self._start()
            self._until_ready(server)
            began = time.monotonic()
            client = self._spawn([self._filled(word) for word in words], "client")
            while client not in self._codes:
                self._reap()
            wall = time.monotonic() - began
            self._stop()
        except ServerError as error:
            return 1, FAILED + str(error).encode()
        code = self._codes[client]
        return code if code >= 0 else 128 - code, SAID + self._usage(wall)

    def _filled(self, text: str) -> str:
        return text.replace("{port}", str(self._port))

    def _start(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        output = [(os.POSIX_SPAWN_OPEN, 1, self._log, flags, 0o600), (os.POSIX_SPAWN_DUP2, 1, 2)]
        return self._shell(self._command["start"], "server", output)

    def _until_ready(self, server: int) -> None:
        """Asks again and again, as long as the trial's own time limit lasts."""
        while not self._ready():
            code = self._codes.get(server)
            if code or (code == 0 and not supervise.descendants()):  # else it went into the background
                raise ServerError(f"the server ended with {_ending(code)} before it was ready{self._tail()}")
            time.sleep(POLL_SECONDS)
            self._reap(os.WNOHANG)

    def _ready(self) -> bool:
        if self._command["ready"] is None:
            with contextlib.suppress(OSError), socket.socket() as caller:
                # Not create_connection: that imports modules which this account may not be able to read.
                caller.connect(("127.0.0.1", self._port))
                return True
            return False
        silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        asking = self._shell(self._command["ready"], "asking", silent)
        while asking not in self._codes:
            self._reap()
        return self._codes[asking] == 0

    def _shell(self, command: str, role: str, actions: Sequence[Any] = ()) -> int:
        return self._spawn(["/bin/sh", "-c", self._filled(command)], role, actions)

    def _spawn(self, words: Sequence[str], role: str, actions: Sequence[Any] = ()) -> int:
        path = confine.find_command(words[0], self._env.get("PATH", ""))
        pid = os.posix_spawn(path, list(words), self._env, file_actions=list(actions), setpgroup=0)
        self._roles[pid] = role
        return pid

    def _reap(self, options: int = 0) -> bool:
        """Accounts for one process that ended; whether there was one. Orphans are the server's."""
        try:
            pid, status, usage = os.wait4(-1, options)
        except ChildProcessError:
            return False
        if pid:
            self._codes[pid] = os.waitstatus_to_exitcode(status)
            self._used.setdefault(self._roles.get(pid, "server"), []).append(usage)
        return pid != 0

    def _stop(self) -> None:
        """Asks all that is left to end, then makes it."""
        for number, patience in ((signal.SIGTERM, PATIENCE_SECONDS), (signal.SIGKILL, PATIENCE_SECONDS)):
            limit = time.monotonic() + patience
            for pid in supervise.descendants():
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
            while time.monotonic() < limit:
                if not self._reap(os.WNOHANG):
                    if not supervise.descendants():
                        return
                    time.sleep(POLL_SECONDS / 10)

    def _usage(self, wall: float) -> bytes:
        used = self._used[self._command["measure"]]
        sums = [sum(column) for column in zip(*map(usage_of, used), strict=True)] or [0.0] * 6
        largest = max((one.ru_maxrss * 1024 for one in used), default=0)
        return USAGE.pack(sums[0], *(int(count) for count in sums[1:]), largest, wall)

    def _tail(self) -> str:
        with contextlib.suppress(OSError), open(self._log, "rb") as file:  # noqa: PTH123
            file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_BYTES))
            if text := file.read(LOG_BYTES).decode(errors="replace").strip():
                return f": {text}"
        return ""


def usage_of(usage: resource.struct_rusage) -> tuple[float, int, int, int, int, int]:
    """CPU seconds, minor and major faults, voluntary and involuntary switches, blocks read or written."""
    switches = (usage.ru_nvcsw, usage.ru_nivcsw)
    blocks = usage.ru_inblock + usage.ru_oublock
    return (usage.ru_utime + usage.ru_stime, usage.ru_minflt, usage.ru_majflt, *switches, blocks)


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
