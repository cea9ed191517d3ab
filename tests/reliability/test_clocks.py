"""Clocks that jump: runs of the future and of the past are history like others, and nothing is lost."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.stores.directory import DirectoryPlace
from bot.adapters.stores.layered import LayeredStore
from bot.model.history import Measurements
from tests.adapters.stores.samples import run
from tests.nursery import Nursery
from tests.reliability.kills import MODES

FUTURE, PAST = datetime(2199, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)


def at(number: int, moment: datetime) -> Measurements:
    """A run that began at a moment."""
    one = run(number)
    begun = one.runs[0].model_copy(update={"started": moment})
    return Measurements.concatenated([one]).__class__(**{**vars(one), "runs": (begun,)})


def test_runs_of_any_time_are_kept_and_ordered(tmp_path: Path) -> None:
    store = LayeredStore([DirectoryPlace(tmp_path)])
    for number, moment in enumerate((FUTURE, PAST, datetime.now(UTC))):
        store.append(at(number, moment))
    again = LayeredStore([DirectoryPlace(tmp_path)])
    assert [one.problem for one in again.verify()] == [""] * 3
    assert [one.id for one in again.read().runs] == ["run-1", "run-2", "run-0"]


def test_a_writer_is_not_swept_by_one_whose_clock_is_an_hour_ahead(tmp_path: Path) -> None:
    store = LayeredStore([DirectoryPlace(tmp_path)])
    young = tmp_path / ".part-young"
    young.write_bytes(b"half")
    ahead = time.time() + timedelta(minutes=59).total_seconds()
    os.utime(young, (ahead, ahead))  # written by a machine whose clock is ahead of ours
    store.append(run())
    assert young.exists()


@pytest.mark.parametrize(
    ("mode", "jump"), [("pull request", -3600.0), ("bisection", 86_400.0), ("night", 1e9)]
)
def test_a_clock_that_jumps_to_and_fro_changes_no_budget(
    nursery: Nursery, mode: str, jump: float, tmp_path: Path
) -> None:
    with MODES[mode](tmp_path / "ground") as ground:
        ended = nursery.start(ground.words, ground.folder, ground.environ, jump=jump)
        assert ended["status"] == 0
        ground.done()
        told = json.loads((ground.folder / "report.json").read_text("utf-8"))
        assert 0 <= told["spent"]["seconds"] <= 200 and told["spent"]["trials"] > 10
        assert nursery.start(ground.words, ground.folder, ground.environ)["status"] == 0
        ground.done()
