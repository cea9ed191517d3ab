"""Has what strangers wrote read in a process that can do nothing else, and believes nothing but its form."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from bot.adapters.processes import seccomp
from bot.adapters.processes.process import PLAIN_ENVIRONMENT, plain_text
from bot.adapters.reading.reader_child import ANSWER, ERROR, NO_MEMORY, call_of
from bot.model.sites import Account

T = TypeVar("T")


class Limits(NamedTuple):
    """Of one reading: seconds of wall time and of CPU time; bytes of memory, and of an answer.

    cut_seconds: that are left to it once the run has to end.
    """

    seconds: float = 120.0
    cpu_seconds: int = 90
    memory: int = 4 << 30
    answer: int = 256 << 20
    cut_seconds: float = 5.0


LIMITS = Limits()
MOST_ERROR = 200
GRACE_SECONDS = 10.0
_STOPPED = "was stopped with the run"
POLL_SECONDS, PIECE = 0.1, 1 << 20
_LIBRARIES = tuple(
    dict.fromkeys(
        (*(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
         str(Path(__file__).parents[2]))
    )
)  # fmt: skip
"""What Python imports, now and then, while it runs; our package."""
_OURS = str(Path(__file__).parents[3])
_PROGRAM = """\
import sys
if sys.argv[1] not in sys.path:
    sys.path.insert(0, sys.argv[1])
from bot.adapters.reading.reader_child import serve
serve(int(sys.argv[2]))
"""
"""Before all that is installed: another copy of the package may be, and both sides must run the same one."""
_ALONE = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
"""A process with threads cannot be forked well."""


def read(
    function: Callable[..., T],
    *arguments: object,
    files: Iterable[Path],
    account: Account | None,
    stop: Callable[[], bool] | None = None,
    limits: Limits = LIMITS,
) -> T:
    """What `function`, of a module of ours, answers to `arguments`, which its annotations are the types of.

    It runs as `account` and can open `files` (what lies in them, if they are folders), Python's libraries and
    nothing else. stop: asked meanwhile, whether it has to end.

    Raises:
        OSError: it could not, in one line: its own reason (an OSError or ValueError), or how it ended.
    """
    with Reading(function, *arguments, files=files, account=account, limits=limits) as reading:
        return reading.answer(stop)


class Reading(Generic[T]):
    """A reading that goes on beside what its block does; see `read`. descriptors: handed to it, first of all.

    Raises:
        OSError: it cannot begin.
    """

    def __init__(
        self,
        function: Callable[..., T],
        *arguments: object,
        descriptors: Sequence[int] = (),
        files: Iterable[Path],
        account: Account | None,
        limits: Limits = LIMITS,
    ) -> None:
        name = f"{function.__module__}:{function.__name__}"
        self._call, self._what, self._limits = call_of(name), function.__name__, limits
        spec = {
            "uid": account.uid if account else None,
            "gid": account.gid if account else None,
            "limits": {
                "cpu_seconds": limits.cpu_seconds,
                "memory": limits.memory,
                "file_size": 0,
                "core": 0,
                "processes": 0,
            },
            "only": [*map(str, files), *_LIBRARIES],
            "network": seccomp.available(),  # a filter takes all sockets; otherwise a namespace has to
            "calls": "reader",
        }
        try:
            asked = json.dumps(spec).encode() + b"\n" + self._call.arguments.dump_json(arguments)
        except ValueError as error:  # a path that is no text
            raise OSError(f"{self._what} cannot be asked ({str(error)[:MOST_ERROR]})") from None
        with open(os.memfd_create("request"), "w+b") as request:  # noqa: PTH123
            request.write(asked)
            request.seek(0)
            self._said, heard = os.pipe2(os.O_CLOEXEC)
            self._leash, leash = socket.socketpair()
            try:
                _server().ask(name, [leash.fileno(), request.fileno(), heard, *descriptors])
            except OSError:
                self.close()
                raise
            finally:
                leash.close()
                os.close(heard)

    def __enter__(self) -> Reading[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends it, if it has not ended."""
        self._leash.close()
        os.close(self._said)

    def answer(self, stop: Callable[[], bool] | None = None) -> T:
        """What it says in the end; its time begins to count now.

        Raises:
            OSError: as `read`.
        """
        said = self._heard(stop, time.monotonic() + self._limits.seconds)
        self._leash.settimeout(GRACE_SECONDS)
        try:
            status = int(self._leash.recv(16) or b"1")
        except TimeoutError:
            raise OSError(f"{self._what} does not end") from None
        if status == 0 and said[:1] == ERROR:
            raise OSError(plain_text(bytes(said[1:]), 1)[:MOST_ERROR])
        if status == 0 and said[:1] == ANSWER:
            try:
                value: T = self._call.answer.validate_json(bytes(memoryview(said)[1:]))
            except ValidationError:
                raise OSError(f"{self._what} gave an answer that makes no sense") from None
            return value
        raise OSError(f"{self._what} {_ending(status)}")

    def _heard(self, stop: Callable[[], bool] | None, until: float) -> bytearray:
        """All that it says until it ends, or closes its mouth."""
        said, cut = bytearray(), inf
        poll = select.poll()
        poll.register(self._said, select.POLLIN)
        while True:
            if poll.poll(POLL_SECONDS * 1000):
                piece = os.read(self._said, PIECE)
                if not piece:
                    return said
                said += piece
            if len(said) > self._limits.answer:
                raise OSError(f"{self._what} said more than {self._limits.answer >> 20} MiB")
            now = time.monotonic()
            if now > min(until, cut):
                cause = f"took longer than {self._limits.seconds:g} s" if now > until else _STOPPED
                raise OSError(f"{self._what} {cause}")
            if cut == inf and stop is not None and stop():
                cut = now + self._limits.cut_seconds


def _ending(status: int) -> str:
    if status == NO_MEMORY:
        return "needs more memory than it may have"
    if status >= 0:
        return "failed"
    if status == -signal.SIGKILL:
        return "was killed: it computed longer than it may, or the machine's memory was used up"
    known = -status in {int(number) for number in signal.Signals}
    return f"was ended by signal {signal.Signals(-status).name if known else -status}"


class _Server:
    """The process that forks for each reading; one that was killed is replaced."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  (our own program)
                [sys.executable, "-I", "-c", _PROGRAM, _OURS, str(theirs.fileno())],
                cwd="/",
                env={**PLAIN_ENVIRONMENT, **_ALONE},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for us to handle
            )

    def ask(self, name: str, descriptors: Sequence[int]) -> None:
        """One reading more.

        Raises:
            OSError: it cannot be started any more.
        """
        try:
            socket.send_fds(self._control, [name.encode()], list(descriptors))
        except OSError:
            self.close()
            self._start()
            socket.send_fds(self._control, [name.encode()], list(descriptors))

    def close(self) -> None:
        """Ends it, and all that still reads."""
        self._control.close()
        self._process.wait()


@cache
def _server() -> _Server:
    """One a run, started when something is to be read first."""
    server = _Server()
    atexit.register(server.close)
    return server
