"""Lines of strace become counts of classes, whatever names and garbage are in them."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from bot.adapters.resources.call_classes import CLASSES, MOST_NAMES
from bot.adapters.resources.call_lines import MOST_LINE, CallLines
from bot.model.resources import Count


def counted(text: str | bytes, *, piece: int = 1 << 16) -> Mapping[Count, float]:
    """Counts that are not zero, the text taken in pieces."""
    data = text.encode() if isinstance(text, str) else text
    lines = CallLines()
    for start in range(0, len(data), piece):
        lines.add(data[start : start + piece])
    return {count: number for count, number in lines.counts.items() if number}


RECORDED = """\
7013  execve("./t", [""...], 0x7ffc /* 3 vars */) = 0
7013  brk(NULL)                         = 0x556d
7013  openat(AT_FDCWD</tmp>, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache>
7013  read(3</etc/ld.so.cache>, ""..., 832) = 832
7013  mmap(NULL, 28384, PROT_READ, MAP_PRIVATE, 3</etc/ld.so.cache>, 0) = 0x7f24
7013  write(1</dev/null>, ""..., 2)     = 2
7013  pipe2([3<pipe:[16]>, 4<pipe:[16]>], O_CLOEXEC) = 0
7013  write(4<pipe:[16]>, ""..., 1)     = 1
7013  socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP) = 7<TCP:[16100621]>
7013  connect(7<TCP:[16100621]>, {sa_family=AF_INET}, 16) = -1 ECONNREFUSED (Connection refused)
7013  getsockname(8<socket:[16032553]>, {sa_family=AF_INET}, [16]) = 0
7013  socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 11<UNIX-STREAM:[16100625]>
7013  close(11<UNIX-STREAM:[16100625,"/tmp/x"]>) = 0
7013  read(12<anon_inode:[eventfd]>, ""..., 8) = 8
7013  write(11</memfd:x>(deleted), ""..., 1) = 1
7013  fcntl(99, F_GETFL)                = -1 EBADF (Bad file descriptor)
7013  getpid()                          = 7013
7013  --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=7161} ---
7013  exit_group(0)                     = ?
7013  +++ exited with 0 +++
"""


@pytest.mark.parametrize("piece", [1, 7, 1 << 16])
def test_each_call_counts_once_in_its_class_however_it_arrives(piece: int) -> None:
    assert counted(RECORDED, piece=piece) == {
        "memory_calls": 2,
        "filesystem_calls": 4,
        "network_calls": 3,
        "ipc_calls": 5,
        "other_calls": 4,
    }


def test_the_names_of_calls_stand_behind_the_counts() -> None:
    lines = CallLines()
    lines.add(RECORDED.encode())
    assert dict(lines.details["memory_calls"]) == {"brk": 1, "mmap": 1}
    assert lines.details["ipc_calls"].most_common(1)[0] in {("write", 1), ("pipe2", 1)}


def test_a_call_that_was_interrupted_by_another_thread_counts_once() -> None:
    text = """\
7160  futex(0x55, FUTEX_WAKE_PRIVATE, 1 <unfinished ...>
7013  read(3</a>,  <unfinished ...>
7160  <... futex resumed>)              = 1
7013  <... read resumed>""..., 10)      = 10
"""
    assert counted(text) == {"ipc_calls": 1, "filesystem_calls": 1}


@pytest.mark.parametrize(
    "path", [r"/tmp/\74socket:[1]\76", "/tmp/pipe:[1]", r"/tmp/TCP:[1]\n7 socket(AF_INET, 0) = 3", "/socket"]
)
def test_a_file_cannot_pass_for_something_else_by_its_name(path: str) -> None:
    assert counted(f'7 write(3<{path}>, ""..., 12) = 12\n') == {"filesystem_calls": 1}


@pytest.mark.parametrize(
    ("line", "ended", "code"),
    [
        ("7 +++ exited with 3 +++", True, 3),
        ("7 +++ killed by SIGKILL +++", True, None),
        ("8 +++ exited with 3 +++", False, None),
        ('7 write(3</+++ exited with 3 +++>, "", 1) = 1', False, None),
    ],
)
def test_the_end_of_the_first_process_is_seen(line: str, ended: bool, code: int | None) -> None:
    lines = CallLines()
    lines.add(f"7 getpid() = 7\n8 getpid() = 8\n{line}\n".encode())
    assert (lines.ended, lines.exit_code) == (ended, code)


def test_a_giant_line_is_one_call_and_is_not_kept() -> None:
    lines = CallLines()
    lines.add(b"7 write(3</a")
    for _ in range(100):
        lines.add(b"b" * MOST_LINE)
    assert len(lines._rest) == MOST_LINE
    lines.add(b">, 1) = 1\n7 getpid() = 7\n")
    assert lines.counts["filesystem_calls"] == lines.counts["other_calls"] == 1


def test_garbage_is_no_call() -> None:
    chance = random.Random(5)
    garbage = bytes(chance.randrange(128, 256) for _ in range(100_000))
    assert counted(garbage + b"\n\n(((\n7\n7 \n7 (\n7 Read(3</a>)\nread(3</a>)\n\0\n") == {}


def test_invented_names_do_not_fill_the_memory() -> None:
    lines = CallLines()
    lines.add("".join(f"7 call_{number}() = 0\n" for number in range(5 * MOST_NAMES)).encode())
    assert lines.counts["other_calls"] == 5 * MOST_NAMES
    assert len(lines.details["other_calls"]) == MOST_NAMES + 1


def test_without_calls_there_are_no_counts_and_with_one_every_class_has_one() -> None:
    assert CallLines().counts == {}
    lines = CallLines()
    lines.add(b"7 brk(NULL) = 1\n")
    assert set(lines.counts) == set(CLASSES)
