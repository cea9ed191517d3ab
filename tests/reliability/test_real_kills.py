"""kill -9 again and again during one bisection of a real repository: every trial that was kept stays kept."""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest

from tests.end_to_end.builders import Place, left
from tests.end_to_end.conftest import place
from tests.end_to_end.test_bisect_git import Line, measured

__all__ = ["place"]
LONGEST = 6.0
"""Seconds after which a run is killed at the latest: loading, building and some trials."""


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_ten_kills_of_one_bisection_lose_no_trial_and_it_ends(place: Place, seed: int) -> None:
    line = Line(place, {"beta": 4})
    kept: list[dict[str, Any]] = []
    line.grow(8)
    for moment in np.random.default_rng(seed).uniform(0.3, LONGEST, 10):
        process = place.start(*line.asking("--trials", "60"))
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert left(place.folder, patience=20) == {}, moment
        before, kept = kept, line.journal()
        assert kept[: len(before)] == before, moment
    report = measured(line.bisected("--trials", "60"))
    assert line.journal()[: len(kept)] == kept
    assert [point["term"] for point in report["change_points"]] == [["beta"]]
