"""Reads what a tool writes into a named pipe while it runs, so that its size does not matter."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.adapters import checkout
from bot.model.sites import Account

PIECE = 1 << 20
LOOK_SECONDS = 0.05


@contextmanager
def stream(pipe: Path, take: Callable[[bytes], None], *, account: Account | None) -> Iterator[None]:
    """Makes a pipe that only the account may write to; `take` gets, in a thread, what comes meanwhile.

    Nobody may have the pipe open any more when the block ends: what is left in it is read then.

    Raises:
        OSError: it cannot be made.
    """
    os.mkfifo(pipe, 0o600)
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        checkout.give(pipe, account)
        over = threading.Event()
        thread = threading.Thread(target=_drain, args=(handle, take, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
    finally:
        os.close(handle)


def _drain(handle: int, take: Callable[[bytes], None], over: threading.Event) -> None:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    while True:
        last = over.is_set()
        data = b""
        if poll.poll(0 if last else LOOK_SECONDS * 1000):
            try:
                data = os.read(handle, PIECE)
            except BlockingIOError:
                data = b""
            if not data and not last:
                over.wait(LOOK_SECONDS)  # a pipe that had writers and has none is always ready
        if data:
            take(data)
        elif last:
            return
