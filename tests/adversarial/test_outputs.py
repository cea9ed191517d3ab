"""A metric's pattern meets a text that the program chose: what looks through it can do nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.adapters.processes import landlock, seccomp

CODE = Path(__file__).resolve().parents[2]
LOOK = """
import json, os, re, socket, sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
from bot.adapters.trials import summary

kept = open(sys.argv[2])

def attempt(pattern, text, flags):
    try:
        {attempt}
    except (OSError, AssertionError):
        return ["0"]
    return ["1"]

summary.re.findall = attempt
account = json.loads(sys.argv[3])
run = SimpleNamespace(output=b"x", request={{"confine": {{"uid": account, "gid": account}}}})
print(summary._extract(run, "x", "last"))
"""
ATTEMPTS = {
    "read a file": "open(sys.argv[2]).read()",
    "write a file": "open('/tmp/suspects-written', 'w')",
    "start a program": "os.posix_spawn('/bin/true', ['true'], {})",
    "fork": "os.fork()",
    "kill": "os.kill(os.getppid(), 0)",
    "connect": "socket.socket(socket.AF_UNIX)",
}


def looked(attempt: str, tmp_path: Path) -> str:
    """What a look through an output says in which somebody attempts something: 1.0 if that went well."""
    secret = tmp_path / "secret"
    secret.write_text("token")
    account = "61999" if os.geteuid() == 0 else "null"
    program = LOOK.format(attempt=attempt)
    words = [sys.executable, "-I", "-c", program, str(CODE), str(secret), account]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_looks_through_an_output_can_do_nothing_else(attempt: str, tmp_path: Path) -> None:
    assert landlock.version() >= landlock.OLDEST and seccomp.available()
    assert looked(ATTEMPTS[attempt], tmp_path) in ("0.0", "None")


def test_it_has_the_programs_account(tmp_path: Path) -> None:
    expected = "1.0" if os.geteuid() == 0 else "0.0"
    assert looked("assert os.getuid() == os.getgid() == 61999", tmp_path) == expected


def test_looking_for_ever_and_dying_find_no_number(tmp_path: Path) -> None:
    assert looked("while True: pass", tmp_path) == "None"
    assert looked("os._exit(1)", tmp_path) == "None"
