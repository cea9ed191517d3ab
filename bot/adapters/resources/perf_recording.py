"""Lets perf record the system calls of a program that waits at a gate, and of all that it starts."""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from bot.adapters.processes.process import PLAIN_ENVIRONMENT, plain_text

MOST_BYTES = 1 << 30
"""Of a recording: some eight million calls."""
BUFFER = "16M"
"""Of each processor, for events that perf has not written yet."""
FOUND_SECONDS, READY_SECONDS, END_SECONDS = 2.0, 20.0, 60.0
"""Until the program at the gate is found, until perf records, and until it has written what it has."""
LOOK_SECONDS = 0.002


class Recording:
    """From the program's arrival at the gate, a named pipe that it reads a line from, to the block's end.

    It is let through when perf records, or sees the pipe's end when that cannot be. first: the id of the
    process that arrived. error: why there is no recording. ends: which ends of calls are kept.
    """

    def __init__(self, perf: str, gate: Path, data: Path, *, ends: str) -> None:
        self.first, self.error = 0, "the program did not arrive"
        self._gate, self._data, self._said = gate, data, data.with_name("said")
        self._words = [perf, "record", "--quiet", "--no-buildid", "--no-buildid-cache"]
        self._words += ["--no-bpf-event", "-c", "1", "-m", BUFFER]
        self._words += ["--max-size", f"{MOST_BYTES >> 20}M", "-D", "-1", "-o", str(data)]
        self._words += ["-e", "raw_syscalls:sys_enter", "-e", "raw_syscalls:sys_exit", "--filter", ends]
        self._process: subprocess.Popen[bytes] | None = None
        self._control = self._heard = -1
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._attend, daemon=True)

    def __enter__(self) -> Recording:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        try:
            if self._process is not None:
                self._end(self._process)
        finally:
            for handle in (self._control, self._heard):
                if handle >= 0:
                    os.close(handle)

    def _end(self, perf: subprocess.Popen[bytes]) -> None:
        with perf:
            with suppress(OSError):  # it has ended by itself, with the last process that it watched
                os.write(self._control, b"stop\n")
            try:
                perf.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                perf.kill()
        if not self.error and perf.returncode != 0:
            self.error = self._failure()

    def _attend(self) -> None:
        """Waits for the program; nobody else can open the gate, which is the program's account's."""
        while not self._over.wait(LOOK_SECONDS):
            with suppress(OSError):  # no reader yet
                gate = os.open(self._gate, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                break
        else:
            return
        try:
            self._let_through(gate)
        finally:
            os.close(gate)

    def _let_through(self, gate: int) -> None:
        until = time.monotonic() + FOUND_SECONDS
        while not (self.first or self._over.wait(LOOK_SECONDS)):
            self.first = _reader(gate)
            if time.monotonic() > until:
                self.error = "the program cannot be found among the processes"
                return
        try:
            if self.first and self._records():
                self.error = ""
                os.write(gate, b"\n")
        except OSError as error:
            self.error = f"perf could not be started ({error})"

    def _records(self) -> bool:
        """Starts perf; whether it records now.

        The supervisor is watched, too, to which a process falls when its parent ends: perf ends with the last
        of those that it was told to watch, whatever others they have started.
        """
        told, self._control = os.pipe()
        self._heard, answer = os.pipe()
        watched = f"{self.first},{_parent(self.first)}"
        try:
            with self._said.open("wb") as said:
                self._process = subprocess.Popen(  # noqa: S603  (an argument list of our own)
                    [*self._words, "--control", f"fd:{told},{answer}", "-p", watched],
                    env=PLAIN_ENVIRONMENT,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    pass_fds=(told, answer),
                    start_new_session=True,
                )
        finally:
            os.close(told)
            os.close(answer)
        with suppress(BrokenPipeError):  # it has failed already
            os.write(self._control, b"enable\n")
        heard = select.select([self._heard], [], [], READY_SECONDS)[0]
        if heard and os.read(self._heard, 16).startswith(b"ack"):
            return True
        self.error = self._failure()
        return False

    def _failure(self) -> str:
        said = " ".join(plain_text(self._said.read_bytes(), 20).split())
        return f"perf failed: {said[:200] or 'it says nothing'}"


def _reader(gate: int) -> int:
    """The process whose standard input is the gate; 0: there is none yet."""
    wanted = os.fstat(gate)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                if os.path.samestat((folder / "fd/0").stat(), wanted):
                    return int(folder.name)
    return 0


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[1])
