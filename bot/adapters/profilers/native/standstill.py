"""Lets the threads of a process stand still, outside of code that is about to be overwritten (ptrace)."""

from __future__ import annotations

import ctypes
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

TRIES, SHORTEST, LONGEST = 200, 0.001, 0.03
"""Until no thread is at a place that is about to change; seconds between two tries, more each time: on a busy
machine a thread may wait for a core before it leaves such a place."""

_SEIZE, _INTERRUPT, _DETACH, _GETREGS = 0x4206, 0x4207, 17, 12
_WALL = 0x40000000
_EVENT_STOP = 128
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


class _Registers(ctypes.Structure):
    """`user_regs_struct` of x86-64."""

    _fields_ = (
        ("before", ctypes.c_ulong * 16),
        ("rip", ctypes.c_ulong),
        ("after", ctypes.c_ulong * 10),
    )


@contextmanager
def standstill(threads: Callable[[], Sequence[int]], moving: Callable[[int], bool]) -> Iterator[None]:
    """Threads that stand still go on with the block's end, or when we are killed.

    threads: those that are to stand still. moving: whether a thread that is at this address must go on.

    Raises:
        OSError: we may not stop them, or one does not leave that code.
    """
    if platform.machine() != "x86_64":
        raise OSError("threads can be stopped on x86_64 only")
    for number in range(TRIES):
        stopped: dict[int, int] = {}
        try:
            while fresh := [thread for thread in threads() if thread not in stopped]:
                for thread in fresh:
                    _stop(thread, stopped)
            if not any(moving(_place(thread)) for thread in stopped if stopped[thread] >= 0):
                yield
                return
        finally:
            for thread, signal in stopped.items():
                if signal >= 0:
                    _libc.ptrace(_DETACH, thread, None, signal)
        time.sleep(min(SHORTEST * (number + 1), LONGEST))
    raise OSError("its threads never leave the code that would have to change")


def _stop(thread: int, stopped: dict[int, int]) -> None:
    """Stops one, and notes the signal that it is to get when it goes on; -1: it has ended."""
    stopped[thread] = -1
    if _libc.ptrace(_SEIZE, thread, None, None) != 0:
        error = ctypes.get_errno()
        if not os.path.exists(f"/proc/{thread}"):  # noqa: PTH110
            return
        raise OSError(error, os.strerror(error))
    _libc.ptrace(_INTERRUPT, thread, None, None)
    _, status = os.waitpid(thread, _WALL)
    if os.WIFSTOPPED(status):
        stopped[thread] = 0 if status >> 16 == _EVENT_STOP else os.WSTOPSIG(status)


def _place(thread: int) -> int:
    registers = _Registers()
    if _libc.ptrace(_GETREGS, thread, None, ctypes.byref(registers)) != 0:
        return 0
    return int(registers.rip)
