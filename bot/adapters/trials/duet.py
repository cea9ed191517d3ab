"""The worker of one side of a duet: forks, releases, times and buries one trial at a time, on one core."""

# A process of its own, single-threaded, with few imports: the resident size of whoever forks is the floor of
# the peak memory that wait4 reports for the child. Requests and answers are JSON lines on standard input and
# output. It lives as long as its standard input: when the bench dies, even by kill -9, every trial dies too.

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time

from bot.adapters.processes import confine, loopback, supervise
from bot.adapters.processes.room import LOOK_SECONDS, WHY, Room
from bot.adapters.trials.child import Run
from bot.adapters.trials.summary import summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_PEER_PATIENCE = 30.0  # seconds for the other side to become ready, before it is taken for lost
_READY, _GO, _QUIT = 1, 2, 3
_MESSAGE = struct.Struct("<qqq")  # to the other side: trial, round, kind


class _Cut(Exception):  # noqa: N818  (not an error)
    """The bench or the run's deadline stops this trial."""


class _Full(Exception):  # noqa: N818  (not an error)
    """This trial uses up the disk."""


class Worker:
    """Serves requests until standard input ends; `peer` is a socket to the worker of the other side.

    only_port: trials of servers share the machine's network, and are held to one port of it.
    """

    def __init__(self, peer: int, *, only_port: bool) -> None:
        self._peer = socket.socket(fileno=peer)
        self._peer.set_inheritable(False)
        self._peer.setblocking(False)
        self._wakeup, wakeup_in = os.pipe()
        for fd in (self._wakeup, wakeup_in):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wakeup_in, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._only_port = only_port
        self._lines = b""
        self._trial = 0
        self._peer_said: list[tuple[int, int, int]] = []

    def serve(self) -> None:
        """Answers each request line with one line."""
        while True:
            line = self._next_line()
            if line != b"cut":  # else it came after the trial's end
                answer = json.dumps(self._run(json.loads(line))).encode() + b"\n"
                while answer:
                    answer = answer[os.write(1, answer) :]

    def _next_line(self) -> bytes:
        while b"\n" not in self._lines:
            self._lines += self._control()
        line, _, self._lines = self._lines.partition(b"\n")
        return line

    def _control(self) -> bytes:
        data = os.read(0, 1 << 16)
        if not data:  # the bench is gone
            supervise.end_all()
            os._exit(0)
        return data

    def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        self._trial = request["trial"]
        if request.get("server"):
            request["server"]["only_port"] = self._only_port
        self._peer_said = [said for said in self._peer_said if said[0] >= self._trial]
        runs: list[Run] = []
        for number in range(request["rounds"]):
            one = Run(request)
            runs.append(one)
            # The start order alternates within a trial, so that no side is always first.
            self._round(one, number, first=request["first"] == (number % 2 == 0))
            if one.outcome != "ok":
                break
        if request["partner"]:
            self._tell(len(runs), _QUIT)
        return summary(request, runs)

    def _round(self, one: Run, number: int, *, first: bool) -> None:
        try:
            _make_scratch(one.request)
            one.fork()
            self._accompany(one, number, first=first)
        except _Cut:
            one.outcome = "cut"
        except _Full:
            one.outcome, one.detail = "signal", WHY
        except OSError as error:  # no more processes, no space left for its folder
            one.outcome, one.detail = "not-started", f"{error.strerror}: {error.filename or 'fork'}"
        self._bury(one)
        one.close()
        _remove(one.request["scratch"])
        one.judge()

    def _accompany(self, one: Run, number: int, *, first: bool) -> None:
        partner = one.request["partner"]
        self._until(one, lambda: bool(one.status) or self._ended(one), time.monotonic() + _PEER_PATIENCE)
        if not one.ready:
            return
        if partner:
            self._meet(one, number, first=first)
        started = time.monotonic()
        one.release()
        if partner and first:
            self._tell(number, _GO)
        if not self._until(one, lambda: self._ended(one), started + one.request["timeout"]):
            one.outcome = "timeout"
            os.kill(one.pid, signal.SIGKILL)
            self._ended(one, wait=True)
        one.record(time.monotonic() - started)

    def _meet(self, one: Run, number: int, *, first: bool) -> None:
        """Waits until both sides are ready (first), or until the other side has started (second)."""
        self._tell(number, _READY)
        wanted = (self._trial, number, _READY if first else _GO)

        def heard() -> bool:
            gave_up = any(trial == self._trial and kind == _QUIT for trial, _, kind in self._peer_said)
            return gave_up or wanted in self._peer_said

        self._until(one, heard, time.monotonic() + _PEER_PATIENCE)

    def _tell(self, number: int, kind: int) -> None:
        with contextlib.suppress(OSError):
            self._peer.send(_MESSAGE.pack(self._trial, number, kind))

    def _listen(self) -> bool:
        heard = False
        with contextlib.suppress(OSError):
            while data := self._peer.recv(_MESSAGE.size):
                heard = True
                trial, number, kind = _MESSAGE.unpack(data)
                if trial >= self._trial:
                    self._peer_said.append((trial, number, kind))
        return heard

    def _until(self, one: Run, done: Callable[[], bool], limit: float) -> bool:
        """Waits for `done()`, tending pipes; False when `limit` (monotonic seconds) passes first.

        Raises:
            _Cut: the bench said so, or the run's deadline passed.
            _Full: the disk is.
        """
        poll = select.poll()
        for fd in (0, self._wakeup, self._peer.fileno(), *one.pipes):
            poll.register(fd, select.POLLIN)
        limit = min(limit, one.request["deadline"])
        room, look = Room(one.request["scratch"]), time.monotonic() + LOOK_SECONDS
        while not done():
            now = time.monotonic()
            if now >= look:
                look = now + LOOK_SECONDS
                if room.short():
                    raise _Full
            if now >= one.request["deadline"]:
                raise _Cut
            if now >= limit:
                return False
            for fd, event in poll.poll(1000 * (min(limit, look) - now) + 1):
                silent = not self._tend(one, fd)
                if silent and event & select.POLLHUP:
                    poll.unregister(fd)
        return True

    def _tend(self, one: Run, fd: int) -> bool:
        """Serves one descriptor that is ready; whether it had something to say."""
        if fd == 0:
            if b"cut" in self._control():
                raise _Cut
        elif fd == self._wakeup:
            with contextlib.suppress(BlockingIOError):
                os.read(fd, 4096)
        elif fd == self._peer.fileno():
            return self._listen()
        else:
            return one.read(fd)
        return True

    def _ended(self, one: Run, *, wait: bool = False) -> bool:
        """Whether the program ended (it stays unreaped); orphans of it that ended are reaped and counted."""
        while True:
            try:
                options = os.WEXITED | os.WNOWAIT | (0 if wait else os.WNOHANG)
                ended = os.waitid(os.P_ALL, 0, options)
            except ChildProcessError:
                return True
            if ended is None:
                return False
            if ended.si_pid == one.pid and one.code is None:
                return True
            _, _, usage = os.wait4(ended.si_pid, 0)
            one.orphans_cpu += usage.ru_utime + usage.ru_stime

    def _bury(self, one: Run) -> None:
        """Kills and reaps all that is left of a trial."""
        if one.pid and one.code is None:  # cut, or never ready
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
            one.code = os.waitstatus_to_exitcode(os.waitpid(one.pid, 0)[1])
        if not self._ended(one):
            one.left_behind = len(supervise.descendants())
            supervise.end_all()


