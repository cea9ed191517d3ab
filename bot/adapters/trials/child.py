"""One execution of a program under test: prepared and blocked, then released, accounted and judged."""

# Part of the worker (duet.py): few imports, no pathlib.
# Anything the program's account cannot read must be imported before the fork.

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import signal
import struct

from bot.adapters.processes import confine, loopback
from bot.adapters.processes.error_line import error_line
from bot.adapters.processes.uncaught import uncaught
from bot.adapters.trials import serving
from bot.adapters.trials.serving import usage_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

OUTPUT_CAP = 1 << 20
"""Bytes of a program's output that are kept (the last ones)."""
MOST_COMPANY = 4.0
"""Others with whom a run that is ready all the time may have to share its core. Arbitrary."""
_USAGE = struct.Struct("<dqqqqq")  # of the child before it is released: cpu seconds and `_COUNTS`
_COUNTS = ("minor_faults", "major_faults", "voluntary_switches", "involuntary_switches", "blocks")


def _volumes() -> dict[str, float]:
    """Bytes this process and its reaped children read and wrote by system calls; empty: not counted here.

    A difference of two looks holds the look itself too: about 100 bytes read.
    """
    with contextlib.suppress(OSError), open("/proc/self/io") as file:  # noqa: PTH123
        account = dict(line.split(": ") for line in file)
        return {"read_bytes": float(account["rchar"]), "written_bytes": float(account["wchar"])}
    return {}


def _main_thread(pid: int) -> tuple[float, float]:
    """Seconds the main thread of an ended, unreaped process ran, and was ready but had no core.

    Zeros where the kernel does not say. Its other threads' accounts are gone.
    """
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/schedstat") as file:  # noqa: PTH123
        ran, waited = file.read().split()[:2]
        return int(ran) / 1e9, int(waited) / 1e9
    return 0.0, 0.0


def idle_seconds(cpus: list[int]) -> float | None:
    """Seconds since the start of the machine that the one core had nothing to do; None: not known.

    Not known either of several cores: one may be idle while others are fought for.
    """
    with contextlib.suppress(OSError, ValueError), open("/proc/stat") as file:  # noqa: PTH123
        for line in file:
            name, *ticks = line.split()
            if len(cpus) == 1 and name == f"cpu{cpus[0]}" and any(tick != "0" for tick in ticks):
                return (int(ticks[3]) + int(ticks[4])) / os.sysconf("SC_CLK_TCK")
    return None


def queued(main: tuple[float, float], cpu: float, wall: float, idle: float | None) -> float:
    """Seconds a run was ready but had no core. idle: of its only core meanwhile, None: not known.

    main: what its main thread ran and waited for a core. When most of the work was done by other threads or
    processes, whose waits nobody knows: the time in which others had the core, as far as they would have
    left no more of it to the run.
    """
    ran, waited = main
    if idle is None or ran >= cpu / 2.0:
        return waited
    return max(waited, min(wall - cpu - idle, MOST_COMPANY * cpu))


