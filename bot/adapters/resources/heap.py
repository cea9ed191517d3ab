"""Peak of the heap: the most bytes that one process of a trial had from malloc at a time."""

from __future__ import annotations

import os
import re
from typing import Annotated

from pydantic import Field

from bot.adapters.builds import checkout
from bot.adapters.profilers.evidence import folder_for
from bot.adapters.profilers.launching import launch
from bot.adapters.reading.reader_child import Descriptor
from bot.adapters.resources.around import seeded
from bot.adapters.resources.streaming import stream
from bot.model.profiles import Target

LIBRARY = "libmemusage.so"
"""Comes with the GNU C library."""
SLOWDOWN = 10.0
MOST_LINE, PIECE = 1 << 12, 1 << 20

_PEAK = re.compile(rb"heap total: \d{1,18}, heap peak: (\d{1,18}), stack peak: \d")
_ERRORS_ONLY = 'errors=$1; shift; exec "$@" >/dev/null 2>"$errors"'


class Peaks:
    """Finds in a program's errors what the library writes as a process ends; `largest`: bytes, or None."""

    def __init__(self) -> None:
        self.largest: float | None = None
        self._rest = b""

    def add(self, data: bytes) -> None:
        """The next piece of output."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:MOST_LINE]
        for line in lines:
            if (found := _PEAK.search(line[:MOST_LINE])) is not None:
                self.largest = max(self.largest or 0.0, float(found[1]))


def find_peak(pipe: Descriptor, tell: Descriptor) -> Annotated[float, Field(ge=0, lt=1e18)] | None:
    """A reader of a program's errors."""
    del tell
    peaks = Peaks()
    while data := os.read(pipe, PIECE):
        peaks.add(data)
    return peaks.largest


def heap_peak(target: Target) -> float | None:
    """Bytes, from one more trial at about its usual speed; None: not known.

    Not known of static programs, of other C libraries, and when the trial fails. Of Python, all objects; of
    runtimes with a heap of their own (Node, JVM), only what they have beside it.

    Raises:
        OSError: its folders could not be made ready.
    """
    folder = folder_for(target, "heap")
    pipe = folder / "errors"
    preload = " ".join(filter(None, (LIBRARY, target.env.get("LD_PRELOAD"))))
    env = {"LD_PRELOAD": preload, "PYTHONMALLOC": "malloc", **seeded(target)}
    try:
        with stream(pipe, target, find_peak) as errors:
            words = ["sh", "-c", _ERRORS_ONLY, "sh", str(pipe), *target.words]
            launched = launch(target, words, env=env, slowdown=SLOWDOWN, one_core=target.one_core)
        try:
            largest = errors.answer(target.stop)
        except OSError:  # what the program said cannot be read, or there was too much of it
            largest = None
    finally:
        checkout.remove(folder)
    return largest if launched.outcome == "ok" else None
