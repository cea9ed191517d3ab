"""What Frida's hooks wrote, sound or not."""

from __future__ import annotations

import struct

import pytest

from bot.adapters.profilers.native.frida_recording import DAMAGED, Reader
from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.uftrace_file import Recording

OUTER, INNER = Spot("/program", 16), Spot("/program", 32)
FUNCTIONS = {1: OUTER, 2: INNER}
MAGIC = 0x53555350


def block(
    nodes: list[tuple[int, int]], calls: list[tuple[int, int, int]], *, thread: int = 0, lost: int = 0
) -> bytes:
    head = struct.pack("<6I", MAGIC, thread, lost, 0, len(nodes), len(calls))
    return (
        head
        + b"".join(struct.pack("<2I", *n) for n in nodes)
        + b"".join(struct.pack("<QII", *call) for call in calls)
    )


def read(*blocks: bytes) -> Recording:
    recording = Recording()
    Reader().read(b"".join(blocks), FUNCTIONS, recording)
    return recording


def durations(recording: Recording) -> dict[tuple[Spot, ...], list[int]]:
    found = {}
    for node in recording.nodes:
        path = [node.spot]
        above = node.parent
        while above is not None:
            path.insert(0, above.spot)
            above = above.parent
        found[tuple(path)] = list(node.durations)
    return found


def test_paths_are_shared_by_threads_and_go_on_from_block_to_block() -> None:
    recording = read(
        block([(0, 1), (1, 2)], [(50, 2, 0), (90, 1, 1), (40, 2, 0)]),
        block([(0, 2), (0, 1), (2, 2)], [(7, 1, 0), (9, 3, 0)], thread=1),
        block([], [(60, 2, 0)]),
    )
    assert durations(recording) == {(OUTER,): [90], (OUTER, INNER): [50, 40, 9, 60], (INNER,): [7]}
    assert [list(node.nested) for node in recording.nodes if node.spot == OUTER] == [[1]]
    assert recording.notes == []


def test_a_block_may_tell_paths_before_any_call_has_ended() -> None:
    assert durations(read(block([(0, 1)], []), block([], [(5, 1, 0)]))) == {(OUTER,): [5]}


def test_what_was_lost_is_counted_since_the_last_time() -> None:
    reader, first, second = Reader(), Recording(), Recording()
    reader.read(block([(0, 1)], [(1, 1, 0)], lost=3) + block([], [(1, 1, 0)], lost=5), FUNCTIONS, first)
    reader.read(block([], [(2, 1, 0)], lost=9), FUNCTIONS, second)
    assert (first.lost, second.lost) == (5, 4)
    assert durations(second) == {(OUTER,): [2]}


@pytest.mark.parametrize(
    "data",
    [
        b"x",
        block([(0, 1)], [(1, 1, 0)])[:-1],
        struct.pack("<6I", MAGIC, 600, 0, 0, 0, 0),
        struct.pack("<6I", MAGIC, 0, 0, 0, 1 << 31, 1 << 31),
        block([], [(1 << 63, 1, 0)]),
    ],
)
def test_damage_is_noted_and_what_came_before_it_is_used(data: bytes) -> None:
    recording = read(block([(0, 1)], [(5, 1, 0)]), data)
    assert durations(recording) == {(OUTER,): [5]}
    assert recording.notes == [DAMAGED]


@pytest.mark.parametrize("nodes", [[(2, 1), (1, 2)], [(7, 1)], [(0, 3)]])
def test_paths_that_no_program_has_are_left_out(nodes: list[tuple[int, int]]) -> None:
    assert durations(read(block(nodes, [(5, 1, 0), (5, 9, 0)]))) == {}
