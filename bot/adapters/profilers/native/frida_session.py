"""Watches calls in a program through Frida; as a program of its own, it starts the other one for that."""

# Runs in the trial's account, too, where nothing of ours can be imported: standard library and Frida only.

from __future__ import annotations

import json
import os
import queue
import resource
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar, cast

FUNCTIONS, CALLS, END = "functions", "calls", "end"
"""Files of a started program: what to watch, the calls of each that it becomes, how it ended."""
MOST_PROGRAMS = 200
"""Further ones are not watched."""
EVERY = (1 << 32) - 1
_PARENT = """\
import fcntl, os, signal, sys
given = [int(word) for word in sys.argv[1:3]]
gate, tell = (fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 10) for one in given)
program = os.fork()
if program == 0:
    for one in given:
        os.close(one)
    os.dup2(gate, 3)
    os.dup2(tell, 4)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    wait = 'echo "at $$" >&4; read _ <&3; '
    become = 'unset TMPDIR; test -z "$0" || export TMPDIR="$0"; exec "$@" 3<&- 4>&-'
    os.execv("/bin/sh", ["sh", "-c", wait + become, *sys.argv[3:]])
os.write(tell, b"ended %d\\n" % os.waitpid(program, 0)[1])
"""
"""Starts a shell that waits until Frida is there and then becomes the program; tells how that ended.

The shell says itself that it is there: Frida must not come while the process is only becoming the shell.
A process of its own: Frida would take a child's status away from us.
"""
Functions: TypeAlias = "Mapping[int, tuple[str, int]]"
"""Number, from 1 -> path of the object file, place in its memory."""
Still: TypeAlias = "Callable[[Sequence[int]], AbstractContextManager[None]]"
_GONE_SECONDS, _POLL_SECONDS, _STILL_SECONDS, _ANSWER_SECONDS = 5.0, 0.02, 2.0, 60.0
_Answer = TypeVar("_Answer")
_HERE = Path(__file__).parent


