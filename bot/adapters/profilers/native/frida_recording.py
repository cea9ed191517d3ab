"""Reads what Frida's hooks recorded: blocks of new call paths and of calls that ended, by thread."""

# The layout is that of `drain` in `frida_hooks.c`. The program under test could have written it, too.

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.uftrace_file import Node, Recording

DAMAGED = "A part of what Frida recorded is damaged and not used."

_MAGIC = 0x53555350
_DEEPEST, _MOST_NODES, _MOST_THREADS = 64, 4096, 512
_HEAD = struct.Struct("<6I")
_NODE = np.dtype([("parent", "<u4"), ("function", "<u4")])
_CALL = np.dtype([("nanoseconds", "<i8"), ("node", "<u4"), ("below", "<u4")])
CALL_BYTES = _CALL.itemsize


class _Place(NamedTuple):
    """A call path of a thread: function, the path of its caller (0: none), and callers in it."""

    spot: Spot
    parent: int
    depth: int


class _Block(NamedTuple):
    thread: int
    lost: int
    unfinished: int
    nodes: NDArray[np.void]
    calls: NDArray[np.void]


class Reader:
    """Joins blocks as they come: a thread's paths are told once, and used from then on."""

    def __init__(self) -> None:
        self._places: dict[int, list[_Place | None]] = defaultdict(lambda: [None])
        self._missed: dict[int, tuple[int, int]] = {}

    def read(self, data: bytes, functions: Mapping[int, Spot], recording: Recording) -> None:
        """Adds the calls of these blocks. functions: where each numbered function is.

        What was lost, and calls that were left by a jump, are counted since the last time.
        """
        before = self._counts()
        nodes: dict[tuple[int, int], Node] = {}
        for block in _blocks(data, recording):
            places = self._places[block.thread]
            for parent, function in block.nodes.tolist():
                places.append(_place(places, parent, functions.get(function)))
            calls = block.calls[np.argsort(block.calls["node"], kind="stable")]
            numbers, starts = np.unique(calls["node"], return_index=True)
            for number, part in zip(numbers.tolist(), np.split(calls, starts)[1:], strict=True):
                node = _node(recording, nodes, places, (block.thread, number))
                if node is not None:
                    node.durations.frombytes(part["nanoseconds"].tobytes())
                    node.nested.extend(part["below"].tolist())
            self._missed[block.thread] = block.lost, block.unfinished
        after = self._counts()
        recording.lost += after[0] - before[0]
        recording.unfinished += after[1] - before[1]

    def _counts(self) -> tuple[int, int]:
        return sum(m[0] for m in self._missed.values()), sum(m[1] for m in self._missed.values())


def _place(places: list[_Place | None], parent: int, spot: Spot | None) -> _Place | None:
    """None: it is not one that the hooks could have made."""
    if spot is None or len(places) > _MOST_NODES:
        return None
    if parent == 0:
        return _Place(spot, 0, 0)
    above = places[parent] if parent < len(places) else None
    if above is None or above.depth >= _DEEPEST:
        return None
    return _Place(spot, parent, above.depth + 1)


def _node(
    recording: Recording,
    nodes: dict[tuple[int, int], Node],
    places: list[_Place | None],
    key: tuple[int, int],
) -> Node | None:
    """The node that all threads share for a path; callers are made first."""
    if key in nodes:
        return nodes[key]
    thread, number = key
    place = places[number] if number < len(places) else None
    if place is None:
        return None
    parent = _node(recording, nodes, places, (thread, place.parent)) if place.parent else None
    siblings = recording.roots if parent is None else parent.children
    if place.spot not in siblings:
        siblings[place.spot] = Node(place.spot, parent, place.depth)
        recording.nodes.append(siblings[place.spot])
    nodes[key] = siblings[place.spot]
    return nodes[key]


def _blocks(data: bytes, recording: Recording) -> Iterator[_Block]:
    place = 0
    while place < len(data):
        if place + _HEAD.size > len(data):
            break
        magic, thread, lost, unfinished, nodes, calls = _HEAD.unpack_from(data, place)
        begin = place + _HEAD.size
        middle = begin + nodes * _NODE.itemsize
        end = middle + calls * _CALL.itemsize
        if magic != _MAGIC or thread >= _MOST_THREADS or nodes > _MOST_NODES or end > len(data):
            break
        found = np.frombuffer(data, _CALL, calls, middle)
        if (found["nanoseconds"] < 0).any():
            break
        yield _Block(thread, lost, unfinished, np.frombuffer(data, _NODE, nodes, begin), found)
        place = end
    if place < len(data):
        recording.notes.append(DAMAGED)
