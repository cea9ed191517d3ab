"""kill -9 at any point of each mode: nothing half-written, lost or said twice, and a rerun completes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nursery import Nursery
from tests.reliability.kills import MODES, kill


@pytest.mark.parametrize("mode", MODES)
def test_ten_kills_of_a_mode_lose_nothing(nursery: Nursery, mode: str, tmp_path: Path) -> None:
    toll = kill(nursery, mode, tmp_path / "ground", points=10)
    assert toll.problems == ()
    assert toll.killed >= 5 and toll.killed + toll.ended == 10


@pytest.mark.soak
@pytest.mark.parametrize("mode", MODES)
def test_a_hundred_kills_of_a_mode_lose_nothing(nursery: Nursery, mode: str, tmp_path: Path) -> None:
    toll = kill(nursery, mode, tmp_path / "ground", points=100, seed=1)
    assert toll.problems == ()
    assert toll.killed >= 80 and toll.killed + toll.ended == 100
