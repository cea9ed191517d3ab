"""The journal of a long search."""

from __future__ import annotations

import math
import resource
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.adapters.trials.journal import FileJournal
from bot.model.change_points import Observation, Probe
from bot.model.errors import UsageError
from bot.model.space import Option, Space

SPACE = Space((Option("a", "flag", (False, True), False), Option("n", "number", (1, 2), 1)))
IDS = ["r0", "r1", "r2"]
FIRST = Observation(Probe((True, 2), 1), 1.25, anchor=0.04)


def kept(path: Path, *observations: Observation) -> None:
    with FileJournal(path, SPACE, IDS) as journal:
        for observation in observations:
            journal.append(observation)


def known(path: Path, revisions: Sequence[str] = IDS) -> Sequence[Observation]:
    with FileJournal(path, SPACE, revisions) as journal:
        return journal.observations()


def test_trials_come_back_as_they_were(tmp_path: Path) -> None:
    failed = Observation(Probe((False, 1), 2), math.nan)
    unbuilt = Observation(Probe((False, 1), 0), math.nan, built=False)
    kept(tmp_path / "j", FIRST, failed, unbuilt)
    one, two, three = known(tmp_path / "j")
    assert one == FIRST
    assert (two.probe, two.built, math.isnan(two.value)) == (failed.probe, True, True)
    assert (three.probe, three.built) == (unbuilt.probe, False)


def test_a_range_that_grew_or_shrank_keeps_what_it_shares(tmp_path: Path) -> None:
    kept(tmp_path / "j", FIRST, Observation(Probe((True, 2), 0), 1.0))
    (found,) = known(tmp_path / "j", ["older", "elder", "r1"])
    assert found.probe.revision == 2 and found.value == FIRST.value


def test_a_line_cut_short_by_a_kill_is_passed_over_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    kept(tmp_path / "j", FIRST)
    with (tmp_path / "j").open("ab") as file:
        file.write(b'{"revision":"r0","opt')
    second = Observation(Probe((True, 1), 2), 3.5)
    kept(tmp_path / "j", second)
    assert known(tmp_path / "j") == (FIRST, second)


def test_a_journal_that_another_run_writes_is_not_shared(tmp_path: Path) -> None:
    with FileJournal(tmp_path / "j", SPACE, IDS) as journal:
        with pytest.raises(BlockingIOError):
            FileJournal(tmp_path / "j", SPACE, IDS)
        journal.append(FIRST)
    assert known(tmp_path / "j") == (FIRST,)


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    with FileJournal(tmp_path / "j", SPACE, IDS) as journal:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
        try:
            with pytest.raises(UsageError, match="trials cannot be kept: File too large"):
                journal.append(FIRST)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, ignored)
