"""Has what a tool writes into a named pipe read while it runs, so that its size does not matter."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from bot.adapters.builds import checkout
from bot.adapters.reading.reader import LIMITS, Reading
from bot.model.profiles import Target

T = TypeVar("T")
CPU_SECONDS = 3600
"""Of a reader, which works as long as the trial does."""


class Stream(Generic[T]):
    """What a reader makes of a pipe; it can say one thing while it reads."""

    def __init__(self, reading: Reading[T], heard: int) -> None:
        self._reading, self._heard = reading, heard
        self._poll = select.poll()
        self._poll.register(heard, select.POLLIN)

    @property
    def told(self) -> bool:
        """Whether the reader has said that one thing, or has ended."""
        return bool(self._poll.poll(0))

    def answer(self, stop: Callable[[], bool] | None = None) -> T:
        """What it says in the end: after the block, when nobody writes into the pipe any more.

        Raises:
            OSError: there is none, in one line.
        """
        try:
            with self._reading:
                return self._reading.answer(stop)
        finally:
            os.close(self._heard)


@contextmanager
def stream(pipe: Path, target: Target, function: Callable[..., T], *arguments: object) -> Iterator[Stream[T]]:
    """Makes a pipe that only the target's account may write to; `function` reads it in a fork without rights.

    function: a reader of two descriptors, the pipe and one to say one thing on, and `arguments`. After the
    block nobody may have the pipe open any more, and `answer` has to be asked for.

    Raises:
        OSError: it cannot be made, or read.
    """
    os.mkfifo(pipe, 0o600)
    given = [os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)]
    # While we could write, it has no end.
    open_end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    heard, tell = os.pipe2(os.O_CLOEXEC)
    try:
        given.append(tell)
        os.set_blocking(given[0], True)
        checkout.give(pipe, target.account)
        limits = LIMITS._replace(cpu_seconds=CPU_SECONDS)
        reading = Reading(
            function, *arguments, descriptors=given, files=[], account=target.account, limits=limits
        )
        for descriptor in given:
            os.close(descriptor)
        given.clear()
        try:
            yield Stream(reading, heard)
        except BaseException:
            reading.close()
            raise
    except BaseException:
        os.close(heard)
        raise
    finally:
        for descriptor in (*given, open_end):
            os.close(descriptor)