def _make_scratch(request: dict[str, Any]) -> None:
    os.mkdir(request["scratch"], 0o700)  # noqa: PTH102
    account = request["confine"]
    if account["uid"] is not None and os.geteuid() == 0:
        os.chown(request["scratch"], account["uid"], account["gid"])


def _remove(path: str) -> None:
    """Removes a folder whatever the program made of it; never follows its links."""
    try:
        os.rmdir(path)  # noqa: PTH106
    except FileNotFoundError:
        return
    except OSError:
        for command in (("rm", "-rf"), ("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            os.spawnvp(os.P_WAIT, command[0], [*command, "--", path])  # noqa: S606
            if not os.path.lexists(path):
                return


def _peak() -> int:
    """Our own largest resident size in bytes; not getrusage, which includes what forked us."""
    with open("/proc/self/status") as file:  # noqa: PTH123
        return next((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM")), 0)


def main() -> None:
    """Takes the network away once, says hello, serves; the last argument is the configuration as JSON."""
    config = json.loads(sys.argv[-1])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the bench decides when to stop
    os.sched_setaffinity(0, config["cpus"])
    confine.adopt_orphans()
    isolation = "none"
    if config["network"] != "open":
        try:
            isolation = loopback.enter() if config["network"] == "loopback" else confine.leave_network()
        except OSError as error:
            isolation = f"impossible: {error.strerror}"
        confine.forbid_rare_calls()
    worker = Worker(config["peer"], only_port=isolation == "ports")
    os.write(1, json.dumps({"isolation": isolation, "floor": _peak()}).encode() + b"\n")
    worker.serve()
