"""Runs a target's command, or a tool around it, as a trial runs: account, environment, limits, no network."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import TypeVar

from bot.adapters.builds import checkout
from bot.adapters.processes.process import PLAIN_ENVIRONMENT, Ended, run
from bot.adapters.processes.readable import Box, readable
from bot.adapters.profilers.evidence import MOST_ANSWER, folder_for, told
from bot.adapters.reading.reader import LIMITS
from bot.model.profiles import Target
from bot.model.sites import Account
from bot.model.trials import Outcome

READING_SECONDS, POURING_SECONDS = 60.0, 600.0
READING_KIBIBYTES = 4 << 20
"""Time and memory of a tool that reads what a program left, which may be made to hurt it."""
_MOMENT_SECONDS = 10.0
"""How long a machine is taken to be as fast as it was."""
T = TypeVar("T")

_WITH_INPUT = 'input=$1; shift; exec "$@" <"$input"'
_INTO = 'exec "$@" >"$0"'
_BETWEEN_FILES = 'ulimit -v "$1"; ulimit -f "$2"; cd "$3"; shift 3; exec "$@" <asked >answer'


@dataclass(frozen=True)
class Launched:
    """How a profiled command ended, the CPU seconds of all its processes, and the tail of its output.

    cpu: tool included, what starts and supervises it not.
    """

    ended: Ended
    cpu: float
    outcome: Outcome


def another_fits(began: float, rounds: int, seconds: float) -> bool:
    """Whether one more round, as long as those since `began` were on average, ends within seconds of it."""
    return (time.monotonic() - began) * (1 + 1 / rounds) <= seconds


def launch(
    target: Target,
    words: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    slowdown: float = 1.0,
    one_core: bool = False,
) -> Launched:
    """Runs words in the target's place, its `fresh` folder emptied. `env` is added to the target's own.

    slowdown: factor by which the tool may lengthen the trial before it counts as timed out. one_core: all of
    its processes and threads share one. CPU seconds are right for one launch at a time.

    Raises:
        OSError: the fresh folder cannot be made.
    """
    command = list(words)
    if target.stdin is not None:
        command = ["sh", "-c", _WITH_INPUT, "sh", str(target.stdin), *command]
    if target.fresh is not None:
        _empty(target.fresh, target.account)
    moment = int(time.monotonic() / _MOMENT_SECONDS)
    floor = _floor(target.account, boxed=target.read is not None, moment=moment)
    before = _children_cpu()
    with _on_one_core() if one_core else nullcontext():
        ended = run(
            command,
            cwd=target.cwd,
            env={**target.env, **(env or {})},
            account=target.account,
            timeout=target.timeout * slowdown,
            box=_box(target),
            stop=target.stop,
        )
    outcome = ended.outcome
    if ended.exit_code is not None and outcome in ("ok", "exit"):
        outcome = "ok" if ended.exit_code in target.ok_exit else "exit"
    return Launched(ended, max(0.0, _children_cpu() - before - floor), outcome)


@contextmanager
def _on_one_core() -> Iterator[None]:
    """What this thread starts meanwhile inherits the last of its cores."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def ask(
    target: Target, words: Sequence[str], asked: bytes, read: Callable[[Path], T], *, partly: int = 0
) -> T:
    """What a reading tool (a demangler, say) answers to `asked`, its standard input, and `read` makes of it.

    Both run as the target's account in a plain environment: their input comes from the program under test.
    partly: the exit code with which it answers what it could find out.

    Raises:
        OSError: it failed, took too long, or had too much to say.
    """
    folder = folder_for(target, "reading")
    try:
        (folder / "asked").write_bytes(asked)
        limits = [str(READING_KIBIBYTES), str(MOST_ANSWER // 512)]
        ended = run(
            ["sh", "-c", _BETWEEN_FILES, "sh", *limits, str(folder), *words],
            cwd=Path("/"),
            env=PLAIN_ENVIRONMENT,
            account=target.account,
            timeout=READING_SECONDS,
            box=_box(target),
        )
        if ended.outcome != "ok" and (ended.outcome, ended.exit_code) != ("exit", partly):
            raise OSError(ended.reason(f"`{words[0]}`"))
        return told(target, read, folder / "answer", files=[folder])
    finally:
        checkout.remove(folder)


def pour(target: Target, words: Sequence[str], output: Path, source: Path) -> Ended:
    """Runs a reading tool as `ask` does, with its output into a pipe; source: what it reads."""
    box = _box(target)
    return run(
        ["sh", "-c", _INTO, str(output), *words],
        cwd=Path("/"),
        env=PLAIN_ENVIRONMENT,
        account=target.account,
        timeout=POURING_SECONDS,
        box=None if box is None else box._replace(read=(*box.read, source)),
        stop=_later(target),
    )


def _later(target: Target) -> Callable[[], bool]:
    """Asks the target whether it is over, and leaves some seconds then, as readers have them."""
    since = inf

    def stop() -> bool:
        nonlocal since
        if since == inf and target.over:
            since = time.monotonic()
        return time.monotonic() > since + LIMITS.cut_seconds

    return stop


def _box(target: Target) -> Box | None:
    """What a command at a target may touch: the words that are run need not be the target's."""
    if target.read is None:
        return None
    read = map(Path, readable(target.words, target.env, target.read))
    return Box((target.scratch, *target.write), tuple(read), "profiler")


def _empty(folder: Path, account: Account | None) -> None:
    checkout.remove(folder)
    folder.mkdir(mode=0o755)
    checkout.give(folder, account)


@lru_cache(maxsize=8)
def _floor(account: Account | None, *, boxed: bool, moment: int) -> float:  # noqa: ARG001  (a part of the key)
    """CPU seconds of launching nothing in this moment, for a machine slows down: the least of three."""
    spent = []
    for _ in range(3):
        before = _children_cpu()
        box = Box((), calls="profiler") if boxed else None
        run(["true"], cwd=Path("/"), env=PLAIN_ENVIRONMENT, account=account, timeout=READING_SECONDS, box=box)
        spent.append(_children_cpu() - before)
    return min(spent)


def _children_cpu() -> float:
    """CPU seconds of children that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
