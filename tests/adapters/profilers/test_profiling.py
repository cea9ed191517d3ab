"""Trials at built sites run under the profiler of their runtime."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.adapters.profilers.profiling import SiteProfiler
from bot.adapters.trials.site_targets import SiteTargets
from bot.model.profiles import Method, MethodCost, Profile, Tool
from bot.model.sites import Site
from bot.model.subject import FlagOption, Program, Subject, Workload
from bot.model.trials import Side
from tests.accounts import OWN

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
NATIVE = """
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int work(int n) { volatile int s = 0; while (n-- > 0) s += n; return s; }
int main(int c, char **v) {
  int s = 0, n = !strcmp(v[c - 2], "--slow") ? 2000000 : 1000000;
  for (int i = 0; i < 50; i++) s += work(i % 2 ? n : 2 * n);
  return s == 1;
}
"""
COUNTED = Tool("counter", "1", "coarse", frozenset({"calls"}), slowdown=50.0)


class Shelf:
    """Two sites with a Python program, and profilers over them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.stopped = folder, False
        self.program: dict[str, object] = {"runtime": "python", "run": "python3 work.py {options} {workload}"}
        self.overhead = 0.5
        self.sites: dict[Side, Site] = {}
        workload = folder / "input" / "rounds"
        workload.parent.mkdir()
        workload.write_text("20\n")
        workload.chmod(0o644)
        for side, account in OWN.items():
            root = folder / side
            root.mkdir()
            (root / "work.py").write_text(PROGRAM)
            self.sites[side] = Site(side, root, account, {"rounds": workload})

    def compile(self, text: str) -> None:
        """Makes the program a native one at head."""
        (self.sites["head"].root / "work.c").write_text(text)
        subprocess.run(["gcc", "-g", "-O1", "-o", "work", "work.c"], cwd=self.sites["head"].root, check=True)
        self.program = {"runtime": "native", "run": "./work {options} {workload}"}

    def profiler(self, **options: FlagOption) -> SiteProfiler:
        """A profiler of both sites."""
        subject = Subject(
            program=Program.model_validate(self.program),
            options={"slow": FlagOption(flag="--slow"), **options},
            workloads={"rounds": Workload(path="rounds")},
            overhead=self.overhead,
        )
        targets = SiteTargets(subject, self.sites, scratch=self.folder, stop=lambda: self.stopped)
        return SiteProfiler(targets)


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
    assert not profile.notes, "what it did not see is no finding about the program"


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


def coarse(calls: int, *methods: Method) -> Profile:
    """A profile of a trial that took long because each call was counted."""
    return Profile(COUNTED, "ok", 1e6, {method: MethodCost(1.0, calls=calls) for method in methods})


def test_single_calls_are_watched_with_what_they_were_given(shelf: Shelf) -> None:
    (shelf.sites["head"].root / "work.py").write_text(
        "def work(n):\n    return sum(i * i for i in range(n))\nfor i in range(40): work(40_000 << i % 2)\n"
    )
    work = Method("work:work", "work.py")
    profile = shelf.profiler().watch("head", (False,), [work], coarse(40, work))
    (series,) = profile.series
    assert (profile.outcome, profile.tool.grain, series.calls) == ("ok", "fine", 40)
    assert set(series.arguments) == {("n=int ~2^16",), ("n=int ~2^17",)}
    assert profile.unprofiled > 0


def test_single_calls_of_a_native_program_are_watched(shelf: Shelf) -> None:
    shelf.compile(NATIVE)
    work = Method("work", "work.c")
    before = sorted(shelf.folder.iterdir())
    profile = shelf.profiler().watch("head", (True,), [work], coarse(50, work))
    (series,) = profile.series
    assert (profile.outcome, series.calls) == ("ok", 50)
    assert set(series.arguments) == {("n=int ~2^21",), ("n=int ~2^22",)}
    assert sorted(shelf.folder.iterdir()) == before


