"""System calls that no ordinary program needs fail; ordinary programs do not notice."""

from __future__ import annotations

import errno
import json
import os
import socket
import struct
import subprocess
from pathlib import Path

import pytest

from bot.adapters.processes import confine, landlock, process, seccomp
from bot.adapters.processes.readable import Box
from bot.model.subject import Metric
from tests.accounts import OWN
from tests.adapters.workbench import Workbench

PYTHON = "/usr/bin/python3"
ALLOW, ERROR = 0x7FFF0000, 0x00050000
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
ACCOUNT = OWN["base"]

pytestmark = pytest.mark.skipif(not seccomp.available(), reason="this kernel has no filters")


def answer(code: bytes, number: int, architecture: int, *arguments: int) -> int:
    """What a classic BPF program says of a system call: an interpreter of what ours use."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *(*arguments, *[0] * (6 - len(arguments))))
    place, held = 0, 0
    while True:
        what, on_true, on_false, operand = struct.unpack_from("=HBBI", code, 8 * place)
        place += 1
        if what == 0x20:
            (held,) = struct.unpack_from("=I", data, operand)
        elif what == 0x54:
            held &= operand
        elif what == 0x06:
            return int(operand)
        else:
            holds = {0x15: held == operand, 0x35: held >= operand, 0x45: bool(held & operand)}[what]
            place += on_true if holds else on_false


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_refuses_what_is_named_and_nothing_else_on_both_machines(machine: str) -> None:
    architecture, which = ARCHITECTURES[machine]
    forbidden = {numbers[which] for numbers in (*seccomp._FORBIDDEN.values(), seccomp._PERF_EVENT_OPEN)}
    code = seccomp.program(
        machine, seccomp.ORDINARY, (*seccomp._FORBIDDEN.values(), seccomp._PERF_EVENT_OPEN)
    )
    unknown = set(seccomp._UNKNOWN.values())
    for number in set(range(500)) - {seccomp._SOCKET[which], seccomp._CLONE[which]}:
        expected = (
            ERROR | errno.EPERM
            if number in forbidden
            else ERROR | errno.ENOSYS
            if number in unknown
            else ALLOW
        )
        assert answer(code, number, architecture) == expected, number
    assert answer(code, 39 | 0x40000000, architecture) == ERROR | errno.ENOSYS
    assert answer(code, 39, 0x40000003) == ERROR | errno.EACCES  # the table of 32-bit programs
    sockets = {f: answer(code, seccomp._SOCKET[which], architecture, f) for f in range(50)}
    assert {f for f, said in sockets.items() if said == ALLOW} == {1, 2, 10, 16}
    clones = [answer(code, seccomp._CLONE[which], architecture, flags) for flags in (0x003D0F00, 17, 1 << 28)]
    assert clones == [ALLOW, ALLOW, ERROR | errno.EPERM]


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_streams_are_sockets_of_this_machine_and_of_tcp_only(machine: str) -> None:
    architecture, which = ARCHITECTURES[machine]
    code = seccomp.program(machine, seccomp.LOCAL, (), streams=True)
    flags = socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
    allowed = {
        (family, kind, protocol)
        for family in range(50)
        for kind in (*range(8), socket.SOCK_STREAM | flags, socket.SOCK_DGRAM | flags)
        for protocol in (0, socket.IPPROTO_TCP, socket.IPPROTO_SCTP, 262)
        if answer(code, seccomp._SOCKET[which], architecture, family, kind, protocol) == ALLOW
    }
    tcp = {(family, kind & 0xF, protocol) for family, kind, protocol in allowed if family != socket.AF_UNIX}
    assert tcp == {(family, socket.SOCK_STREAM, protocol) for family in (2, 10) for protocol in (0, 6)}
    assert len(allowed) == 10 * 4 + 2 * 2 * 2  # all of AF_UNIX; with and without flags
    assert answer(code, 425, architecture) == ERROR | errno.ENOSYS  # io_uring could open sockets, too


def test_no_call_is_named_twice_or_with_the_numbers_of_another() -> None:
    for which in (0, 1):
        numbers = [pair[which] for pair in seccomp._FORBIDDEN.values()]
        assert len(set(numbers)) == len(numbers)


CALLS = """
import ctypes, errno, json, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(*arguments):
    ctypes.set_errno(0)
    return errno.errorcode.get(ctypes.get_errno() if libc.syscall(*arguments) < 0 else 0, "done")
