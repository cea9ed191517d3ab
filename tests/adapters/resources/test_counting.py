"""Trials at built sites are counted by all three sources."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.adapters.resources.counting import SiteCounter
from bot.adapters.trials.site_targets import SiteTargets
from bot.model.resources import SOURCE_OF, Counted, Source
from bot.model.sites import Site
from bot.model.space import Configuration
from bot.model.subject import FlagOption, Program, Server, Subject, Workload
from bot.model.trials import Side
from tests.accounts import OWN

PROGRAM = """
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  int many = count > 2 && !strcmp(words[1], "--slow") ? 300 : 10, times = 0;
  FILE *file = fopen(words[count - 1], "r");
  fscanf(file, "%d", &times);
  volatile long sum = 0;
  for (int i = 0; i < many * times * 100; i++) sum += i;
  for (int i = 0; i < many; i++) close(open("/etc/hostname", O_RDONLY));
  return times == 13;
}
"""


class Stall:
    """Two sites with the same native program, and counters over them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.stopped, self.run = folder, False, "./work {options} {workload}"
        self.sites: dict[Side, Site] = {}
        self.workload = folder / "input" / "times"
        self.workload.parent.mkdir()
        self.workload.write_text("10\n")
        self.workload.chmod(0o644)
        for side, account in OWN.items():
            root = folder / side
            root.mkdir()
            (root / "work.c").write_text(PROGRAM)
            subprocess.run(["gcc", "-w", "-o", "work", "work.c"], cwd=root, check=True)
            self.sites[side] = Site(side, root, account, {"times": self.workload})

    def counter_of(self, subject: Subject) -> SiteCounter:
        """A counter of any program at the sites."""
        targets = SiteTargets(subject, self.sites, scratch=self.folder, stop=lambda: self.stopped)
        return SiteCounter(targets)

    def counter(self) -> tuple[SiteCounter, Configuration, Configuration]:
        """A counter, the default configuration and a slow one."""
        subject = Subject(
            program=Program(run=self.run),
            options={"slow": FlagOption(flag="--slow")},
            workloads={"times": Workload(path="times")},
        )
        return self.counter_of(subject), subject.space.default, (True,)


@pytest.fixture
def stall(open_path: Path) -> Stall:
    """Sites that every account can enter."""
    return Stall(open_path)


SOURCES: tuple[Source, ...] = ("usage", "calls", "simulation")


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_has_its_own_counts_and_needs_nothing_here(stall: Stall, source: Source) -> None:
    counter, default, _ = stall.counter()
    counted = counter.count("head", default, source)
    assert counted.ok, counted.notes
    assert counted.source == source
    assert set(counted.counts) == {count for count, of in SOURCE_OF.items() if of == source}
    assert counted.seconds > 0.0
    assert counter.missing() == {}


def test_both_sides_count_the_same_and_a_slow_configuration_more(stall: Stall) -> None:
    counter, default, slow = stall.counter()
    base, head, slower = (
        counter.count(*what, "calls") for what in (("base", default), ("head", default), ("head", slow))
    )
    assert base.counts == head.counts
    assert slower.counts["filesystem_calls"] - head.counts["filesystem_calls"] == 2 * 290


def test_no_seconds_left_is_cut_and_so_is_a_signal(stall: Stall) -> None:
    counter, default, _ = stall.counter()

    def outcomes(seconds: float) -> set[str]:
        return {counter.count("head", default, source, seconds=seconds).outcome for source in SOURCES}

    assert outcomes(0.0) == {"cut"}
    stall.stopped = True
    assert outcomes(60.0) == {"cut"}


def test_a_failed_trial_is_an_outcome(stall: Stall) -> None:
    stall.workload.write_text("13\n")
    counter, default, _ = stall.counter()
    assert {counter.count("base", default, source).outcome for source in SOURCES} == {"exit"}


def test_a_program_without_an_interpreter_has_no_start_up(stall: Stall) -> None:
    counter, *_ = stall.counter()
    assert counter.start_up("head", "calls") is None


def test_the_start_up_of_an_interpreter_is_less_than_the_program(stall: Stall) -> None:
    stall.run = "sh -c './work {options} {workload}'"
    counter, default, _ = stall.counter()
    start, whole = counter.start_up("base", "calls"), counter.count("base", default, "calls")
    assert start is not None
    assert start.ok and whole.ok
    assert 0 < sum(start.counts.values()) < sum(whole.counts.values())


def test_a_server_is_refused_in_one_line(stall: Stall) -> None:
    program = Program(run="./work {port}", server=Server(start="./work {port}", ready="true"))
    counter = stall.counter_of(Subject(program=program))
    sentence = "Resources of a server (`program.server`) are not counted."
    assert counter.missing() == dict.fromkeys(SOURCES, (sentence,))


def test_what_cannot_be_made_ready_is_a_note(stall: Stall) -> None:
    counter, default, _ = stall.counter()
    stall.folder.rename(stall.folder.with_name(f"{stall.folder.name}-gone"))
    try:
        counted: Counted = counter.count("base", default, "calls")
        assert counted.outcome == "not-started"
        assert counted.notes[0].startswith("Resources could not be counted: ")
        assert set(counter.missing()) == set(SOURCES)
    finally:
        stall.folder.with_name(f"{stall.folder.name}-gone").rename(stall.folder)
