"""Which inputs no trial has opened, or none at one revision, by inotify: there it may have done nothing."""

from __future__ import annotations

import ctypes
import os
import struct
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from bot.model.subject import Program, Subject
from bot.model.trials import UNREAD, Side, Trial

_OPENED, _ONCE = 0x20, 1 << 31
_IGNORED, _OVERFLOW = 0x8000, 0x4000
"""A watch has ended; more happened than the kernel kept."""
_EVENT = struct.Struct("=iIII")
SUSPICIOUS, SURE = 0.5, 4
"""Share of base's CPU time below which head may have done nothing; and how often it is tried then, because
another core's trial may open the input meanwhile."""
_MOST_FOLDERS = 1000
"""Folders of one input that are watched; arbitrary. With more, nothing is said of it."""

_libc = ctypes.CDLL(None, use_errno=True)


class Unread:
    """Watches the inputs that `run` hands to the program; of what the kernel cannot watch it says nothing."""

    def __init__(self, subject: Subject, files: Mapping[str, Path]) -> None:
        """`files`: where each workload was laid; watched until it is opened once, and again by `watch`."""
        program = subject.program
        handed = isinstance(program, Program) and "{workload}" in program.run
        self._paths = {name: workload.path for name, workload in subject.workloads.items()}
        self._ran: set[str] = set()
        self._names: dict[int, str] = {}
        self._openings: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        """Watches of an input that ended: it was opened, or is gone."""
        self._looked: Counter[tuple[str, Side, bool]] = Counter()
        """Trials that ended well, alone: of an input and a side, and whether somebody opened it meanwhile."""
        self._queue = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC) if handed else -1
        watched = self._paths.keys() & files.keys() if self._queue >= 0 else set()
        places = {name: _places(files[name]) for name in sorted(watched)}
        self._places = {name: some for name, some in places.items() if self._watch(name, some)}

    def watch(self, workload: str | None) -> int:
        """Watches an input once more: what happened to it before the trial that begins now, as a number."""
        self._read()
        if workload in self._places and not self._watch(workload, self._places[workload]):
            del self._places[workload]
        return self._happened(workload)

    def _happened(self, workload: str | None) -> int:
        # A watch may still end that was asked for again when its last opening was only half told.
        return self._openings[workload] + self._ended[workload] if workload is not None else 0

    def judged(self, trial: Trial, workload: str | None, before: int, side: Side, *, ranged: bool) -> Trial:
        """A trial that was run alone, since `watch` answered `before`; ranged: head is one of many revisions.

        Of these, one that ended well and opened nothing gives no value, if base always opens its input: it
        would be told to be as quick as a program that does nothing. What other trials open meanwhile only
        hides that.
        """
        if not trial.ok or workload is None:
            return trial
        self._ran.add(workload)
        self._read()
        idle = workload in self._places and self._happened(workload) == before
        if idle and ranged and side == "head" and not self._looked[workload, "base", False]:
            said = f"it ended well and never opened `{self._paths[workload]}`: it may have done nothing"
            return Trial("unparsable", detail=said)
        self._looked[workload, side, not idle] += 1
        return trial

    @staticmethod
    def doubts(trial: Trial, base: Trial | None) -> bool:
        """Whether a trial of head that was judged well is so quick beside base's that it may be idle."""
        took = [each.metrics.get("cpu", 0.0) for each in (trial, base) if each is not None and each.ok]
        return len(took) == 2 and took[0] < SUSPICIOUS * took[1]

    def notes(self) -> list[str]:
        """A sentence for each input that trials were handed and none has opened, or none of head."""
        self._read()
        found = []
        for name in sorted(self._places.keys() & self._ran):
            where = " at head, where base does," if self._openings[name] else ","
            if not self._openings[name] or self._only_base(name):
                found.append(
                    f"{UNREAD} `{self._paths[name]}` (workload `{name}`){where} though its path was handed"
                    " over and trials ended well: the program may have done nothing. Try `run` by hand."
                )
        return found

    def _only_base(self, name: str) -> bool:
        """Whether most of head's trials left an input alone that base always opens."""
        idle, busy = (self._looked[name, "head", opened] for opened in (False, True))
        return idle > busy and not self._looked[name, "base", False]

    def close(self) -> None:
        """Takes in what was opened so far, and watches no more."""
        self._read()
        if self._queue >= 0:
            os.close(self._queue)
            self._queue = -1

    def _watch(self, name: str, places: list[Path]) -> bool:
        """Watches all places of an input; whether an opening cannot be missed."""
        numbers = [_libc.inotify_add_watch(self._queue, os.fsencode(one), _OPENED | _ONCE) for one in places]
        self._names |= dict.fromkeys(numbers, name)
        return len(places) <= _MOST_FOLDERS and min(numbers) >= 0

    def _read(self) -> None:
        if self._queue < 0:
            return
        with suppress(BlockingIOError):
            while events := os.read(self._queue, 1 << 16):
                at = 0
                while at < len(events):
                    number, mask, _, length = _EVENT.unpack_from(events, at)
                    at += _EVENT.size + length
                    if mask & _OVERFLOW:
                        self._openings.update(self._names.values())
                    elif number in self._names:  # else two opened it at once, and this is the second one
                        counter = self._openings if mask & _OPENED else self._ended
                        counter[self._names[number]] += 1
                        if mask & _IGNORED:
                            del self._names[number]


def _places(file: Path) -> list[Path]:
    """A file, or a folder with all that are below it, which are listed once: to list them opens them."""
    found = chain([file], (Path(top, one) for top, folders, _ in os.walk(file) for one in folders))
    return list(islice(found, _MOST_FOLDERS + 1))
