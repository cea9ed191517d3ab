"""Starts our commands again and again from one process that has loaded everything, and kills them at a point.

    python -m tests.nursery [module ...]

Loading takes longer than most commands that tests start. Reads one line of JSON for each start:
{"words": [...], "folder": "...", "environ": {...}, "out": "...", "err": "...", "at": 17}
and answers with one: {"status": -9, "acts": 120, "seconds": 0.8}. A child is killed before its `at`-th act
(opening a file to write, renaming, removing, a connection, a request, a process), or after so many seconds of
CPU time (`after`); with neither it ends by itself. `jump`: seconds by which the clock of the wall jumps, to
and fro, with each look at it. `out`, `err`: files to which its words are added. The modules are loaded too.
"""

from __future__ import annotations

import atexit
import datetime
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

CODE = Path(__file__).resolve().parents[1]
"""The code beside these tests is run, whatever is installed."""
PATIENCE = 600
"""Only for a failing test: no command here takes so many seconds even on a slow machine with other work."""

ACTS = frozenset(
    (
        *("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate", "os.chmod"),
        *("socket.connect", "http.client.send", "subprocess.Popen", "os.posix_spawn"),
    )
)
LOADED = (
    *("bot.compose.bisecting", "bot.compose.measuring", "bot.compose.nightly", "bot.compose.remembering"),
    *("bot.adapters.github.artifacts", "bot.adapters.github.checks", "bot.report.render"),
    *("bot.commands.application", "bot.commands.action", "bot.commands.publish"),
)
PICTURES = ("bot.report.pictures", "matplotlib.figure")
LEARNING = ("sklearn.linear_model", "sklearn.ensemble", "scipy.stats")


class Nursery:
    """The process that starts our commands, and kills them where it is told to."""

    def __init__(self, modules: Sequence[str] = PICTURES) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.nursery", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=CODE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # a child has no threads but its own
        )

    def close(self) -> None:
        """Lets it end."""
        self._process.communicate()

    def start(
        self, words: Sequence[str], folder: Path, environ: dict[str, str], **how: Any
    ) -> dict[str, Any]:
        """Runs one command to its end, or to its killing (`at` an act, `after` seconds of CPU time)."""
        assert self._process.stdin is not None and self._process.stdout is not None
        given = {"PATH": os.environ["PATH"], "HOME": str(folder), **environ}
        asked = {"words": list(words), "folder": str(folder), "environ": given, **how}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


class Counter:
    """Counts acts as an audit hook, and ends the process before a chosen one."""

    def __init__(self, at: int | None) -> None:
        self.acts, self._at = 0, at

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ACTS and not (event == "open" and _writes(arguments)):
            return
        self.acts += 1
        if self.acts == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


def _writes(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def child(asked: dict[str, Any], answer: int) -> None:
    """One command from its first to its last line."""
    from bot.__main__ import main

    _settled(asked)
    counter = Counter(asked.get("at"))
    sys.addaudithook(counter)
    if asked.get("after"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, asked["after"])
    if asked.get("jump"):
        _jumping(asked["jump"])
    began = time.process_time()
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        told = {"acts": counter.acts, "seconds": time.process_time() - began}
        os.write(answer, json.dumps(told).encode())
    _end(code)


def _end(code: int) -> NoReturn:
    """As any command ends, but no module is taken apart: each page of what was loaded would be copied."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _settled(asked: dict[str, Any]) -> None:
    """Makes this process as it would be had the command been started where it was asked for."""
    os.setsid()
    signal.alarm(PATIENCE)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    tempfile.tempdir = None
    log = str(Path(asked["folder"]) / "said.log")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for number, name in ((1, "out"), (2, "err")):
        with Path(asked.get(name, log)).open("ab") as told:
            os.dup2(told.fileno(), number)
    sys.argv = ["suspects", *asked["words"]]


def _jumping(seconds: float) -> None:
    """Every second look at the clock of the wall is off; the monotonic clock is not."""
    looks, honest = count(), time.time

    class Jumping(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Jumping:
            return cls.fromtimestamp(time.time(), tz)

    time.time = lambda: honest() + seconds * (next(looks) % 2)
    for module in list(sys.modules.values()):
        if getattr(module, "datetime", None) is datetime.datetime and module is not datetime:
            module.datetime = Jumping  # type: ignore[attr-defined]


def serve(modules: Sequence[str]) -> None:
    """Until the standard input ends; a child returns, and ends as any command does."""
    for name in (*LOADED, *modules):
        import_module(name)
    gc.freeze()  # no child looks through what it shares, which would copy it
    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(reading)
            return child(json.loads(line), writing)
        os.close(writing)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(reading) as told:
            text = told.read()
        answer = {"status": os.waitstatus_to_exitcode(status), **json.loads(text or "{}")}
        print(json.dumps(answer), flush=True)  # noqa: T201
    return None


if __name__ == "__main__":
    serve(sys.argv[1:])