@contextmanager
def _told() -> Iterator[None]:
    """Frida's exceptions, which have no base of their own, as OSError."""
    import frida

    kinds = [kind for kind in vars(frida).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    try:
        yield
    except tuple(kinds) as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


def _answered(call: Callable[[], _Answer]) -> _Answer:
    """What Frida answers; it knows no time limit of its own, and its agent may wait for what never comes.

    Raises:
        OSError: it does not answer, or fails.
    """
    answers: queue.SimpleQueue[tuple[_Answer | None, OSError | None]] = queue.SimpleQueue()

    def ask() -> None:
        try:
            with _told():
                answers.put((call(), None))
        except OSError as error:
            answers.put((None, error))  # raised where the answer is waited for

    threading.Thread(target=ask, daemon=True).start()  # not a pool's, which would be waited for at the end
    try:
        answer, error = answers.get(timeout=_ANSWER_SECONDS)
    except queue.Empty:
        raise OSError("Frida does not answer") from None
    if error is not None:
        raise error
    return cast("_Answer", answer)


def _attached(frida: Any, pid: int) -> Any:
    """Frida's session in a process; a busy machine may need a second try."""
    with suppress(frida.TimedOutError, frida.TransportError, frida.ProcessNotRespondingError):
        return frida.attach(pid)
    return frida.attach(pid)


class Session:
    """Frida inside of one process; `received` is given what hooks recorded, from a thread of Frida's.

    becoming: programs that it becomes are stopped at their begin, for whoever listens.
    refused: numbers of functions without room for a hook.

    Raises (all of it):
        OSError: the process is gone, or may not be looked into.
    """

    @_told()
    def __init__(self, pid: int, received: Callable[[bytes], None], *, becoming: bool = False) -> None:
        import frida

        self.refused: set[int] = set()
        self.errors: list[str] = []
        self._addresses: list[int] = []
        self.gone = threading.Event()
        self._received = received
        self._session = _attached(frida, pid)
        self._session.on("detached", self._detached)
        if becoming:
            self._session.enable_child_gating()
        self._script = self._session.create_script((_HERE / "frida_agent.js").read_text(encoding="utf-8"))
        self._script.on("message", self._message)
        self._script.load()

    @_told()
    def watch(
        self, functions: Functions, *, most: int = EVERY, still: Still = lambda _: nullcontext()
    ) -> None:
        """Hooks functions. most: calls of a thread that are recorded until they are unhooked.

        still: while it lasts, no thread is at these addresses of code.
        """
        hooks = (_HERE / "frida_hooks.c").read_text(encoding="utf-8")
        places = [[path, offset, number] for number, (path, offset) in functions.items()]
        prepared = _answered(lambda: self._script.exports_sync.prepare(hooks, places))
        self._addresses = [int(a, 16) for a in prepared]
        self._while_still(still, lambda: self._script.exports_sync.hook(most))
        _answered(self._script.exports_sync.begin)

    @_told()
    def unwatch(self, still: Still = lambda _: nullcontext()) -> int:
        """Takes the hooks away; how many calls were not recorded since we are there.

        Nor are those that are still open.
        """
        self._while_still(still, self._script.exports_sync.unhook)
        return int(_answered(self._script.exports_sync.end))

    def _while_still(self, still: Still, change: Callable[[], object]) -> None:
        with ThreadPoolExecutor(1) as pool:
            with still(self._addresses):
                changed = pool.submit(_answered, change)
                wait([changed], _STILL_SECONDS)  # a thread that stands may hold what Frida waits for
            changed.result()

    @_told()
    def guests(self, threads: Sequence[int]) -> Sequence[int]:
        """Which of these threads are Frida's."""
        return [int(one) for one in _answered(lambda: self._script.exports_sync.guests(list(threads)))]

    @_told()
    def detach(self) -> None:
        """Leaves the process."""
        self._session.detach()

    def _message(self, message: Mapping[str, Any], data: bytes | None) -> None:
        if data is not None:
            self._received(data)
        elif message["type"] == "error":
            self.errors.append(str(message.get("description")))
        elif message["payload"].get("type") == "refused":
            self.refused.add(int(message["payload"]["id"]))

    def _detached(self, *_: object) -> None:
        self.gone.set()


class Starter:
    """Starts a program and follows it: each that it becomes (exec) is watched from its begin.

    The calls of each are written to a file of its own in the folder.
    """

    def __init__(self, folder: Path, functions: Functions) -> None:
        import frida

        self._frida = frida
        self._folder, self._functions = folder, functions
        self._begun: queue.SimpleQueue[tuple[int, bool]] = queue.SimpleQueue()
        self._sessions: list[Session] = []
        self._files: list[BinaryIO] = []
        self._errors: list[str] = []
        self._device = frida.get_local_device()  # kept, or nobody is told
        self._device.on("child-added", lambda child: self._begun.put((child.pid, child.origin == "fork")))

    @_told()
    def run(self, words: Sequence[str], temporary: str) -> Mapping[str, object]:
        """Says how the program ended, and what could not be watched. temporary: its TMPDIR, "": none."""
        gate, go = os.pipe()
        told, tell = os.pipe()
        parent = [sys.executable, "-I", "-S", "-c", _PARENT, str(gate), str(tell), temporary, *words]
        subprocess.Popen(parent, pass_fds=(gate, tell))  # noqa: S603
        os.close(tell)
        with os.fdopen(told, encoding="ascii") as answers:
            word, _, number = answers.readline().partition(" ")
            if word != "at":
                raise OSError("the shell that is to become the program does not run")
            shell = _attached(self._frida, int(number))
            shell.enable_child_gating()
            os.write(go, b"\n")
            while not select.select([told], [], [], 0.0)[0]:
                self._follow()
            status = int(answers.readline().split()[1])
        for session in self._sessions:
            session.gone.wait(_GONE_SECONDS)
        for file in self._files:
            file.close()
        errors = [*self._errors, *(error for session in self._sessions for error in session.errors)]
        refused = set().union(*(session.refused for session in self._sessions))
        return {"status": status, "refused": sorted(refused), "errors": errors[:3]}

    def _follow(self) -> None:
        """Watches the next program that began, if there is one soon."""
        try:
            pid, forked = self._begun.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            return
        try:
            if not forked and len(self._sessions) < MOST_PROGRAMS:
                file = (self._folder / f"{CALLS}{len(self._files)}").open("wb")
                self._files.append(file)
                session = Session(pid, _writer(file), becoming=True)
                self._sessions.append(session)
                session.watch(self._functions)
        except OSError as error:
            self._errors.append(str(error))
        with suppress(OSError), _told():  # it has ended
            self._frida.resume(pid)


def _writer(file: BinaryIO) -> Callable[[bytes], None]:
    def write(data: bytes) -> None:
        if not file.closed:
            file.write(data)

    return write


def main(folder: Path, temporary: str, words: Sequence[str]) -> None:
    """Beside how the program ended, what this one took itself: it is none of the trial's."""
    table = json.loads((folder / FUNCTIONS).read_text(encoding="utf-8"))
    try:
        ended = dict(
            Starter(folder, {int(number): (path, at) for number, (path, at) in table.items()}).run(
                words, temporary
            )
        )
    except (OSError, ValueError) as error:  # ValueError: the program could not even be started
        ended = {"error": str(error)}
    used = resource.getrusage(resource.RUSAGE_SELF)
    ended["cpu"] = used.ru_utime + used.ru_stime
    (folder / END).write_text(json.dumps(ended), encoding="utf-8")


if __name__ == "__main__":
    # A folder that has Frida, unless this Python has it.
    sys.path[:0] = filter(None, [sys.argv[2]])
    main(Path(sys.argv[1]), sys.argv[3], sys.argv[4:])
