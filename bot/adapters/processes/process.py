"""Runs commands: a subject's with account, limits and supervision; ours (git, cp) in a bare environment."""

from __future__ import annotations

import json
import os
import pwd
import re
import select
import signal
import socket
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from bot.adapters.processes import confine, supervise
from bot.adapters.processes.error_line import ESCAPE
from bot.adapters.processes.readable import Box, readable
from bot.adapters.processes.room import LOOK_SECONDS, WHY, Room
from bot.model.errors import UsageError
from bot.model.sites import Account
from bot.model.trials import Outcome, Side

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PLAIN_ENVIRONMENT: Mapping[str, str] = {"PATH": PATH, "LC_ALL": "C.UTF-8"}
LIMITS: Mapping[str, int] = {"core": 0, "processes": 4096, "file_size": 16 << 30}
"""For builds: generous, but a fork bomb and a file without end do not take the machine."""
LOG_LINES = 40
KEPT_BYTES = 1 << 16
LINE_CHARACTERS = 500
POLL_SECONDS = 0.1
GRACE_SECONDS = 2 * supervise.GIVE_UP_SECONDS
FIRST_UID = 64001
"""Builds and trials get the first two user ids from here on that no account of the machine has."""

_COMMAND = re.compile(r"^[^\S\n]*:(?=:)|##(?=\[)", re.MULTILINE)
"""What a GitHub runner obeys, when a step prints it."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: `exit_code` is negative for a signal, None when we ended it; `log` is its tail."""

    outcome: Outcome
    exit_code: int | None
    seconds: float
    log: str

    def reason(self, what: str) -> str:
        """One sentence for a report; `what` names the command."""
        match self.outcome:
            case "timeout":
                return f"{what} took longer than the {self.seconds:.0f} s it may take."
            case "signal":
                number = -(self.exit_code or -signal.SIGKILL)
                name = (
                    signal.Signals(number).name if number in {int(s) for s in signal.Signals} else str(number)
                )
                return f"{what} was ended by signal {name}."
            case "cut":
                return f"{what} was stopped with the run."
            case "not-started":
                return f"{what} could not be started."
        return f"{what} ended with exit code {self.exit_code}."


class Accounts(NamedTuple):
    """The account of each side's code (None: our own), and what a reader must know about them."""

    of: Mapping[Side, Account | None]
    notes: tuple[str, ...] = ()


@dataclass
class Tail:
    """The last bytes of an output of any length."""

    buffer: bytearray = field(default_factory=bytearray)

    def add(self, data: bytes) -> None:
        """Appends, and forgets what lies too far back."""
        self.buffer += data
        if len(self.buffer) > 2 * KEPT_BYTES:
            del self.buffer[:-KEPT_BYTES]

    def text(self, lines: int) -> str:
        """The last lines as plain text."""
        return plain_text(bytes(self.buffer[-KEPT_BYTES:]), lines)


def plain_text(output: bytes, lines: int) -> str:
    """The last lines of a program's output without escape sequences, control and direction characters.

    Nothing in them is a command to the runner of a workflow in whose log they end up.
    """
    text = ESCAPE.sub("", output.decode("utf-8", "replace")).replace("\r\n", "\n").replace("\t", "    ")
    last = text.rstrip("\n").split("\n")[-lines:]
    # A progress bar overwrites its line: what a terminal would show is what follows the last carriage return.
    shown = (line.rstrip("\r").rpartition("\r")[2][:LINE_CHARACTERS] for line in last)
    plain = "\n".join("".join(c for c in line if unicodedata.category(c)[0] != "C") for line in shown)
    return _COMMAND.sub(r"\g<0> ", plain)


def accounts(mode: Literal["auto", "required", "off"], *, first: int = FIRST_UID) -> Accounts:
    """Two accounts that exist nowhere else, from `first` on, when we are root; otherwise none, with a note.

    Raises:
        UsageError: `sandbox: required`, and we are not root.
    """
    if mode == "off":
        return Accounts(
            {"base": None, "head": None}, ("Builds and trials ran under our own account (sandbox: off).",)
        )
    notes = tuple(confine.lacks_of_the_kernel())
    if os.geteuid() != 0:
        if mode == "required":
            error = UsageError("`sandbox: required` needs root: only root can give code another account.")
            error.add_note("Run in the container action, or set `sandbox: auto`.")
            raise error
        return Accounts(
            {"base": None, "head": None},
            ("Builds and trials ran under our own account, because this run is not root.", *notes),
        )
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    base, head = [uid for uid in range(first, first + len(taken) + 2) if uid not in taken][:2]
    return Accounts({"base": Account(base, base), "head": Account(head, head)}, notes)


