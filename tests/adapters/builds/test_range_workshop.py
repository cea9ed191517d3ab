"""Revisions of a range are built ahead and at the same time, equal trees once, and failures are outcomes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.adapters.profilers.profiling import SiteProfiler
from bot.adapters.trials.site_targets import SiteTargets
from bot.model.sites import Site
from bot.model.subject import Program, Subject, Workload
from bot.model.trials import Side
from bot.report.ranges.headline import doubtful
from tests.adapters.shop import GOOD, Shop, finished
from tests.adapters.workbench import soon
from tests.repositories import commit


def test_the_last_revision_is_the_anchor_and_others_are_built_when_wanted(shop: Shop) -> None:
    shop.revisions(GOOD, GOOD, GOOD)
    workshop = shop.opened()
    assert workshop.anchor() == 2 and shop.runs() == ["2"]
    workshop.want([0])
    assert finished(workshop, 0) == ["built"]
    assert (workshop.site(0).root / "product").read_text() == "0\n"
    assert workshop.site(2, "base").account == shop.accounts["base"]
    assert workshop.site(0).account == shop.accounts["head"]
    assert len(str(workshop.site(0).root)) == len(str(workshop.site(2).root))
    assert workshop.builds == 2 and workshop.seconds > 0 and workshop.notes() == ()


def test_an_anchor_is_looked_for_at_doubled_distances(shop: Shop) -> None:
    shop.revisions(GOOD, GOOD, GOOD, "exit 1\n", "exit 1\n", "exit 1\n")
    workshop = shop.opened()
    assert workshop.anchor() == 1 and shop.runs() == ["5", "4", "3", "1"]
    assert workshop.notes() == ("r5 cannot be built: all were compared with r1 instead.",)


def test_nothing_that_builds_is_told_of_the_last_revision(shop: Shop) -> None:
    shop.revisions("exit 1\n", "exit 2\n", "exit 3\n")
    workshop = shop.opened()
    assert workshop.anchor() is None and workshop.failure is not None
    assert workshop.failure.reason == "`build` of r2 ended with exit code 3."


def test_a_workload_that_cannot_be_had_is_told(shop: Shop) -> None:
    shop.revisions(GOOD, GOOD)
    workshop = shop.opened(w=Workload(path="nowhere"))
    assert workshop.anchor() is None and workshop.failure is not None
    assert workshop.failure.reason == "Workload w: there is no nowhere at r1."


def test_workloads_come_from_the_anchor_and_serve_all(shop: Shop) -> None:
    shop.revisions(GOOD, GOOD)
    workshop = shop.opened(w=Workload(path="text"))
    workshop.anchor()
    workshop.want([0])
    finished(workshop, 0)
    assert workshop.site(0).workloads["w"].read_text() == "1\n"


def test_several_are_built_while_nobody_waits(shop: Shop) -> None:
    shop.revisions(GOOD, GOOD, GOOD, GOOD, GOOD)
    workshop = shop.opened()
    workshop.anchor()
    workshop.want([0, 1, 2, 3])
    assert soon(lambda: len(shop.runs()) == 5, 60)
    assert finished(workshop, 0, 1, 2, 3) == ["built"] * 4


def test_a_failed_build_is_an_outcome_and_is_not_tried_again(shop: Shop) -> None:
    shop.revisions("exit 1\n", GOOD)
    workshop = shop.opened()
    workshop.anchor()
    for _ in range(2):
        workshop.want([0, 1])
        assert finished(workshop, 0, 1) == ["failed", "built"]
    assert shop.runs() == ["1", "0"] and workshop.builds == 2


def test_what_an_earlier_run_could_not_build_is_not_tried(shop: Shop) -> None:
    shop.revisions("exit 1\n", GOOD)
    workshop = shop.opened()
    workshop.anchor()
    workshop.give_up({0})
    workshop.want([0])
    assert workshop.state(0) == "failed" and shop.runs() == ["1"]


def test_equal_trees_are_built_once(shop: Shop) -> None:
    shop.revisions(GOOD, GOOD)
    shop.ids.append(commit(shop.repository, {"text": "0\n", "build.sh": f"echo 0 >> {shop.built}\n{GOOD}"}))
    workshop = shop.opened()
    assert workshop.anchor() == 2 and workshop.same(0, 2) and not workshop.same(0, 1)
    workshop.want([0])
    assert workshop.state(0) == "built" and workshop.site(0).root == workshop.site(2).root
    assert shop.runs() == ["0"]


def test_a_second_run_takes_all_from_the_cache(shop: Shop) -> None:
    shop.revisions(GOOD, GOOD)
    for _ in range(2):
        workshop = shop.opened()
        workshop.anchor()
        workshop.want([0])
        assert finished(workshop, 0) == ["built"]
        workshop.close()
    assert shop.runs() == ["1", "0"] and workshop.builds == 0


def test_a_stop_cuts_what_is_building_and_says_nothing_of_it(shop: Shop) -> None:
    shop.revisions("sleep 1000\n", GOOD)
    workshop = shop.opened()
    workshop.anchor()
    workshop.want([0])
    assert soon(lambda: "0" in shop.runs())
    shop.stop = True
    assert finished(workshop, 0) == ["cut"]


def test_what_is_still_building_at_the_end_is_told_for_trials_waited_for_it(shop: Shop) -> None:
    shop.revisions("sleep 1000\n", GOOD)
    workshop = shop.opened()
    workshop.anchor()
    assert workshop.notes() == ()
    workshop.want([0])
    (said,) = workshop.notes()
    assert said.startswith("1 revision that trials waited for was not built in time")
    assert said.endswith("makes room for builds, and `program.cache` keeps what they can share.")
    assert doubtful(said)
    workshop.close()


def test_closing_ends_what_is_building(shop: Shop) -> None:
    shop.revisions("sleep 1000\n", GOOD)
    workshop = shop.opened()
    workshop.anchor()
    workshop.want([0])
    assert soon(lambda: "0" in shop.runs())
    workshop.close()


def test_a_full_disk_says_nothing_of_a_revision(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.revisions("exit 1\n", GOOD)
    workshop = shop.opened()
    workshop.anchor()
    monkeypatch.setattr("bot.adapters.builds.range_workshop.FULL_BYTES", 1 << 62)
    workshop.want([0])
    assert finished(workshop, 0) == ["cut"] and "`build` of r0" in workshop.notes()[0]


def test_a_short_disk_costs_the_trees_that_nobody_needs(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.revisions(GOOD, GOOD, GOOD)
    workshop = shop.opened()
    workshop.anchor()
    workshop.want([0])
    finished(workshop, 0)
    monkeypatch.setattr("bot.adapters.builds.range_workshop.ROOM_BYTES", 1 << 62)
    first, anchor = workshop.site(0).root, workshop.site(2).root
    workshop.want([1])
    assert not first.exists() and anchor.exists()
    workshop.want([0, 1])
    assert finished(workshop, 0, 1) == ["built", "built"] and first.exists()


def test_few_trees_are_locked_at_the_same_time(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.adapters.builds.range_workshop.MOST_HELD", 2)
    shop.revisions(GOOD, GOOD, GOOD)
    workshop = shop.opened()
    workshop.anchor()
    for place in (0, 1, 0):
        workshop.want([place])
        assert finished(workshop, place) == ["built"]
    assert shop.runs() == ["2", "0", "1"]  # let go, but still in the cache


SOURCE = """
__attribute__((noinline)) static unsigned work(unsigned n) {
    for (int i = 0; i < 3000000; i++) n = n * 1664525u + 1013904223u;
    return n;
}
int main(void) {
    volatile unsigned sum = 0;
    for (int i = 0; i < 50; i++) sum += work(i);
    return 0;
}
"""
COMPILED = "printf '%s' \"$SOURCE\" > work.c\ncc -O1 $CFLAGS -o product work.c\n"


def native(shop: Shop, build: str = COMPILED, runtime: str = "native") -> Subject:
    program = Program.model_validate(
        {
            "run": "./product {options}",
            "build": "sh ./build.sh",
            "runtime": runtime,
            "env": {"SOURCE": SOURCE, "CFLAGS": "-fno-inline"},
        }
    )
    shop.revisions(build, build)
    return shop.subject(program=program)


def sections(path: Path) -> str:
    return subprocess.run(["objdump", "-h", path], capture_output=True, text=True, check=True).stdout


def test_calls_are_watched_in_a_tree_of_its_own_and_what_is_measured_stays_as_it_is(shop: Shop) -> None:
    subject = native(shop)
    workshop = shop.opened(subject)
    assert workshop.anchor() == 1
    measured = workshop.site(1)
    before = (measured.root / "product").read_bytes()
    roomy = workshop.with_room(1)
    assert roomy is not None and roomy.root != measured.root and roomy.account == measured.account
    assert "__patchable_function_entries" in sections(roomy.root / "product")
    assert "__patchable_function_entries" not in sections(measured.root / "product")
    assert (measured.root / "product").read_bytes() == before
    assert shop.runs() == ["1", "1"] and workshop.builds == 2
    again = shop.opened(subject)
    assert again.anchor() == 1 and again.with_room(1) is not None
    assert shop.runs() == ["1", "1"]  # from the cache, both


def test_a_build_that_fails_with_room_for_a_tracer_is_a_note(shop: Shop) -> None:
    refusing = f"{COMPILED}! objdump -h product | grep -q patchable\n"
    workshop = shop.opened(native(shop, refusing))
    assert workshop.anchor() == 1 and workshop.with_room(1) is None
    (note,) = workshop.notes()
    assert note.startswith("Calls are watched in the usual build: `build` of r1 with `-fpatchable")


def test_what_is_not_native_has_no_such_build(shop: Shop) -> None:
    workshop = shop.opened(native(shop, GOOD, runtime="python"))
    assert workshop.anchor() == 1 and workshop.with_room(1) is None
    assert shop.runs() == ["1"] and workshop.notes() == ()


def test_the_tracer_finds_the_room_that_the_build_left(shop: Shop) -> None:
    subject = native(shop)
    workshop = shop.opened(subject)
    assert workshop.anchor() == 1
    notes = []
    for head in (workshop.site(1), workshop.with_room(1)):
        assert head is not None
        sites: dict[Side, Site] = {"base": workshop.site(1, "base"), "head": head}
        targets = SiteTargets(subject, sites, scratch=workshop.scratch, stop=lambda: False)
        profiler = SiteProfiler(targets)
        coarse = profiler.profile("head", (False,))
        work = next(method for method in coarse.methods if method.name == "work")
        watched = profiler.watch("head", (False,), [work], coarse)
        assert watched.outcome == "ok", watched.notes
        assert watched.methods[work].calls == 50
        notes.append("not built with" in "\n".join(watched.notes))
    assert notes == [True, False]
