"""A program that starts itself twice and again: its account is full, ours is not, and nothing outlives it."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.processes import process
from bot.adapters.trials import request
from bot.model.sites import Account

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives code an account to count")

MOST = 80
"""Processes that the bomb may have; the real limit is counted in the same place."""
FIRST = 63000 + 2 * (os.getpid() % 400)
"""Accounts that nothing else has: their processes are counted over the whole machine."""
FORK = "for (;;) fork();"
SESSIONS = "for (int n = 1; n < 65; n++) signal(n, SIG_IGN); for (;;) if (fork() == 0) setsid();"
BOMBS = {"fork": FORK, "sessions": SESSIONS}


def compiled(code: str, folder: Path) -> str:
    """A program of one line of C."""
    source = folder / "bomb.c"
    source.write_text(f"#include <signal.h>\n#include <unistd.h>\nint main(void) {{ {code} }}\n", "utf-8")
    subprocess.run(["cc", "-o", folder / "bomb", source], check=True)
    return str(folder / "bomb")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every account may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def of(uid: int) -> int:
    """How many processes an account has."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found += entry.stat().st_uid == uid
            except OSError:
                continue
    return found


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_fork_bomb_fills_its_own_account_and_is_gone_after_its_time(
    bomb: str, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    own = Account(FIRST + list(BOMBS).index(bomb), FIRST)
    monkeypatch.setattr(process, "LIMITS", {**process.LIMITS, "processes": MOST})
    seen = [0]

    def look() -> bool:
        """Called while it runs, from our own account: we can still start processes and count its."""
        seen.append(of(own.uid))
        assert subprocess.run(["true"]).returncode == 0
        return False

    environ = {"PATH": process.PATH}
    words = [compiled(BOMBS[bomb], folder)]
    ended = process.run(words, cwd=folder, env=environ, account=own, timeout=1.5, stop=look)
    assert ended.outcome == "timeout"
    assert MOST / 2 <= max(seen) <= MOST
    until = time.monotonic() + 20
    while (left := of(own.uid)) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == 0


def test_builds_and_trials_are_counted() -> None:
    """The limits that the tests above make small are those of the two doors."""
    assert process.LIMITS["processes"] == request.PROCESSES == 4096