class Run:
    """One execution of the program: its process, pipes and what it used."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.pid = 0
        self.status = bytearray()
        self.output = bytearray()
        self.orphans_cpu = 0.0
        self.idle_before: float | None = None
        self.left_behind = 0
        self.metrics: dict[str, float] = {}
        self.code: int | None = None
        self.outcome = "ok"
        self.detail = ""
        self._server = request.get("server")
        self._port = loopback.free_port() if self._server else 0
        self.release_out, self.release_in = os.pipe()
        self.status_out, self.status_in = os.pipe()
        self.output_out, self.output_in = os.pipe() if request["capture"] else (-1, -1)

    @property
    def pipes(self) -> list[int]:
        """What the program, or its preparation, may say something on."""
        return [fd for fd in (self.status_out, self.output_out) if fd >= 0]

    @property
    def ready(self) -> bool:
        """Whether the child is prepared and waits to be released."""
        return self.status[:1] == b"R"

    @property
    def _last_words(self) -> bytes:
        """What the child said after it was ready: why it failed, or what a server or its client used."""
        return bytes(self.status[1 + _USAGE.size * self.ready :])

    def release(self) -> None:
        """Lets the program begin."""
        if not self.request["partner"]:
            self.idle_before = idle_seconds(self.request["confine"]["cpus"])
        os.write(self.release_in, b"g")

    def fork(self) -> None:
        """Starts the child, which prepares itself and blocks until released."""
        try:
            self.pid = os.fork()
            if self.pid == 0:
                self._become_program()
        finally:
            for fd in (self.release_out, self.status_in, self.output_in):
                if fd >= 0:
                    os.close(fd)
        for fd in self.pipes:
            os.set_blocking(fd, False)

    def _become_program(self) -> NoReturn:
        request, what = self.request, "sandbox"
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
                file.write("1000")  # when memory runs out, the trial goes first
            confine.confine(request["confine"])
            if self._server and self._server["only_port"]:
                loopback.allow_only(self._port)
            confine.die_with_parent()
            what = "working directory"
            os.chdir(request["cwd"])
            what = "standard input"
            os.dup2(os.open(request["stdin"] or os.devnull, os.O_RDONLY), 0)
            sink = self.output_in if self.output_in >= 0 else os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            what = "command"
            path = confine.find_command(request["words"][0], request["env"].get("PATH", ""))
            os.write(self.status_in, b"R" + _USAGE.pack(*usage_of(resource.getrusage(resource.RUSAGE_SELF))))
            if os.read(self.release_out, 1):
                if self._server:
                    self._serve()
                os.execve(path, request["words"], request["env"])  # noqa: S606
        except OSError as error:
            failure = [what, error.errno, error.filename or request["words"][0]]
            os.write(self.status_in, b"E" + json.dumps(failure).encode())
        finally:
            os._exit(confine.NO_SUCH_COMMAND)

    def _serve(self) -> NoReturn:
        """Instead of becoming the program: runs server and client, and says what they used."""
        request = self.request
        log = f"{request['scratch']}/server.log"
        assert self._server is not None
        trial = serving.Trial(self._server, request["env"], self._port, log)
        code, status = trial.run(request["words"])
        os.write(self.status_in, status)
        os._exit(code)

    def read(self, fd: int) -> bool:
        """Takes what a pipe holds, of the output only the tail; whether there was anything."""
        some = False
        with contextlib.suppress(BlockingIOError):
            while data := os.read(fd, 1 << 16):
                some = True
                if fd == self.status_out:
                    self.status += data
                    continue
                self.output += data
                if len(self.output) > 2 * OUTPUT_CAP:
                    del self.output[:-OUTPUT_CAP]
                    break  # endless output must not keep us here
        return some

    def record(self, wall: float) -> None:
        """Reads the ended child's account and reaps it: CPU without what its preparation cost."""
        # Reaping adds the child's volumes to our own account, which we may read without any privilege; the
        # child's own account belongs to its user.
        before_reaping = _volumes()
        main, idle = _main_thread(self.pid), idle_seconds(self.request["confine"]["cpus"])
        _, status, usage = os.wait4(self.pid, 0)
        volumes = {key: value - before_reaping[key] for key, value in _volumes().items()}
        self.code = os.waitstatus_to_exitcode(status)
        idle = None if idle is None or self.idle_before is None else idle - self.idle_before
        before = _USAGE.unpack(bytes(self.status[1 : 1 + _USAGE.size]))
        cpu, *counts = (max(0.0, now - then) for now, then in zip(usage_of(usage), before, strict=True))
        self.metrics = {
            "cpu": cpu,
            "wall": wall,
            "queued": queued(main, cpu, wall, idle),
            "max_rss": usage.ru_maxrss * 1024.0,
            **dict(zip(_COUNTS, counts, strict=True)),
            **volumes,
        }
        if self._last_words[:1] == serving.SAID:  # of one of the two, whose volumes are not told apart
            both = self.metrics["cpu"] + self.metrics["queued"]
            cpu, *counts, largest, wall = serving.USAGE.unpack(self._last_words[1:])
            # While one of the two works, the other does not wait for nothing.
            told = {"cpu": cpu, "wall": wall, "queued": min(max(both - cpu, 0.0), wall)}
            self.metrics = {**told, "max_rss": float(largest), **dict(zip(_COUNTS, counts, strict=True))}

    def close(self) -> None:
        """Reads what is left in the pipes and closes them."""
        for fd in self.pipes:
            while self.pid and self.read(fd):
                pass
            os.close(fd)
        os.close(self.release_in)

    def judge(self) -> None:
        """Says how it went, once it and all it left behind are gone."""
        if self.outcome in ("cut", "signal"):  # by us
            return
        failure = self._last_words
        if failure[:1] == serving.FAILED:
            self.outcome, self.detail = "exit", failure[1:].decode(errors="replace")
            return
        if (failure and failure[:1] != serving.SAID) or not self.ready:
            self.outcome = "not-started"
            self.detail = self.detail or _why_not_started(self.request, failure)
            return
        self.metrics["cpu"] += self.orphans_cpu
        if self.outcome == "timeout":
            self.detail = f"stopped after {self.request['timeout']:g} s"
        elif self.code is not None and self.code < 0:
            self.outcome = "signal"
            self.detail = f"killed by {_signal_name(-self.code)}"
        elif self.code not in self.request["ok_exit"]:
            self.outcome = "exit"
            self.detail = f"exit code {self.code}"
        elif self.code and uncaught(self.output, self.code):
            self.outcome = "exit"
            self.detail = f"exit code {self.code} (in ok_exit), but nobody caught an error"
        elif self.left_behind:
            self.detail = f"left {self.left_behind} processes running; they were killed"
        if self.outcome != "ok" and self.output:
            self.detail += ": " + error_line(self.output)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _why_not_started(request: dict[str, Any], failure: bytes) -> str:
    if not failure:
        return f"{request['words'][0]}: its process died before it could start"
    what, number, name = json.loads(failure[failure.index(b"[") :])
    uid = request["confine"]["uid"]
    reason = os.strerror(number)
    if number in (errno.EACCES, errno.EPERM) and what != "sandbox":
        account = "us" if uid is None else f"the uid the sandbox uses ({uid})"
        reason = f"permission denied for {account}: it must be readable and executable for everyone"
    elif number == errno.ENOENT and what == "command" and os.path.exists(f"{request['cwd']}/{name}"):  # noqa: PTH110
        reason = "it is there, but the interpreter its first line names is not"
    elif number == errno.ENOEXEC:
        reason = "neither a binary for this machine nor a script with a #! line"
    elif number == errno.ENOENT and what == "command":
        reason = "no such command"
    return f"{name}: {reason}" if what == "command" else f"{what} {name}: {reason}"
