"""Reads what uftrace records: entries and exits of functions, joined to calls with paths and durations."""

# Each thread has a file of records of 16 bytes: nanoseconds, then two bits of type, one that says that more
# follows, a magic number of three, ten of depth, and an address of 48. `task.txt` says which process a thread
# belongs to and which mappings (`sid-*.map`) a process has from when on.

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bot.adapters.profilers.call_series import MOST_KEPT
from bot.adapters.profilers.evidence import read_file
from bot.adapters.profilers.native.samples import AddressSpace, Spot

MOST_BYTES = 384 << 20
"""Of records read: 12 million calls."""
MOST_TEXT = 8 << 20
MOST_FILES = 2000
DEEPEST = 64
"""Callers in a path; deeper recursion counts to the path at this depth."""
MOST_PATHS = 20_000
PIECE = 1 << 16
ARGUMENT_ROWS = 3
"""Records of 16 bytes that the six registers of arguments take after an entry."""

_ENTRY, _EXIT, _LOST = range(3)
_MAGIC = 5
_TASK = re.compile(r"TASK timestamp=\S+ tid=(\d{1,9}) pid=(\d{1,9})")
_FORK = re.compile(r"FORK timestamp=\S+ pid=(\d{1,9}) ppid=(\d{1,9})")
_SESSION = re.compile(r"SESS timestamp=(\d{1,9})\.(\d{9}) pid=(\d{1,9}) sid=([0-9a-f]{1,32}) exename=")
_LOADED = re.compile(r'DLOP timestamp=\S+ tid=\d+ sid=([0-9a-f]{1,32}) base=([0-9a-f]{1,16}) libname="(.*)"')
_MAP = re.compile(r"([0-9a-f]{1,16})-([0-9a-f]{1,16}) \S{4} \S+ \S+ \d+ +(.*?)(?: build-id:[0-9a-f]*)?")


class Session(NamedTuple):
    """The mappings of a process from a moment on (nanoseconds); offsets are relative to an object's base."""

    since: int
    space: AddressSpace


@dataclass
class Node:
    """Calls of one function over one path of watched callers: nanoseconds, and watched calls below each.

    given: the registers that its arguments came in, of all calls or of as many as are kept.
    """

    spot: Spot
    parent: Node | None
    depth: int
    durations: array[int] = field(default_factory=lambda: array("q"))
    nested: array[int] = field(default_factory=lambda: array("q"))
    given: list[tuple[int, ...]] = field(default_factory=list)
    children: dict[Spot, Node] = field(default_factory=dict)


@dataclass
class Recording:
    """All calls of a trial as trees of paths; what was lost on the way is counted."""

    roots: dict[Spot, Node] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    unfinished: int = 0
    lost: int = 0
    notes: list[str] = field(default_factory=list)


def read_recording(folder: Path) -> Recording:
    """What `uftrace record` left in a folder; what is damaged is noted and left out."""
    recording, left = Recording(), MOST_BYTES
    try:
        threads, sessions = _read_tasks(folder)
    except FileNotFoundError:
        recording.notes.append("uftrace left no trace.")
        return recording
    except (OSError, ValueError) as error:
        recording.notes.append(f"The trace of uftrace cannot be used: {error}.")
        return recording
    files = sorted(
        (p for p in folder.iterdir() if re.fullmatch(r"\d{1,9}\.dat", p.name)), key=lambda p: p.name
    )
    for path in files[:MOST_FILES]:
        try:
            data = read_file(path, most=left)
        except OSError as error:
            recording.notes.append(f"The calls of one thread are not used: {error}.")
            continue
        left -= len(data)
        _replay(recording, _decode(data), sessions[threads.get(int(path.stem), int(path.stem))])
    if len(files) > MOST_FILES:
        recording.notes.append(f"Only {MOST_FILES} of {len(files)} threads were read.")
    del recording.notes[5:]
    return recording


def _replay(recording: Recording, records: _Records, sessions: Sequence[Session]) -> None:
    """Follows a thread; executing another program begins a new session, with other mappings."""
    if not records.sound:
        recording.notes.append("A part of the trace of uftrace is damaged and not used.")
    borders = [int(np.searchsorted(records.times, s.since)) for s in sessions]
    for session, begin, end in zip(sessions, borders, [*borders[1:], len(records.times)], strict=False):
        _Replay(recording, session.space).run(records, begin, end)


def exit_status(folder: Path) -> int | None:
    """How the program ended, as wait(2) says it."""
    try:
        found = re.search(rb"\nexit_status:(\d{1,6})\n", read_file(folder / "info", most=MOST_TEXT))
    except OSError:
        return None
    return int(found[1]) if found else None


def _read_tasks(folder: Path) -> tuple[Mapping[int, int], Mapping[int, Sequence[Session]]]:
    """Thread -> process, and the sessions of each process, oldest first."""
    text = read_file(folder / "task.txt", most=MOST_TEXT).decode("utf-8", "backslashreplace")
    threads: dict[int, int] = {}
    sessions: dict[int, list[Session]] = defaultdict(list)
    spaces: dict[str, AddressSpace] = {}
    for line in text.split("\n"):
        if match := _TASK.match(line):
            threads[int(match[1])] = int(match[2])
        elif match := _FORK.match(line):
            sessions[int(match[1])] = list(sessions[int(match[2])])
        elif match := _SESSION.match(line):
            spaces[match[4]] = _read_map(folder / f"sid-{match[4]}.map")
            sessions[int(match[3])].append(Session(int(match[1] + match[2]), spaces[match[4]]))
        elif (match := _LOADED.match(line)) and match[1] in spaces:
            base = int(match[2], 16)
            spaces[match[1]].map(base, base + (1 << 32), 0, match[3])
    return threads, sessions


