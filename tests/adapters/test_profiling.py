"""Trials at built sites run under the profiler of their runtime."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.adapters.profiling import SiteProfiler
from bot.model.profiles import Method
from bot.model.sites import Account, Site
from bot.model.subject import FlagOption, Program, Subject, Workload
from bot.model.trials import Side

PROGRAM = """
import sys
def slow():
    return sum(i * i for i in range(200_000))
def quick():
    return 1
for line in open(sys.argv[-1]):
    for _ in range(int(line)):
        slow() if "--slow" in sys.argv else quick()
"""
_UID = 62000 + os.getpid() % 900


class Shelf:
    """Two sites with a Python program, and profilers over them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.stopped = folder, False
        self.program: dict[str, object] = {"runtime": "python", "run": "python3 work.py {options} {workload}"}
        self.sites: dict[Side, Site] = {}
        workload = folder / "rounds"
        workload.write_text("20\n")
        workload.chmod(0o644)
        for number, side in enumerate(("base", "head")):
            root = folder / side
            root.mkdir()
            (root / "work.py").write_text(PROGRAM)
            account = Account(_UID + number, _UID + number) if os.geteuid() == 0 else None
            self.sites[side] = Site(side, root, account, {"rounds": workload})  # type: ignore[index,arg-type]

    def profiler(self, **options: FlagOption) -> SiteProfiler:
        """A profiler of both sites."""
        subject = Subject(
            program=Program.model_validate(self.program),
            options={"slow": FlagOption(flag="--slow"), **options},
            workloads={"rounds": Workload(path="rounds")},
        )
        return SiteProfiler(subject, self.sites, scratch=self.folder, stop=lambda: self.stopped)


@pytest.fixture
def shelf(open_path: Path) -> Shelf:
    """Sites that every account can enter."""
    return Shelf(open_path)


def calls(methods: Mapping[Method, object]) -> set[str]:
    """Names of methods that were seen."""
    return {method.name for method in methods}


def test_each_configuration_shows_its_own_methods(shelf: Shelf) -> None:
    profiler = shelf.profiler()
    assert profiler.missing() == ()
    slow, quick = profiler.profile("head", (True,)), profiler.profile("base", (False,))
    assert (slow.outcome, quick.outcome) == ("ok", "ok")
    work = Method("work:slow", "work.py")
    assert slow.methods[work].calls == 20
    assert "work:slow" not in calls(quick.methods) and "work:quick" in calls(quick.methods)
    (found,) = [method for method in slow.methods if method == work]
    assert profiler.bodies("head", [found])[found].startswith("def slow():")


def test_nothing_is_left_behind(shelf: Shelf) -> None:
    before = sorted(shelf.folder.iterdir())
    shelf.profiler().profile("head", (True,))
    assert sorted(shelf.folder.iterdir()) == before


@pytest.mark.parametrize("why", ["signal", "time"])
def test_a_profile_that_may_not_run_on_is_cut(shelf: Shelf, why: str) -> None:
    (shelf.sites["head"].root / "work.py").write_text("import time\ntime.sleep(60)\n")
    shelf.stopped = why == "signal"
    profile = shelf.profiler().profile("head", (True,), seconds=0.5)
    assert profile.outcome == "cut"


def test_a_program_that_is_not_there_is_an_outcome(shelf: Shelf) -> None:
    shelf.program["run"] = "./missing {options}"
    profile = shelf.profiler().profile("head", (True,))
    assert profile.outcome == "not-started" and not profile.methods


def test_no_room_for_a_scratch_folder_is_an_outcome(shelf: Shelf) -> None:
    shelf.folder = shelf.folder / "missing"
    profiler = shelf.profiler()
    profile = profiler.profile("head", (True,))
    assert (profile.outcome, profile.notes) == (
        "not-started",
        ("Methods could not be profiled: No such file or directory.",),
    )
    assert profiler.missing() == profile.notes
