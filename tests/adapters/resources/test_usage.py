"""The kernel's own accounting of one trial."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from bot.adapters.resources.usage import Usage
from tests.adapters.profilers.native.conftest import Forge

PAGES = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int count, char **words) {
  int pages = atoi(words[1]), waits = atoi(words[2]);
  char *area = mmap(0, 4096L * (pages + 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(area, 4096L * (pages + 1), MADV_NOHUGEPAGE);
  for (int i = 0; i < pages; i++) area[4096L * i] = 1;
  for (int i = 0; i < waits; i++) usleep(10);
  return count > 3;
}
"""


@pytest.fixture
def paging(forge: Forge) -> Forge:
    """A program that touches so many pages and sleeps so often."""
    forge.make("-w", pages_c=PAGES)
    return forge


def test_page_faults_and_waits_are_the_programs_own(paging: Forge) -> None:
    few, more = (Usage().count(paging.target("./program", *w)) for w in (("0", "0"), ("5000", "300")))
    assert few.outcome == more.outcome == "ok"
    assert more.counts["page_faults"] - few.counts["page_faults"] == pytest.approx(5000, abs=50)
    assert more.counts["waits"] - few.counts["waits"] == pytest.approx(300, abs=30)
    assert set(more.counts) == {"page_faults", "waits", "blocks"}


def test_volumes_stand_beside_the_counts(paging: Forge) -> None:
    small, large = (Usage().count(paging.target("./program", n, "0")).volumes for n in ("0", "20000"))
    assert large["max_rss"] - small["max_rss"] > 50e6
    assert {"read_bytes", "written_bytes"} <= set(large)


def test_a_program_that_fails_says_so(paging: Forge) -> None:
    counted = Usage().count(paging.target("./program", "1", "1", "fail"))
    assert counted.outcome == "exit"
    assert counted.notes == ("The program, counted by the kernel: exit code 1.",)


def test_a_command_that_does_not_exist_is_an_outcome(forge: Forge) -> None:
    assert Usage().count(forge.target("./absent")).outcome == "not-started"


def test_a_program_that_takes_too_long_is_cut(forge: Forge) -> None:
    began = time.monotonic()
    target = forge.target("sleep", "60")
    stopped = replace(target, stop=lambda: time.monotonic() > began + 0.3)
    assert Usage().count(stopped).outcome == "cut"
    assert Usage().count(replace(target, seconds=0.3)).outcome == "cut"
    assert Usage().count(replace(target, timeout=0.3)).outcome == "timeout"


def test_standard_input_is_the_trials(forge: Forge) -> None:
    (forge.root / "input").write_text("3\n")
    target = replace(forge.target("sh", "-c", "read n; exit $n"), stdin=forge.root / "input", ok_exit=(3,))
    assert Usage().count(target).outcome == "ok"
