"""Runs readers of what strangers wrote, each reading in a fork of its own that can only read and answer."""

# A process of its own, started once with nothing of ours in its environment. It never looks at what is read:
# what one reading did to its reader is gone with the fork, so that no side can lie about the other.

from __future__ import annotations

import inspect
import json
import os
import resource
import selectors
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, NewType, NoReturn, get_type_hints

from pydantic import TypeAdapter

from bot.adapters.processes import confine

Descriptor = NewType("Descriptor", int)
"""An open file that a reader is handed; its parameters for these come first."""
ANSWER, ERROR = b"A", b"E"
"""What is said begins with one of these: a value in JSON, or why there is none."""
MOST_ERROR = 1000
FAILED, NO_MEMORY = 3, 4
"""Exit codes of a fork; Python's own are 1 and 2."""
_MOST_NAME, _MOST_DESCRIPTORS = 4096, 16
_LEASH, _REQUEST, _ANSWER, _FIRST = range(4)
"""Places of descriptors in a request: where we are told to end a fork and tell its status, what it is asked,
where it answers, and the first of those that its reader is handed."""


class Call(NamedTuple):
    """A reader as both sides know it, and what its annotations say of its arguments and its answer."""

    function: Callable[..., Any]
    arguments: TypeAdapter[tuple[Any, ...]]
    answer: TypeAdapter[Any]


@cache
def call_of(name: str) -> Call:
    """The function `module:name`."""
    module, _, own = name.partition(":")
    function = getattr(import_module(module), own)
    hints = get_type_hints(function, include_extras=True)
    kinds = [hints[parameter] for parameter in inspect.signature(function).parameters]
    plain: Any = tuple(kind for kind in kinds if kind is not Descriptor)
    arguments: Any = tuple.__class_getitem__(plain)
    return Call(function, TypeAdapter(arguments), TypeAdapter(hints["return"]))


def serve(asked: int) -> None:
    """Forks for each request on a socket, until nobody can ask any more; then what still reads is killed."""
    control = socket.socket(fileno=asked)
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    forks: dict[int, int] = {}  # by leash
    with selectors.DefaultSelector() as selector:
        for first in (control.fileno(), woken):
            selector.register(first, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == control.fileno():
                    name, given, *_ = socket.recv_fds(control, _MOST_NAME, _MOST_DESCRIPTORS)
                    if not name:
                        return  # with us ends what we forked
                    forks[given[_LEASH]] = _fork(call_of(name.decode()), given)
                    selector.register(given[_LEASH], selectors.EVENT_READ)
                elif key.fd == woken:
                    os.read(woken, 4096)
                    for leash in _reap(forks):
                        with suppress(KeyError):
                            selector.unregister(leash)
                        os.close(leash)
                elif key.fd in forks:  # its other end is gone
                    selector.unregister(key.fd)
                    _kill(forks[key.fd])


def _reap(forks: dict[int, int]) -> Iterator[int]:
    """Leashes of forks that have ended, which are told how."""
    for leash, pid in list(forks.items()):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            _kill(pid)  # what it may have left, where no filter kept it from that
            del forks[leash]
            with suppress(OSError):
                os.write(leash, str(os.waitstatus_to_exitcode(status)).encode())
            yield leash


def _kill(pid: int) -> None:
    """Ends a fork and its session, also before it has one."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)


def _fork(call: Call, given: Sequence[int]) -> int:
    pid = os.fork()
    if pid == 0:
        _read(call, given)
    for descriptor in given[_REQUEST:]:
        os.close(descriptor)
    return pid


def _read(call: Call, given: Sequence[int]) -> NoReturn:
    """The fork: gives up what it can do, reads, and answers."""
    status = FAILED
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with open(given[_REQUEST], "rb") as file:  # noqa: PTH123
            spec, arguments = file.read().split(b"\n")
        values = call.arguments.validate_json(arguments)
        _close_others({given[_ANSWER], *given[_FIRST:]})
        with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
            file.write("1000")
        confine.confine(json.loads(spec))
        confine.die_with_parent()
        said = _said(call, (*given[_FIRST:], *values))
        with open(given[_ANSWER], "wb") as file:  # noqa: PTH123
            file.write(said)
        status = 0
    except MemoryError:
        status = NO_MEMORY
    finally:
        os._exit(status)


def _said(call: Call, values: Sequence[Any]) -> bytes:
    try:
        return ANSWER + call.answer.dump_json(call.function(*values))
    except (OSError, ValueError) as error:
        return ERROR + str(error).encode("utf-8", "replace")[:MOST_ERROR]


def _close_others(kept: set[int]) -> None:
    """Leashes of other readings, say, and where we are asked for them; standard streams lead nowhere."""
    first = 3
    for last in (*sorted(kept), resource.getrlimit(resource.RLIMIT_NOFILE)[0]):
        os.closerange(first, last)
        first = last + 1
