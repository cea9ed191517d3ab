"""Traces of uftrace become calls with paths; whatever is damaged in them is left out and said."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.profilers.native import uftrace_file
from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.uftrace_file import Node, Recording, exit_status, read_recording

ENTRY, EXIT, LOST = range(3)
SID = "00112233445566aa"
MAP = "1000-9000 r-xp 00000000 00:00 0                          /tmp/a program build-id:12ab\n"
TASKS = (
    f'SESS timestamp=1.000000000 pid=7 sid={SID} exename="/tmp/a program"\n'
    "TASK timestamp=1.000000000 tid=7 pid=7\nTASK timestamp=1.000000001 tid=8 pid=7\n"
    "FORK timestamp=1.000000002 pid=9 ppid=7\n"
)
Record = tuple[int, int, int, int]  # kind, nanoseconds after the second, depth, address


def written(folder: Path, tasks: str = TASKS, **threads: list[Record] | bytes) -> Path:
    """A trace as uftrace leaves it; threads by name: t7=[...]."""
    folder.mkdir(exist_ok=True)
    (folder / "task.txt").write_text(tasks)
    (folder / f"sid-{SID}.map").write_text(MAP)
    for name, records in threads.items():
        (folder / f"{name[1:]}.dat").write_bytes(
            records if isinstance(records, bytes) else b"".join(map(packed, records))
        )
    return folder


def packed(record: Record) -> bytes:
    kind, time, depth, address = record
    return struct.pack("<QQ", 10**9 + time, kind | 5 << 3 | depth << 6 | address << 16)


def shown(recording: Recording) -> list[tuple[list[int], list[int], list[int]]]:
    """(offsets along the path, durations, watched calls below) of each node."""
    found = []
    for node in recording.nodes:
        path: list[int] = []
        at: Node | None = node
        while at is not None:
            path.insert(0, at.spot.offset)
            at = at.parent
        found.append((path, list(node.durations), list(node.nested)))
    return found


def test_calls_have_paths_durations_and_calls_below(tmp_path: Path) -> None:
    calls = [
        (ENTRY, 10, 0, 0x1100), (ENTRY, 20, 1, 0x1200), (EXIT, 25, 1, 0x1200), (ENTRY, 30, 1, 0x1200),
        (ENTRY, 31, 2, 0x1100), (EXIT, 33, 2, 0x1100), (EXIT, 40, 1, 0x1200), (EXIT, 60, 0, 0x1100),
    ]  # fmt: skip
    recording = read_recording(written(tmp_path / "trace", t7=calls, t8=calls[1:3], t9=calls[:1]))
    assert shown(recording) == [
        ([0x100], [50], [3]),
        ([0x100, 0x200], [5, 10], [0, 1]),
        ([0x100, 0x200, 0x100], [2], [0]),
        ([0x200], [5], [0]),
    ]
    assert recording.nodes[0].spot == Spot("/tmp/a program", 0x100)
    assert (recording.unfinished, recording.lost, recording.notes) == (1, 0, [])


def test_calls_that_never_return_do_not_shift_those_that_do(tmp_path: Path) -> None:
    jumped = [
        (ENTRY, 10, 0, 0x1100), (ENTRY, 20, 1, 0x1200), (ENTRY, 30, 2, 0x1300),
        (ENTRY, 40, 1, 0x1400), (EXIT, 45, 1, 0x1400), (EXIT, 60, 0, 0x1100), (EXIT, 70, 0, 0x1100),
    ]  # fmt: skip
    recording = read_recording(written(tmp_path / "trace", t7=jumped))
    assert ([0x100], [50], [1]) in shown(recording)
    assert ([0x100, 0x400], [5], [0]) in shown(recording)
    assert recording.unfinished == 2


def test_lost_records_are_counted_and_break_paths(tmp_path: Path) -> None:
    lossy = [(ENTRY, 10, 0, 0x1100), (LOST, 0, 0, 42), (ENTRY, 50, 1, 0x1200), (EXIT, 55, 1, 0x1200)]
    recording = read_recording(written(tmp_path / "trace", t7=lossy))
    assert recording.lost == 42
    assert ([0x200], [5], [0]) in shown(recording)


def test_a_process_that_executes_another_program_has_other_mappings(tmp_path: Path) -> None:
    calls = [(ENTRY, 10, 0, 0x1100), (EXIT, 20, 0, 0x1100), (ENTRY, 110, 0, 0x1100), (EXIT, 120, 0, 0x1100)]
    folder = written(
        tmp_path / "trace", TASKS + 'SESS timestamp=1.000000100 pid=7 sid=ff exename="/bin/other"\n', t7=calls
    )
    (folder / "sid-ff.map").write_text(MAP.replace("/tmp/a program", "/bin/other"))
    assert {node.spot.path for node in read_recording(folder).nodes} == {"/tmp/a program", "/bin/other"}


def test_libraries_that_are_loaded_later_are_known(tmp_path: Path) -> None:
    loaded = f'DLOP timestamp=1.000000003 tid=7 sid={SID} base=70000000 libname="/tmp/lib.so"\n'
    calls = [(ENTRY, 10, 0, 0x70000123), (EXIT, 20, 0, 0x70000123)]
    (node,) = read_recording(written(tmp_path / "trace", TASKS + loaded, t7=calls)).nodes
    assert node.spot == Spot("/tmp/lib.so", 0x123)


def test_deep_recursion_and_endless_paths_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uftrace_file, "MOST_PATHS", 100)
    deep = [(ENTRY, n, n, 0x1100) for n in range(500)]
    deep += [(EXIT, 1000 - n, n, 0x1100) for n in reversed(range(500))]
    recording = read_recording(written(tmp_path / "deep", t7=deep))
    assert len(recording.nodes) == uftrace_file.DEEPEST + 1
    assert sum(len(node.durations) for node in recording.nodes) == 500
    wide = [(ENTRY, n, n % 60, 0x1100 + 7 * n * n % 0x7000) for n in range(3000)]
    assert len(read_recording(written(tmp_path / "wide", t7=wide)).nodes) <= 100 + len({w[3] for w in wide})


@pytest.mark.parametrize("name", ["task.txt", f"sid-{SID}.map", "7.dat"])
@pytest.mark.parametrize("how", ["gone", "pipe", "link", "folder"])
def test_what_a_program_makes_of_the_trace_is_a_note_at_most(tmp_path: Path, name: str, how: str) -> None:
    folder = written(tmp_path / "trace", t7=[(ENTRY, 10, 0, 0x1100), (EXIT, 20, 0, 0x1100)])
    (folder / name).unlink()
    if how == "pipe":
        os.mkfifo(folder / name)
    elif how == "link":
        (folder / name).symlink_to("/etc/passwd")
    elif how == "folder":
        (folder / name).mkdir()
    recording = read_recording(folder)
    assert recording.nodes == []
    assert recording.notes or (name, how) == ("7.dat", "gone")


def test_damaged_records_end_what_is_read_of_a_thread(tmp_path: Path) -> None:
    sound = [(ENTRY, 10, 0, 0x1100), (EXIT, 20, 0, 0x1100)]
    data = b"".join(map(packed, sound)) + b"\xff" * 16 + b"".join(map(packed, sound)) + b"123"
    recording = read_recording(written(tmp_path / "trace", t7=data))
    assert shown(recording) == [([0x100], [10], [0])]
    assert recording.notes == ["A part of the trace of uftrace is damaged and not used."]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99), st.integers(0, 9), st.integers(0, 0xFFFF))))
def test_no_records_do_any_harm(tmp_path_factory: pytest.TempPathFactory, records: list[Record]) -> None:
    recording = read_recording(written(tmp_path_factory.getbasetemp() / "noise", t7=records))
    for node in recording.nodes:
        assert len(node.durations) == len(node.nested)
        assert all(duration >= 0 for duration in node.durations)


@given(st.text(st.sampled_from(TASKS + "\0é"), max_size=300))
def test_no_text_of_tasks_does_any_harm(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = written(tmp_path_factory.getbasetemp() / "noise", text, t7=[(ENTRY, 1, 0, 0x1100)])
    read_recording(folder)


def test_arguments_that_look_like_records_are_not_taken_for_them(tmp_path: Path) -> None:
    entry = struct.pack("<QQ", 10**9 + 10, ENTRY | 1 << 2 | 5 << 3 | 0x1100 << 16)
    inner = packed((EXIT, 11, 0, 0x1100))
    data = entry + inner * 3 + packed((EXIT, 20, 0, 0x1100))
    (node,) = read_recording(written(tmp_path / "trace", t7=data)).nodes
    assert list(node.durations) == [10]
    assert node.given == [struct.unpack("<QQ", inner) * 3]
    cut = read_recording(written(tmp_path / "cut", t7=data[:40])).nodes
    assert [node.given for node in cut] == [[]]


def test_the_exit_status_is_the_programs(tmp_path: Path) -> None:
    assert exit_status(tmp_path) is None
    (tmp_path / "info").write_bytes(b"Ftrace!\0\0\nexit_status:768\ncmdline:x\n")
    assert exit_status(tmp_path) == 768