def opened(family, kind):
    try:
        socket.socket(family, kind).close()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
print(json.dumps({
    "keyctl": tried(250, 0, -3, 0), "unshare": tried(272, 1 << 28), "perf": tried(298, 0, 0, 0, 0, 0),
    "clone": tried(56, 1 << 28 | 17, 0, 0, 0, 0), "clone3": tried(435, 0, 0), "io_uring": tried(425, 1, 0),
    "bpf": tried(321, 0, 0, 0), "userfaultfd": tried(323, 0), "mount": tried(165, 0, 0, 0, 0, 0),
    "vsock": opened(40, 1), "alg": opened(38, 5), "unix": opened(1, 1), "inet": opened(2, 1),
}))
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
def test_calls_that_attacks_begin_with_fail(open_path: Path) -> None:
    def told(box: Box | None) -> dict[str, str]:
        command, env = [PYTHON, "-IS", "-c", CALLS], {"PATH": process.PATH}
        ended = process.run(command, cwd=open_path, env=env, account=ACCOUNT, timeout=60, box=box)
        answers: dict[str, str] = json.loads(ended.log)
        return answers

    ordinary = told(Box((open_path,)))
    network = {ordinary.pop(name) for name in ("inet",)}  # of a namespace, or refused by the other filter
    assert network <= {"done", "EACCES"}
    assert ordinary.pop("unix") == "done"
    assert {ordinary.pop(name) for name in ("clone3", "io_uring")} == {"ENOSYS"}
    assert {ordinary.pop(name) for name in ("vsock", "alg")} == {"EACCES"}
    assert set(ordinary.values()) == {"EPERM"}
    assert told(Box((open_path,), calls="profiler"))["perf"] == "EFAULT"


def test_threads_processes_and_tracers_work_as_ever(open_path: Path) -> None:
    code = (
        "import multiprocessing, subprocess, threading\n"
        "thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()\n"
        "subprocess.run(['echo', 'process'])\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool: print(sum(pool.map(abs, [-1, -2])))\n"
    )
    ended = process.run(
        ["python3", "-uc", code], cwd=open_path, env={"PATH": process.PATH}, account=ACCOUNT, timeout=60,
        box=Box((open_path,)),
    )  # fmt: skip
    assert ended.log.splitlines() == ["thread", "process", "3"]


def test_a_kernel_without_filters_or_landlock_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "available", lambda: False)
    monkeypatch.setattr(landlock, "version", lambda: 1)
    lacks = (landlock.MISSING, seccomp.MISSING)
    assert process.accounts("auto").notes[-2:] == lacks
    assert process.accounts("off").notes[-2:] != lacks


def test_trials_are_filtered_too(workbench: Workbench) -> None:
    workbench.program("#!/bin/sh\nexec grep -c 'Seccomp:.2' /proc/self/status\n")
    pair = workbench.pair(metrics=[Metric(name="filtered", regex=r"(\d)")])
    assert pair.first.metrics["filtered"] == 1


def test_the_launcher_says_what_it_cannot_do_in_one_line() -> None:
    spec = {"calls": "ordinary", "cwd": "/no/such/folder"}
    done = subprocess.run(
        [PYTHON, "-I", "-S", confine.__file__, json.dumps(spec), "--", "true"], capture_output=True, text=True
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (confine.CANNOT_CONFINE, 1)
