"""Starts our commands again and again from one process that has loaded everything, and kills them at a point.

    python -m tests.reliability.nursery

Reads one line of JSON for each start: {"words": [...], "folder": "...", "environ": {...}, "at": 17}
and answers with one: {"status": -9, "acts": 120, "seconds": 0.8}. A child is killed before its `at`-th act
(opening a file to write, renaming, removing, a connection, a request, a process), or after so many seconds of
CPU time (`after`); with neither it ends by itself. `jump`: seconds by which the clock of the wall jumps, to
and fro, with each look at it. `log`: where its words go.
"""

from __future__ import annotations

import datetime
import json
import os
import signal
import sys
import time
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

ACTS = frozenset(
    (
        *("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate", "os.chmod"),
        *("socket.connect", "http.client.send", "subprocess.Popen", "os.posix_spawn"),
    )
)
LOADED = (
    *("bot.compose.bisecting", "bot.compose.measuring", "bot.compose.nightly", "bot.compose.remembering"),
    *("bot.adapters.artifacts", "bot.adapters.github_checks", "bot.report.render", "bot.report.pictures"),
    *("bot.commands.application", "bot.commands.action", "bot.commands.publish", "matplotlib.figure"),
)


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

    os.setsid()
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    with Path(asked.get("log", "said.log")).open("ab") as log:
        for number in (1, 2):
            os.dup2(log.fileno(), number)
    sys.argv = ["suspects", *asked["words"]]
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
    finally:
        told = {"acts": counter.acts, "seconds": time.process_time() - began}
        os.write(answer, json.dumps(told).encode())


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


def serve() -> None:
    """Until the standard input ends."""
    for name in LOADED:
        import_module(name)
    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            code = 1
            try:
                child(json.loads(line), writing)
            except SystemExit as ended:
                code = int(ended.code or 0)
            finally:
                os._exit(code)
        os.close(writing)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(reading) as told:
            text = told.read()
        answer = {"status": os.waitstatus_to_exitcode(status), **json.loads(text or "{}")}
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    serve()
