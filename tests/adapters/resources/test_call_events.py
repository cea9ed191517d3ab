"""Events of perf become counts of classes; what descriptors stand for is followed through every call."""

from __future__ import annotations

import errno
import os
import random
import re
import socket
from collections.abc import Mapping, Sequence

import pytest

from bot.adapters.resources.call_classes import CLASSES, MOST_NAMES, OF_NAME
from bot.adapters.resources.call_events import MOST_LINE, CallEvents, kept_ends
from bot.adapters.resources.call_numbers import names_of
from bot.adapters.resources.descriptors import OF_UNKNOWN, OPENINGS, PAIRS
from bot.model.resources import Count

NAMES = names_of("x86_64")
NUMBERS = {name: number for number, name in NAMES.items()}
FIRST = 70
CLOEXEC = os.O_CLOEXEC


def call(name: str, *arguments: int, result: int | None = None, thread: str = "70/70") -> str:
    """Lines of one call as `perf script` writes them; result: of a call whose end is kept."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    entry = ", ".join(f"{argument & (1 << 64) - 1:x}" for argument in padded)
    lines = f" {thread} raw_syscalls:sys_enter: NR {NUMBERS[name]} ({entry})\n"
    return lines if result is None else lines + end(name, result, thread=thread)


def end(name: str, result: int, *, thread: str = "70/70") -> str:
    """The end of a call."""
    return f" {thread}  raw_syscalls:sys_exit: NR {NUMBERS[name]} = {result}\n"


START = call("execve", 1, 2, 3, result=0)


def events(*texts: str, piece: int = 1 << 16) -> CallEvents:
    """What was counted of a program that has been started, the text taken in pieces."""
    data = "".join((START, *texts)).encode("latin-1")
    found = CallEvents(NAMES, FIRST)
    for start in range(0, len(data), piece):
        found.add(data[start : start + piece])
    return found


def counted(*texts: str, piece: int = 1 << 16) -> Mapping[Count, float]:
    """Counts that are not zero, without the start itself."""
    counts = dict(events(*texts, piece=piece).counts)
    counts["other_calls"] -= 1
    return {count: number for count, number in counts.items() if number}


RECORDED = """\
    0/0     PERF_RECORD_COMM: sh:70/70
   70/70   raw_syscalls:sys_enter: NR 33 (a, 0, 0, 0, 7feac35ccc68, 0)
   70/70    raw_syscalls:sys_exit: NR 33 = 0
   70/70   raw_syscalls:sys_enter: NR 59 (560d1cbde570, 560d1cbde538, 560d1cbde548, 1, 7ffccdfe2fb2, 560c)
   70/70   PERF_RECORD_COMM exec: t:70/70
   70/70    raw_syscalls:sys_exit: NR 59 = 0
   70/70   raw_syscalls:sys_enter: NR 12 (0, 7ffc7e931cfc, 0, 37f, 0, 0)
   70/70   raw_syscalls:sys_enter: NR 257 (ffffff9c, 7f47420db0b1, 80000, 0, 0, 559669b69ada)
   70/70    raw_syscalls:sys_exit: NR 257 = 3
   70/70   raw_syscalls:sys_enter: NR 0 (3, 7ffc7e930ee0, 340, 0, 0, 559669b69ada)
   70/70   raw_syscalls:sys_enter: NR 3 (3, 7ffc7e930ee0, 340, 0, 0, 559669b69ada)
   70/70   raw_syscalls:sys_enter: NR 41 (2, 2, 0, 7ff911181a68, 0, 7ff91136d6d0)
   70/70    raw_syscalls:sys_exit: NR 41 = 3
   70/70   raw_syscalls:sys_enter: NR 3 (3, 2, 0, 7ff911181a68, 0, 7ff91136d6d0)
   70/70   PERF_RECORD_FORK(70:71):(70:70)
   70/71   raw_syscalls:sys_enter: NR 110 (0, 7f7ae7169fb0, 0, 7f7ae717c590, 0, 7ffcf51c5fe7)
   70/71   PERF_RECORD_EXIT(70:71):(69:69)
   70/70   raw_syscalls:sys_enter: NR 231 (0, e7, 3c, 7ffcf51c5f50, ffffffffffffff80, 7ffcf51c5fcf)
   70/70   PERF_RECORD_EXIT(70:70):(69:69)
   69/69   raw_syscalls:sys_enter: NR 61 (ffffffff, 7ffc8fa872ac, 1, 0, 0, 55bdf2b1f9f0)