def _read_map(path: Path) -> AddressSpace:
    space = AddressSpace()
    for line in read_file(path, most=MOST_TEXT).decode("utf-8", "backslashreplace").split("\n"):
        if match := _MAP.fullmatch(line):
            space.map(int(match[1], 16), int(match[2], 16), 0, match[3])
    return space


class _Records(NamedTuple):
    """Columns of a thread's records; given: the registers of calls whose arguments were recorded, by row."""

    times: NDArray[np.int64]
    kinds: NDArray[np.int64]
    depths: NDArray[np.int64]
    addresses: NDArray[np.int64]
    given: Mapping[int, tuple[int, ...]]
    sound: bool


def _decode(data: bytes) -> _Records:
    """The records of a thread up to the first damaged one; arguments follow the entry they belong to."""
    words = np.frombuffer(data, "<u8", len(data) // 16 * 2).reshape(-1, 2)
    bits = words[:, 1]
    payload = np.zeros(len(words), dtype=bool)
    given: dict[int, tuple[int, ...]] = {}
    free = 0
    for row in np.flatnonzero((bits >> 2) & 1).tolist():
        if row >= free:
            free = row + 1 + ARGUMENT_ROWS
            payload[row + 1 : free] = True
            given[row] = tuple(words[row + 1 : free].ravel().tolist())
    damaged = (((bits >> 3) & 7) != _MAGIC) & ~payload
    sound = int(np.argmax(damaged)) if damaged.any() else len(words)
    rows = np.flatnonzero(~payload[:sound])
    kept = bits[rows].astype(np.int64)
    place = dict(zip(rows.tolist(), range(len(rows)), strict=True)) if given else {}
    return _Records(
        words[rows, 0].astype(np.int64),
        kept & 3,
        (kept >> 6) & 1023,
        kept >> 16,
        {
            place[row]: registers
            for row, registers in given.items()
            if row in place and len(registers) == 2 * ARGUMENT_ROWS
        },
        sound == len(words),
    )


@dataclass(slots=True)
class _Call:
    """One that has not returned yet; below: watched calls below it so far."""

    node: Node
    began: int
    depth: int
    given: tuple[int, ...] | None
    below: int = 0

    def end(self, time: int) -> None:
        """Adds it to its node."""
        self.node.durations.append(max(0, time - self.began))
        self.node.nested.append(self.below)
        if self.given is not None and len(self.node.given) < MOST_KEPT:
            self.node.given.append(self.given)


def _rows(
    columns: Sequence[NDArray[np.int64]], begin: int, end: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Numbered rows; a few at a time become Python's numbers, which are larger than the columns'."""
    for first in range(begin, end, PIECE):
        parts = (column[first : min(first + PIECE, end)].tolist() for column in columns)
        yield from enumerate(zip(*parts, strict=True), first)


class _Replay:
    """Follows one thread through its records."""

    def __init__(self, recording: Recording, space: AddressSpace) -> None:
        self._recording, self._space = recording, space
        self._spots: dict[int, Spot] = {}

    def run(self, records: _Records, begin: int, end: int) -> None:
        """Follows the records from row `begin` to row `end`."""
        stack: list[_Call] = []
        unfinished = 0
        columns = (records.times, records.kinds, records.depths, records.addresses)
        for row, (time, kind, depth, address) in _rows(columns, begin, end):
            if kind == _LOST:
                self._recording.lost += address
                stack.clear()  # who called whom is not known any more
                continue
            # Calls deeper than this one did not return: longjmp, or a process that forked below them.
            while stack and stack[-1].depth >= depth + (kind == _EXIT):
                stack.pop()
                unfinished += 1
            if kind == _ENTRY:
                node = self._node(stack[-1].node if stack else None, address)
                stack.append(_Call(node, time, depth, records.given.get(row)))
            elif stack and stack[-1].depth == depth:
                call = stack.pop()
                call.end(time)
                if stack:
                    stack[-1].below += call.below + 1
        self._recording.unfinished += unfinished + len(stack)

    def _node(self, parent: Node | None, address: int) -> Node:
        spot = self._spots.get(address)
        if spot is None:
            spot = self._spots[address] = self._space.spot(address)
        if parent is not None and parent.depth >= DEEPEST:
            parent = parent.parent
        node = (self._recording.roots if parent is None else parent.children).get(spot)
        if node is not None:
            return node
        if len(self._recording.nodes) >= MOST_PATHS:
            parent = None
        siblings = self._recording.roots if parent is None else parent.children
        if spot not in siblings:
            siblings[spot] = Node(spot, parent, 0 if parent is None else parent.depth + 1)
            self._recording.nodes.append(siblings[spot])
        return siblings[spot]
