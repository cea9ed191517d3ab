"""Sorts events of perf, which has numbers only, into classes of system calls."""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from bot.adapters.reading.reader_child import Descriptor
from bot.adapters.resources.call_classes import CallCounts, ToldCalls
from bot.adapters.resources.descriptors import OPENINGS, PAIRS, Arguments, Descriptors
from bot.model.resources import Count

PIECE = 1 << 20
MOST_LINE = 1 << 10
"""Bytes: names of threads, which have 15 at most, are all that is not a number in a line."""
_REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
"""What filters of calls answer: of these calls perf sees the end alone."""
_EXECUTING = frozenset({"execve", "execveat"})

_CALL = re.compile(
    rb" *(\d+)/(\d+) +raw_syscalls:sys_(?:enter: NR (-?\d+) \(([0-9a-f, ]+)\)|exit: NR (-?\d+) = (-?\d+)) *"
)
_TASK = re.compile(rb" *\d+/\d+ +PERF_RECORD_(?:FORK\((\d+):\d+\):\((\d+):\d+\)|EXIT\((\d+):(\d+)\).*)")
_LOST = re.compile(rb".{0,60} PERF_RECORD_LOST\w* lost (\d+)")


def count_events(pipe: Descriptor, tell: Descriptor, names: Mapping[int, str], first: int) -> ToldCalls:
    """A reader of what `perf script` writes."""
    del tell
    events = CallEvents(names, first)
    while data := os.read(pipe, PIECE):
        events.add(data)
    details = {count: dict(+names) for count, names in events.details.items()}
    return ToldCalls(details=details, lost=events.lost)


class _Pending(NamedTuple):
    """The last call that a thread began, and its class."""

    name: str
    arguments: Arguments
    counted: Count


def kept_ends(names: Mapping[int, str]) -> str:
    """The kernel's filter of ends of calls: those that open descriptors, execute, or were refused."""
    wanted = {*OPENINGS, *PAIRS, *_EXECUTING}
    numbers = sorted(number for number, name in names.items() if name in wanted)
    errors = (errno.EBADF, *_REFUSED)
    return "||".join([*(f"ret==-{error}" for error in errors), *(f"id=={number}" for number in numbers)])


class CallEvents(CallCounts):
    """Counts what process `first` calls from its first successful exec on, and all its threads and children.

    names: of calls by number. lost: events that the kernel had no room for.
    """

    def __init__(self, names: Mapping[int, str], first: int) -> None:
        super().__init__()
        self.lost = 0
        self._names, self._first, self._begun = names, first, False
        self._tables = {first: Descriptors()}  # by process
        self._threads = Counter([first])
        self._pending: dict[int, _Pending] = {}
        self._rest = b""

    def add(self, data: bytes) -> None:
        """The next piece of what `perf script` writes."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:MOST_LINE]
        for line in lines:
            if (found := _CALL.fullmatch(line)) is not None:
                process, thread = int(found[1]), int(found[2])
                if (table := self._tables.get(process)) is None:
                    continue
                if found[3] is not None:
                    arguments = [int(argument, 16) for argument in found[4].split(b",")]
                    self._enter(table, thread, self._name(found[3]), arguments)
                else:
                    self._exit(table, thread, self._name(found[5]), int(found[6]))
            elif (found := _TASK.fullmatch(line)) is not None:
                self._task(*map(int, found.groups(b"0")))
            elif (found := _LOST.fullmatch(line)) is not None:
                self.lost += int(found[1])

    def _name(self, number: bytes) -> str:
        return self._names.get(int(number), f"call_{number.decode()}".replace("-", "_"))

    def _enter(self, table: Descriptors, thread: int, name: str, arguments: Arguments) -> None:
        made_on = table.made_on(name, arguments)
        count = self.count(name, made_on) if self._begun else made_on
        self._pending[thread] = _Pending(name, arguments, count)
        table.entered(name, arguments)

    def _exit(self, table: Descriptors, thread: int, name: str, result: int) -> None:
        pending = self._pending.pop(thread, None)
        if name in _EXECUTING and result == 0:  # whichever thread of the process it was, it is the first now
            table.executed()
            if thread == self._first and not self._begun:
                self._begun = True
                self._tables[thread] = Descriptors()
                self.count(name, "other_calls")
        elif pending is None or pending.name != name:
            if self._begun and -result in _REFUSED:
                self.count(name, "network_calls" if name == "socket" else "other_calls")
        elif result == -errno.EBADF and self._begun and not table.knows(pending.arguments[0]):
            self.recount(name, pending.counted)
        elif result >= 0:
            table.returned(name, pending.arguments, result)

    def _task(self, process: int, parent: int, ended: int, last: int) -> None:
        if ended:
            self._pending.pop(last, None)
            self._threads[ended] -= 1
            if self._threads[ended] <= 0:
                del self._threads[ended]
                self._tables.pop(ended, None)
        elif parent in self._tables:
            self._threads[process] += 1
            if process != parent:
                self._tables[process] = self._tables[parent].copy()
