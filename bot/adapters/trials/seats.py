"""The bench's side of its workers: starting them in twos on a core, asking, hearing, ending."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bot.adapters.processes.leftovers import remove_shared
from bot.adapters.processes.process import PLAIN_ENVIRONMENT
from bot.model.errors import NothingMeasuredError

Request: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = Mapping[str, Any]
Network: TypeAlias = Literal["none", "loopback", "open"]
"""What trials can reach: nothing, their own server, or everything (`sandbox: off`)."""

CUT: Answer = {"outcome": "cut", "metrics": {}, "exit_code": None, "detail": "", "rounds": 1}
GRACE_SECONDS = 2.0
"""After a cut, how long a worker may take to answer before it is killed."""
_PACKAGE_ROOT = Path(__file__).resolve().parents[3]
# -I -S: nothing of the user's, and a small resident size; so the package's place must be said.
_BOOT = "import sys; sys.path.append(sys.argv[1]); from bot.adapters.trials.duet import main; main()"


class Seat:
    """One worker process (duet.py), pinned to a core."""

    def __init__(self, *, core: int, network: Network, peer: socket.socket) -> None:
        self.core = core
        self._buffer = b""
        config = json.dumps({"peer": peer.fileno(), "network": network, "cpus": [core]})
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", "-c", _BOOT, str(_PACKAGE_ROOT), config],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(peer.fileno(),),
            env=dict(PLAIN_ENVIRONMENT),
            start_new_session=True,  # a terminal's Ctrl-C is for us; we tell the workers
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdout.fileno(), False)

    def fileno(self) -> int:
        """Becomes readable when an answer, or the worker's end, is there."""
        return self._stdout.fileno()

    def say(self, line: str) -> None:
        """Sends one line; a worker that died is noticed when its answer is read."""
        with contextlib.suppress(OSError):
            os.write(self._stdin.fileno(), line.encode() + b"\n")

    def hear(self) -> Answer | None:
        """The next answer, None when there is not a whole one yet; a dead worker's is `not-started`."""
        try:
            while data := os.read(self._stdout.fileno(), 1 << 16):
                self._buffer += data
                if b"\n" in data:
                    break
            else:
                return {**CUT, "outcome": "not-started", "detail": "the worker process died", "lost": True}
        except BlockingIOError:
            return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: Answer = json.loads(line)
        return answer

    def hello(self) -> Answer:
        """What the worker says of itself once it is ready: `isolation` and `floor` (bytes).

        Raises:
            NothingMeasuredError: it died at once.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            while (answer := self.hear()) is None:
                selector.select()
        if answer.get("lost"):
            raise NothingMeasuredError(f"A worker process on core {self.core} could not be started.")
        return answer

    def leave(self) -> None:
        """Lets go of the worker: it kills what it runs and ends."""
        with contextlib.suppress(OSError):
            self._stdin.close()

    def bury(self, patience: float = GRACE_SECONDS) -> None:
        """Waits for the worker's end, kills it when it takes too long."""
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()


class Slot:
    """Two seats on one core, and the name of each one's scratch folder (of equal length)."""

    def __init__(self, number: int, *, core: int, network: Network, scratch: Path) -> None:
        self.number = number
        self.core = core
        self._network = network
        self.scratch = tuple(str(scratch / f"slot{number}{letter}") for letter in "ab")
        self.seats = self._fill()

    def _fill(self) -> tuple[Seat, Seat]:
        # Messages between the two are packets: a round's signals cannot run into each other.
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        first, second = (Seat(core=self.core, network=self._network, peer=end) for end in ends)
        for end in ends:
            end.close()
        return first, second

    def replace(self) -> None:
        """New workers for ones that died or do not answer."""
        for seat in self.seats:
            seat.leave()
        for seat in self.seats:
            seat.bury(0.2)
        self.seats = self._fill()
        for seat in self.seats:
            seat.hello()


def dumps(request: Request) -> str:
    """A request as the line a worker reads."""
    return json.dumps(request)


def sweep(uids: Sequence[int]) -> None:
    """Kills what runs under the trials' accounts and lost its worker, and removes what they shared.

    Only root can, and does.
    """
    if os.geteuid() != 0 or not uids:
        return
    limit = time.monotonic() + GRACE_SECONDS
    while (lost := _lost(set(uids))) and time.monotonic() < limit:
        for pid in lost:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    remove_shared(uids)


def _lost(uids: set[int]) -> list[int]:
    """Processes under these accounts whose parent is init or ourselves: those of other runs have a worker."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                lines = (folder / "status").read_text().splitlines()
                status = {key: value.split() for key, _, value in (line.partition(":") for line in lines)}
                orphan = int(status["PPid"][0]) in (1, os.getpid()) and status["State"][0] != "Z"
                if orphan and int(status["Uid"][0]) in uids:
                    found.append(int(folder.name))
    return found
