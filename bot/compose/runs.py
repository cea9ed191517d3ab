"""What one run holds until it ends, and what asks it to end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType


@dataclass(frozen=True)
class Run:
    """What ends with a run: the flag that asks it to, what it opened, and its temporary folder."""

    stop: threading.Event
    stack: ExitStack
    folder: Path


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set: the run ends early with an honest, partial report.

    A second signal has its usual effect. Outside the main thread signals are left alone.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        for number, handler in previous.items():
            signal.signal(number, handler)

    for number in previous:
        signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
