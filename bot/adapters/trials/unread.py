"""Which inputs no trial has opened, by the kernel's inotify: such a program may have done nothing."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from bot.model.subject import Program, Subject
from bot.model.trials import UNREAD

_OPENED, _ONCE = 0x20, 1 << 31
_EVENT = struct.Struct("=iIII")
_MOST_FOLDERS = 1000
"""Folders of one input that are watched; arbitrary. With more, nothing is said of it."""

_libc = ctypes.CDLL(None, use_errno=True)


class Unread:
    """Watches the inputs that `run` hands to the program; of what the kernel cannot watch it says nothing."""

    def __init__(self, subject: Subject, files: Mapping[str, Path]) -> None:
        """`files`: where each workload was laid; watched from now on, each until it is opened once."""
        program = subject.program
        handed = isinstance(program, Program) and "{workload}" in program.run
        self._paths = {name: workload.path for name, workload in subject.workloads.items()}
        self._ran: set[str] = set()
        self._names: dict[int, str] = {}
        self._queue = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC) if handed else -1
        watched = self._paths.keys() & files.keys() if self._queue >= 0 else set()
        self._unopened = {name for name in sorted(watched) if self._watch(name, files[name])}

    def ran(self, workload: str | None) -> None:
        """A trial that was handed this workload ended well."""
        if workload is not None:
            self._ran.add(workload)

    def notes(self) -> list[str]:
        """A sentence for each input that trials were handed and none has opened."""
        self._read()
        return [
            f"{UNREAD} `{self._paths[name]}` (workload `{name}`), though its path was handed over and"
            " trials ended well: the program may have done nothing. Try `run` by hand."
            for name in sorted(self._unopened & self._ran)
        ]

    def close(self) -> None:
        """Takes in what was opened so far, and watches no more."""
        self._read()
        if self._queue >= 0:
            os.close(self._queue)
            self._queue = -1

    def _watch(self, name: str, file: Path) -> bool:
        """A file, or a folder with all that are below it; whether an opening cannot be missed."""
        places = chain([file], (Path(top, one) for top, folders, _ in os.walk(file) for one in folders))
        some = list(islice(places, _MOST_FOLDERS + 1))
        numbers = [_libc.inotify_add_watch(self._queue, os.fsencode(one), _OPENED | _ONCE) for one in some]
        self._names |= dict.fromkeys(numbers, name)
        return len(some) <= _MOST_FOLDERS and min(numbers) >= 0

    def _read(self) -> None:
        if self._queue < 0:
            return
        with suppress(BlockingIOError):
            while events := os.read(self._queue, 1 << 16):
                at = 0
                while at < len(events):
                    number, _, _, length = _EVENT.unpack_from(events, at)
                    at += _EVENT.size + length
                    self._unopened.discard(self._names.get(number, ""))
