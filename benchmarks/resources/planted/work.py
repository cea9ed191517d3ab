"""Runs a Python module as a program, after work of one class each by amounts in PLANT ("kind=amount ...")."""

import mmap
import os
import runpy
import socket
import sys
import time
from contextlib import suppress


def cpu(n: int) -> None:
    """Some 150 instructions each."""
    s = 1
    for i in range(n):
        s = (s * 1103515245 + i) & 0xFFFFFFFF


def strides(n: int, size: int) -> None:
    """A miss of a cache smaller than `size` for each of n lines."""
    lines = memoryview(bytearray(size)).cast("Q")[::8]
    for _ in range(n // len(lines)):
        lines.tolist()
    lines[: n % len(lines)].tolist()


def vm(n: int) -> None:
    """16 page faults and 2 calls each."""
    for _ in range(n):
        with mmap.mmap(-1, 65536, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
            for at in range(0, 65536, 4096):
                pages[at] = 1


def filesystem(n: int) -> None:
    """3 calls each."""
    for _ in range(n):
        handle = os.open("/etc/passwd", os.O_RDONLY)
        os.read(handle, 1)
        os.close(handle)


def network(n: int) -> None:
    """2 calls each; a sandbox may have no network to send on."""
    with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as other:
        one.bind(("127.0.0.1", 0))
        one.setblocking(False)
        for _ in range(n):
            with suppress(OSError):
                other.sendto(b"x", ("127.0.0.1", 9))
            with suppress(OSError):
                one.recv(1)


def ipc(n: int) -> None:
    """2 calls each."""
    reads, writes = os.pipe()
    for _ in range(n):
        os.write(writes, b"x")
        os.read(reads, 1)
    os.close(reads)
    os.close(writes)


def other(n: int) -> None:
    """One call each."""
    for _ in range(n):
        os.getppid()


def blocked(n: int) -> None:
    """One wait each, and a call."""
    for _ in range(n):
        time.sleep(1e-9)


KINDS = {
    "cpu": cpu,
    "cache": lambda n: strides(n, 1 << 20),
    "memory": lambda n: strides(n, 64 << 20),
    "vm": vm,
    "filesystem": filesystem,
    "network": network,
    "ipc": ipc,
    "syscall-other": other,
    "blocked": blocked,
}
for part in os.environ["PLANT"].split():
    kind, _, amount = part.partition("=")
    KINDS[kind](int(amount))
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
