"""Instructions and misses of real programs are simulated; logs are read without belief."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from bot.adapters.resources.simulation import Simulation, parse
from tests.adapters.profilers.native.conftest import Forge

LOG = """\
==16013== Cachegrind, a cache and branch-prediction profiler
==16013== Command: ./f
==16013== Parent PID: 16004
==16013==
--16013-- warning: L3 cache found, using its data for the LL simulation.
==16013== I   refs:      120,125,051
==16013== I1  misses:          1,096
==16013== LLi misses:          1,081
==16013== I1  miss rate:        0.00%
==16013== D   refs:       40,038,990  (20,028,761 rd   + 20,010,229 wr)
==16013== D1  misses:          1,516  (     1,181 rd   +        335 wr)
==16013== LLd misses:          1,289  (       983 rd   +        306 wr)
==16013== LL misses:           2,370  (     2,064 rd   +        306 wr)
==16013== Branches:       20,025,075  (20,024,800 cond +        275 ind)
==16013== Mispredicts:         3,246  (     3,097 cond +        149 ind)
==16013== Mispred rate:          0.0% (       0.0%     +       54.2%   )
"""
WORK = """
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sum;
static void work(int n) { for (int i = 0; i < n; i++) sum += i; }
int main(int count, char **words) {
  const char *word = count > 1 ? words[1] : "";
  work(100000);
  if (!strcmp(word, "misses")) {
    char *area = malloc(1 << 20);
    for (int i = 0; i < 1 << 20; i += 64) sum += area[i];
  }
  if (!strcmp(word, "fork") && fork() == 0) { work(100000); _exit(0); }
  if (!strcmp(word, "exec") && fork() == 0) execl(words[0], words[0], "child", (char *)0);
  if (!strcmp(word, "killed")) {
    int ends[2], child;
    pipe(ends);
    if ((child = fork()) == 0) { write(ends[1], "", 1); pause(); }
    read(ends[0], words[1], 1);
    kill(child, 9);
  }
  wait(0);
  if (!strcmp(word, "unknown")) raise(SIGILL);
  return !strcmp(word, "fail");
}
"""


@pytest.fixture
def working(forge: Forge) -> Forge:
    """A program that does much, twice when it is told to."""
    forge.make("-w", "-include", "signal.h", work_c=WORK)
    return forge


def test_the_summary_of_a_process_is_read() -> None:
    summary = parse(LOG)
    assert summary.counts == {
        "instructions": 120_125_051,
        "instruction_misses": 1_096,
        "first_misses": 1_516,
        "last_misses": 1_081 + 1_289,
        "branch_misses": 3_246,
    }
    assert (summary.command, summary.parent) == ("./f", "16004")


@pytest.mark.parametrize("log", ["", "\0\xff" * 1000, "==1== I refs: many\n", "I   refs: 5\n", "=" * 100_000])
def test_a_log_without_a_summary_has_no_counts(log: str) -> None:
    assert parse(log).counts == {}


def test_two_runs_are_the_same_to_the_instruction(working: Forge) -> None:
    first, second = (Simulation().count(working.target()) for _ in range(2))
    assert first.outcome == "ok"
    assert first.counts == second.counts
    assert first.counts["instructions"] > 400_000
    assert first.tool.startswith("cachegrind ")
    assert first.notes == ()


def test_misses_are_those_of_the_pinned_geometry(working: Forge) -> None:
    few, more = (Simulation().count(working.target("./program", *w)).counts for w in ((), ("misses",)))
    lines = (1 << 20) / 64
    assert more["first_misses"] - few["first_misses"] == pytest.approx(lines, rel=0.02)
    assert more["last_misses"] - few["last_misses"] == pytest.approx(lines, rel=0.02)


def test_a_child_that_becomes_another_program_is_counted_too(working: Forge) -> None:
    alone, both = (Simulation().count(working.target("./program", w)) for w in ("none", "exec"))
    assert both.counts["instructions"] > 1.9 * alone.counts["instructions"]
    assert both.notes == ()


def test_a_fork_is_counted_and_told_because_what_came_before_counts_again(working: Forge) -> None:
    forked = Simulation().count(working.target("./program", "fork"))
    assert forked.outcome == "ok"
    assert forked.notes == ("What a process did before it forked is simulated once more for each child.",)


def test_a_killed_child_is_told(working: Forge) -> None:
    counted = Simulation().count(working.target("./program", "killed"))
    assert counted.outcome == "ok"
    assert counted.counts["instructions"] > 400_000
    assert "1 process was killed before cachegrind told its counts." in counted.notes


def test_a_program_that_fails_says_so(working: Forge) -> None:
    counted = Simulation().count(working.target("./program", "fail"))
    assert counted.outcome == "exit"
    assert counted.notes == ("The program under cachegrind ended with exit code 1.",)


def test_an_instruction_that_valgrind_does_not_know_is_explained(working: Forge) -> None:
    counted = Simulation().count(working.target("./program", "unknown"))
    assert counted.outcome == "signal"
    assert "build without `-march=native`" in counted.notes[0]


def test_without_valgrind_nothing_runs_and_one_sentence_says_why(working: Forge) -> None:
    simulation = Simulation("no-such-valgrind")
    assert simulation.missing(working.target()) == (
        "`valgrind` is not installed: no instructions and simulated misses.",
    )
    assert simulation.count(working.target()).outcome == "not-started"


def test_a_program_that_takes_too_long_is_stopped(forge: Forge) -> None:
    began = time.monotonic()
    target = replace(forge.target("sleep", "60"), stop=lambda: time.monotonic() > began + 1.0)
    counted = Simulation().count(target)
    assert counted.outcome == "cut"
    assert counted.counts == {}
    assert list(forge.scratch.iterdir()) == []


def test_a_command_that_does_not_exist_is_no_count(forge: Forge) -> None:
    counted = Simulation().count(forge.target("./absent"))
    assert not counted.ok
    assert counted.notes
