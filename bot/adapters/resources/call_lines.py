"""Sorts lines of strace into classes of system calls, by name and by kind of file descriptor."""

from __future__ import annotations

import os
import re

from bot.adapters.reading.reader_child import Descriptor
from bot.adapters.resources.call_classes import CallCounts, ToldCalls
from bot.model.resources import Count

PIECE = 1 << 20
MOST_LINE = 1 << 14
"""Bytes of a line that are kept: its beginning says which call it is."""

_CALL = re.compile(rb"(\d+) +([a-z_0-9]{1,40})\((?:\d+<(/|[A-Za-z_]+)|AF_([A-Z0-9]+))?")
_END = re.compile(rb"(\d+) +\+\+\+ (?:exited with (\d{1,3})|killed by .{1,60}) \+\+\+")
_BETWEEN_PROCESSES = frozenset({b"pipe", b"anon_inode", b"pidfd", b"UNIX"})


class CallLines(CallCounts):
    """Counts calls from what strace writes, piece by piece.

    ended: whether the first process has; exit_code: its own, None: a signal killed it. A file's name cannot
    pass for another kind of descriptor: paths begin with a slash, and brackets in them are escaped.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ended = False
        self.exit_code: int | None = None
        self._first: bytes | None = None
        self._rest = b""

    def add(self, data: bytes) -> None:
        """The next piece of output."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:MOST_LINE]
        for line in lines:
            # No match: a signal, an end, or the second half of a call that was counted when it began.
            if (found := _CALL.match(line)) is not None:
                self._first = self._first or found[1]
                name = found[2].decode()
                self.count(name, _of_descriptor(found[4] if name == "socket" else found[3]))
            elif (found := _END.match(line)) is not None and found[1] == self._first:
                self.ended = True
                self.exit_code = None if found[2] is None else int(found[2])


def count_lines(pipe: Descriptor, tell: Descriptor) -> ToldCalls:
    """A reader of what strace writes; it says when the first process has ended."""
    lines, told = CallLines(), False
    while data := os.read(pipe, PIECE):
        lines.add(data)
        if lines.ended and not told:
            told = bool(os.write(tell, b"."))
    return ToldCalls(
        details={count: dict(names) for count, names in lines.details.items()},
        ended=lines.ended,
        exit_code=lines.exit_code,
    )


def _of_descriptor(kind: bytes | None) -> Count:
    """kind: how the descriptor's description begins; of a socket its family or protocol, in capitals."""
    if kind is None:
        return "other_calls"
    if kind == b"/":
        return "filesystem_calls"
    if kind in _BETWEEN_PROCESSES:
        return "ipc_calls"
    return "network_calls" if kind == b"socket" or kind.isupper() else "other_calls"