"""


@pytest.mark.parametrize("piece", [1, 7, 1 << 16])
def test_a_recording_counts_from_the_program_s_own_start_however_it_arrives(piece: int) -> None:
    found = CallEvents(NAMES, FIRST)
    data = RECORDED.encode()
    for start in range(0, len(data), piece):
        found.add(data[start : start + piece])
    assert {count: dict(names) for count, names in found.details.items()} == {
        "memory_calls": {"brk": 1},
        "filesystem_calls": {"openat": 1, "read": 1, "close": 1},
        "network_calls": {"socket": 1, "close": 1},
        "other_calls": {"execve": 1, "getppid": 1, "exit_group": 1},
    }
    assert set(found.counts) == set(CLASSES)
    assert found.lost == 0


def test_what_cannot_be_started_has_no_counts() -> None:
    found = CallEvents(NAMES, FIRST)
    found.add(call("execve", 1, 2, 3, result=-errno.ENOENT).encode())
    found.add(call("write", 2, 0, 9).encode())
    assert found.counts == {}


SOCKET = call("socket", socket.AF_INET, 1, result=5)
OPENED = call("openat", 0, 0, 0, result=5)
PIPE = call("pipe2", 0, 0, result=0)
READ = call("read", 5)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", "other_calls"),
        (OPENED, "filesystem_calls"),
        (SOCKET, "network_calls"),
        (call("socket", socket.AF_UNIX, 1, result=5), "ipc_calls"),
        (call("eventfd2", 0, 0, result=5), "ipc_calls"),
        (call("memfd_create", 0, 0, result=5), "filesystem_calls"),
        (PIPE, "ipc_calls"),
        (call("socketpair", 1, 1, result=0), "ipc_calls"),
        (PIPE + OPENED, "filesystem_calls"),
        (OPENED + call("close", 5), "other_calls"),
        (OPENED + PIPE + call("close", 5), "ipc_calls"),
        (call("openat", 0, 0, 0, result=-errno.ENOENT), "other_calls"),
        (SOCKET + OPENED, "filesystem_calls"),
        (SOCKET + call("dup2", 1, 5, result=5), "filesystem_calls"),
        (OPENED + PIPE + call("dup2", 8, 5, result=5), "ipc_calls"),
        (call("dup", 1, result=5), "filesystem_calls"),
        (call("fcntl", 1, 0, 5, result=5), "filesystem_calls"),
        (SOCKET + call("fcntl", 1, 3, 0, result=5), "network_calls"),
        (call("socket", 2, 1, result=4) + call("accept4", 4, 0, 0, 0, result=5), "network_calls"),
        (OPENED + call("close_range", 4, 9, 0), "other_calls"),
        (OPENED + call("close_range", 6, 9, 0), "filesystem_calls"),
        (OPENED + call("close_range", 3, -1, 4), "filesystem_calls"),
        (OPENED + START, "filesystem_calls"),
        (OPENED + call("close_range", 3, -1, 4) + START, "other_calls"),
        (call("openat", 0, 0, CLOEXEC, result=5) + START, "other_calls"),
        (call("memfd_create", 0, 1, result=5) + START, "other_calls"),
        (call("fcntl", 1, 1030, 5, result=5) + START, "other_calls"),
        (OPENED + call("fcntl", 5, 2, 1) + START, "other_calls"),
        (call("openat", 0, 0, CLOEXEC, result=5) + call("fcntl", 5, 2, 0) + START, "filesystem_calls"),
        (call("socket", 2, 1 | CLOEXEC, result=5) + OPENED + START, "filesystem_calls"),
    ],
)
def test_a_read_counts_to_what_its_descriptor_was_opened_on(before: str, expected: Count) -> None:
    whole, without = counted(before, READ), counted(before)
    assert whole.get(expected, 0) - without.get(expected, 0) == 1
    assert sum(whole.values()) - sum(without.values()) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (call("close", 9, result=-errno.EBADF), {"other_calls": 1}),
        (PIPE + call("close", 9, result=-errno.EBADF), {"ipc_calls": 1, "other_calls": 1}),
        (call("sendto", 9, result=-errno.EBADF), {"other_calls": 1}),
        (call("sendto", 9), {"network_calls": 1}),
        (call("write", 0, result=-errno.EBADF), {"filesystem_calls": 1}),
        (call("mkdirat", 9, result=-errno.EBADF), {"filesystem_calls": 1}),
        (call("read", (1 << 63) | 1), {"filesystem_calls": 1}),
        (call("getpid"), {"other_calls": 1}),
    ],
)
def test_calls_on_unknown_descriptors_count_by_what_is_known(
    text: str, expected: Mapping[Count, float]
) -> None:
    assert counted(text) == expected


def test_calls_that_a_filter_refuses_show_their_ends_alone_and_count() -> None:
    refused = end("clone3", -errno.ENOSYS) + end("socket", -errno.EACCES)
    assert counted(call("getpid"), refused) == {"other_calls": 2, "network_calls": 1}
    assert counted(end("read", 4)) == {}


def test_threads_share_descriptors_and_forks_have_a_copy() -> None:
    socket_of_thread = call("socket", 2, 1, result=5, thread="70/71")
    thread = "70/70 PERF_RECORD_FORK(70:71):(70:70)\n" + socket_of_thread
    assert counted(thread, READ) == {"network_calls": 2}
    fork = "70/70 PERF_RECORD_FORK(72:72):(70:70)\n"
    closed = call("close", 5, thread="72/72")
    assert counted(thread, fork, closed, READ) == {"network_calls": 4 - 1}
    assert counted(OPENED, fork, call("read", 5, thread="72/72")) == {"filesystem_calls": 2}


def test_a_thread_that_executes_becomes_the_process() -> None:
    text = (
        "70/70 PERF_RECORD_FORK(70:71):(70:70)\n",
        OPENED,
        call("execve", 1, 2, 3, thread="70/71"),
        "70/70 PERF_RECORD_EXIT(70:70):(69:69)\n",
        end("execve", 0),
        READ,
    )
    assert counted(*text) == {"filesystem_calls": 2, "other_calls": 1}


def test_an_id_that_is_used_again_is_another_process() -> None:
    fork, gone = "70/70 PERF_RECORD_FORK(72:72):(70:70)\n", "72/72 PERF_RECORD_EXIT(72:72):(70:70)\n"
    stray = call("getpid", thread="72/72")
    assert counted(fork, stray, gone) == {"other_calls": 1}
    assert counted(fork, gone, stray) == {}
    assert counted(fork, gone, fork, stray) == {"other_calls": 1}


def test_processes_of_others_do_not_count() -> None:
    other = "80/80 PERF_RECORD_FORK(81:81):(80:80)\n"
    assert counted(call("read", 0, thread="80/80"), other, call("read", 0, thread="81/81")) == {}


@pytest.mark.parametrize("kind", ["LOST", "LOST_SAMPLES"])
def test_lost_events_are_summed_up(kind: str) -> None:
    line = f"   70/70    PERF_RECORD_{kind} lost "
    assert events(f"{line}1554\n", f"{line}2\n").lost == 1556


@pytest.mark.parametrize("name", ["a\n70/70 raw_sys", "\n 1/1 lost 5", "a\nRECORD_FORK(1", "\n", "\n70/70"])
def test_the_name_of_a_thread_makes_no_events(name: str) -> None:
    found = events(f"70/70 PERF_RECORD_COMM: {name}:70/70\n", f"70/70 PERF_RECORD_COMM exec: {name}:70/70\n")
    assert (found.lost, sum(found.counts.values())) == (0, 1)
    assert len(name) <= 15 < len("PERF_RECORD_LOST")


def test_garbage_is_no_call_and_is_not_kept() -> None:
    chance = random.Random(5)
    garbage = bytes(chance.randrange(11, 256) for _ in range(100_000)).decode("latin-1")
    found = events(garbage, "\n70/70 raw_syscalls:sys_enter: NR 0 (zz)\n", "x" * 99_999)
    assert sum(found.counts.values()) == 1
    assert len(found._rest) == MOST_LINE


def test_unknown_numbers_do_not_fill_the_memory() -> None:
    lines = [
        f"70/70 raw_syscalls:sys_enter: NR {n} (0, 0, 0, 0, 0, 0)\n"
        for n in range(1000, 1000 + 2 * MOST_NAMES)
    ]
    found = events(*lines, "70/70 raw_syscalls:sys_enter: NR -1 (0, 0, 0, 0, 0, 0)\n")
    assert found.counts["other_calls"] == 2 * MOST_NAMES + 2
    assert found.details["other_calls"]["call_1000"] == 1
    assert len(found.details["other_calls"]) == MOST_NAMES + 1


def test_the_kernel_keeps_ends_of_what_opens_executes_and_fails() -> None:
    terms = kept_ends(NAMES).split("||")
    assert {"ret==-9", "ret==-38", f"id=={NUMBERS['openat']}", f"id=={NUMBERS['execve']}"} <= set(terms)
    assert all(re.fullmatch(r"ret==-\d+|id==\d+", term) for term in terms)
    assert f"id=={NUMBERS['read']}" not in terms


@pytest.mark.parametrize(
    ("machine", "some"),
    [
        ("x86_64", {0: "read", 59: "execve", 257: "openat", 334: "rseq", 435: "clone3", 451: "cachestat"}),
        ("aarch64", {63: "read", 221: "execve", 56: "openat", 293: "rseq", 435: "clone3", 222: "mmap"}),
    ],
)
def test_numbers_are_those_of_the_machine(machine: str, some: Mapping[int, str]) -> None:
    names = names_of(machine)
    assert some.items() <= names.items()
    assert len(set(names.values())) == len(names) > 300


def test_a_machine_that_is_not_known_has_no_names() -> None:
    assert names_of("pdp11") == {}


def test_each_call_that_a_rule_names_exists_somewhere() -> None:
    known = {*names_of("x86_64").values(), *names_of("aarch64").values()}
    older = {"mmap2", "stat64", "lstat64", "fstatat64"}  # of 32-bit programs, which strace knows
    ruled: Sequence[str] = [*OPENINGS, *PAIRS, *" ".join([*OF_UNKNOWN.values(), *OF_NAME.values()]).split()]
    assert set(ruled) - known == older