def test_single_calls_of_a_node_program_are_watched(shelf: Shelf) -> None:
    (shelf.sites["head"].root / "work.js").write_text(
        "function work(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s }\n"
        "for (let i = 0; i < 40; i++) work(1e6 * (1 + i % 2))\n"
    )
    shelf.program = {"runtime": "node", "run": "node work.js {options} {workload}"}
    work = Method("work:work", "work.js")
    profile = shelf.profiler().watch("head", (False,), [work], coarse(40, work))
    (series,) = profile.series
    assert (profile.outcome, series.calls, len(set(series.arguments))) == ("ok", 40, 2)


def test_single_calls_of_a_java_program_are_watched(shelf: Shelf) -> None:
    root = shelf.sites["head"].root
    (root / "Work.java").write_text(
        "public class Work {\n"
        "  static long work(int n) { long s = 0; for (int i = 0; i < n; i++) s += i ^ s; return s; }\n"
        "  public static void main(String[] a) {\n"
        "    long s = 0; for (int i = 0; i < 40; i++) s += work(10_000_000); System.out.println(s); } }\n"
    )
    subprocess.run(["javac", "Work.java"], cwd=root, check=True)
    shelf.program = {"runtime": "jvm", "run": "java -cp . Work {options} {workload}"}
    work = Method("Work.work", "Work.java")
    profile = shelf.profiler().watch("head", (False,), [work], coarse(40, work))
    (series,) = profile.series
    assert (profile.outcome, series.calls) == ("ok", 40)
    assert set(series.arguments) == {("int ~2^23",)}


@pytest.mark.parametrize("native", [True, False])
def test_what_is_called_too_often_is_not_watched(shelf: Shelf, native: bool) -> None:
    if native:
        shelf.compile(NATIVE)
    work = Method("work", "work.c") if native else Method("work:slow", "work.py")
    profile = shelf.profiler().watch("head", (True,), [work], coarse(10**10, work))
    assert not profile.series
    assert any("called too often" in note for note in profile.notes)


def test_more_overhead_than_was_asked_for_is_told(shelf: Shelf) -> None:
    shelf.overhead = 0.9
    (shelf.sites["head"].root / "work.py").write_text("def work(): pass\nfor _ in range(1_000_000): work()\n")
    work = Method("work:work", "work.py")
    # The coarse profile was of another workload: timing each call takes far longer than the program.
    profile = shelf.profiler().watch("head", (False,), [work], coarse(3, work))
    assert any("longer, more than the 90% that were asked for" in note for note in profile.notes)


def test_calls_that_were_not_counted_are_watched_once_to_know_what_can_be_watched(shelf: Shelf) -> None:
    (shelf.sites["head"].root / "work.py").write_text(
        "def work(): pass\ndef rare(): pass\nrare()\nfor _ in range(300_000): work()\n"
    )
    work, rare = Method("work:work", "work.py"), Method("work:rare", "work.py")
    shelf.overhead = 0.9
    blind = Profile(COUNTED, "ok", 1e6, {work: MethodCost(1.0), rare: MethodCost(0.0)})
    profile = shelf.profiler().watch("head", (False,), [work, rare], blind)
    assert profile.outcome == "ok"
    assert any("called too often" in note or note.startswith("One in") for note in profile.notes)


def test_a_program_that_fails_without_a_profiler_is_not_watched(shelf: Shelf) -> None:
    (shelf.sites["head"].root / "work.py").write_text("import sys\nsys.exit(3)\n")
    profile = shelf.profiler().watch("head", (False,), [Method("work:work")], coarse(1))
    assert profile.outcome == "exit" and not profile.series
    assert any("without a profiler" in note for note in profile.notes)


def test_watching_that_may_not_run_on_is_cut(shelf: Shelf) -> None:
    shelf.stopped = True
    assert shelf.profiler().watch("head", (False,), [Method("work:slow")], coarse(1)).outcome == "cut"
