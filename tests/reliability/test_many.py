"""Hundreds of pull requests in one process: the memory stays flat."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CODE = Path(__file__).resolve().parents[2]
SETTLED, GROWTH = 20, 8.0
"""After so many pull requests everything is loaded; MiB that any later one may have more."""


def run(folder: Path, count: int) -> dict[str, Any]:
    words = [sys.executable, "-m", "tests.reliability.many", str(folder), str(count)]
    done = subprocess.run(words, cwd=CODE, capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def flat(memory: list[float]) -> bool:
    return max(memory[SETTLED:]) <= memory[SETTLED - 1] + GROWTH


def test_forty_pull_requests_in_one_process_need_no_more_memory_than_twenty(tmp_path: Path) -> None:
    told = run(tmp_path, 40)
    assert flat(told["memory"]), told["memory"]
    assert told["wrong"] <= 4


@pytest.mark.soak
def test_500_pull_requests_in_one_process_need_no_more_memory_than_twenty(tmp_path: Path) -> None:
    told = run(tmp_path, 500)
    assert flat(told["memory"]), told["memory"]
    assert told["wrong"] <= 50


def test_a_leak_would_be_seen() -> None:
    assert not flat([100.0] * SETTLED + [100.0 + 0.1 * n for n in range(100)])