def run(  # noqa: PLR0913  (all by keyword)
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    account: Account | None,
    timeout: float,
    network: bool = False,
    confined: bool = True,
    box: Box | None = None,
    stop: Callable[[], bool] | None = None,
) -> Ended:
    """Runs a subject's command to its end (or `timeout` seconds, or until `stop()`) and leaves no process.

    Its environment is `env` and nothing else; standard input is empty; both outputs go to the log's tail.
    `confined=False` is for `setup` alone: our own account, network, and set-uid programs such as sudo.
    box: it may touch the files in there, the system's, and what its words and environment name, and no
    others (None: whatever its account may).
    """
    # The environment is set by `env` after the account has changed: an LD_PRELOAD in it must not reach us.
    words = ["env", "-i", *(f"{name}={value}" for name, value in env.items()), *command]
    if confined:
        spec = {**_spec(account, box), "network": network, "cwd": str(cwd)}
        if box is not None:
            spec["read"] = readable(command, env, box.read)
        words = [sys.executable, "-I", "-S", confine.__file__, json.dumps(spec), "--", *words]
    began = time.monotonic()
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen(  # noqa: S603  (running what the subject's file says is the purpose)
                [sys.executable, "-I", "-S", supervise.__file__, *words],
                cwd="/" if confined else cwd,
                env=PLAIN_ENVIRONMENT,
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        with process:
            tail = Tail()
            try:
                room = Room(str(cwd))
                ended_by_us = _follow(process, ours, tail, deadline=began + timeout, stop=stop, room=room)
            except BaseException:
                ours.close()  # before `with` waits for the supervisor, which waits for this
                raise
            process.wait()
        answer = b"" if ended_by_us else ours.recv(64)
    seconds = time.monotonic() - began
    if ended_by_us:
        return Ended(ended_by_us, None, seconds, tail.text(LOG_LINES))
    code = os.waitstatus_to_exitcode(int(answer)) if answer else -signal.SIGKILL
    log = tail.text(LOG_LINES)
    return Ended(_outcome(code, command, log), code, seconds, log)


def _spec(account: Account | None, box: Box | None) -> dict[str, object]:
    """What the launcher is told (confine.py has the keys)."""
    return {
        "uid": account.uid if account else None,
        "gid": account.gid if account else None,
        # Processes are counted per account: ours may have thousands already.
        "limits": {k: v for k, v in LIMITS.items() if account or k != "processes"},
        "new_session": False,  # the supervisor has made one
        "write": None if box is None else list(map(str, box.write)),
        "calls": None if box is None else box.calls,
    }


def _outcome(code: int, command: Sequence[str], log: str) -> Outcome:
    if code < 0:
        return "signal"
    # The launcher and `env` answer with these; a shell that was started uses them for what it did not find.
    if code in (confine.CANNOT_CONFINE, confine.NO_SUCH_COMMAND) and (
        command[0] != "sh" or log.startswith("cannot confine ")
    ):
        return "not-started"
    return "exit" if code else "ok"


def _follow(
    process: subprocess.Popen[bytes],
    leash: socket.socket,
    tail: Tail,
    *,
    deadline: float,
    stop: Callable[[], bool] | None,
    room: Room,
) -> Literal["timeout", "cut", "signal", None]:
    """Reads the output until the supervisor has ended; says why we let the leash go, if we did."""
    assert process.stdout is not None
    output = process.stdout.fileno()
    poll = select.poll()
    poll.register(output, select.POLLIN)
    why: Literal["timeout", "cut", "signal", None] = None
    give_up, look = float("inf"), time.monotonic() + LOOK_SECONDS
    while True:
        if poll.poll(POLL_SECONDS * 1000):
            data = os.read(output, 1 << 16)
            if not data:
                return why
            tail.add(data)
        now = time.monotonic()
        if why is None and now >= look:
            look = now + LOOK_SECONDS
            if room.short():
                why = "signal"
                tail.add(f"\n{WHY}\n".encode())
        if why is None and (now >= deadline or (stop is not None and stop())):
            why = "timeout" if now >= deadline else "cut"
        if why is not None and give_up == float("inf"):
            leash.shutdown(socket.SHUT_WR)
            give_up = now + GRACE_SECONDS
        elif now >= give_up:
            process.kill()
            return why


@dataclass(frozen=True)
class Finished:
    """A command of ours: its exit code and outputs."""

    code: int
    output: bytes
    error: str


def run_trusted(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Finished:
    """Runs a program of the machine as ourselves, in `PLAIN_ENVIRONMENT` plus `env`, without input.

    Where it is not waited for until its end, everything in its session is ended.

    Raises:
        FileNotFoundError: the program (or `cwd`) does not exist.
        subprocess.TimeoutExpired: it took more than `timeout` seconds.
    """
    with subprocess.Popen(  # noqa: S603  (argument lists of our own)
        command,
        cwd=cwd,
        env={**PLAIN_ENVIRONMENT, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us to handle
    ) as program:
        try:
            output, error = program.communicate(timeout=timeout)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)  # what it has started, too: git works in children
            raise
    return Finished(program.returncode, output, plain_text(error, 5))
