"""Shared memory of accounts whose processes ended is removed, other people's is not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bot.adapters.processes.leftovers import remove_shared

UID = 63900 + os.getpid() % 50
MAKE = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
name = f"/dev/shm/left-{os.getpid()}"
open(name, "w").write("x")
made = 0o600 | 0o1000
print(name, libc.shmget(0, 4096, made), libc.semget(0, 1, made), libc.msgget(0, made))
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change accounts")


def left(uid: int) -> tuple[Path, dict[str, int]]:
    """What a process of an account leaves behind: a file, and numbers of three kinds."""
    done = subprocess.run(
        ["/usr/bin/python3", "-c", MAKE],
        user=uid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=True,
    )
    name, *numbers = done.stdout.split()
    return Path(name), dict(zip(("shm", "sem", "msg"), map(int, numbers), strict=True))


def there(kind: str, number: int) -> bool:
    lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
    return any(int(line.split()[1]) == number for line in lines)


def test_what_an_account_left_is_removed_and_what_others_left_is_not() -> None:
    mine, others = left(UID), left(UID + 60)
    try:
        assert all(number >= 0 and there(kind, number) for kind, number in mine[1].items())
        remove_shared([UID])
        assert not mine[0].exists()
        assert not any(there(kind, number) for kind, number in mine[1].items())
        assert others[0].exists()
        assert all(there(kind, number) for kind, number in others[1].items())
    finally:
        remove_shared([UID, UID + 60])
    assert not others[0].exists()
