"""Removes what accounts left in shared memory, semaphores and message queues when their processes ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Collection
from pathlib import Path

SHARED = (Path("/dev/shm"), Path("/dev/mqueue"))  # noqa: S108  (where the C library makes them)
SYSTEM_V = {"shm": ("shmid", "shmctl"), "sem": ("semid", "semctl"), "msg": ("msqid", "msgctl")}
"""Kind -> the column of its number in /proc/sysvipc, and the call that removes it."""
_REMOVE = 0

_libc = ctypes.CDLL(None)


def remove_shared(uids: Collection[int]) -> None:
    """Removes these accounts' named shared memory of both kinds; what is somebody else's stays."""
    if os.geteuid() != 0:
        return  # what is ours may be in use
    for folder in SHARED:
        with contextlib.suppress(OSError):
            for path in folder.iterdir():
                if path.lstat().st_uid in uids and not path.is_dir():
                    path.unlink()
    for kind, (column, call) in SYSTEM_V.items():
        with contextlib.suppress(OSError):
            head, *lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
            names = head.split()
            for line in lines:
                entry = dict(zip(names, map(int, line.split()), strict=False))
                if entry["uid"] in uids:
                    _remove(call, entry[column])


def _remove(call: str, number: int) -> None:
    arguments = (number, 0, _REMOVE) if call == "semctl" else (number, _REMOVE, None)
    getattr(_libc, call)(*arguments)
