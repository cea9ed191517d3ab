"""The peak of a heap is found, and belongs to the largest process."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from bot.adapters.resources.heap import MOST_LINE, Peaks, heap_peak
from tests.adapters.profilers.native.conftest import Forge

BLOCKS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
  int blocks = atoi(words[1]);
  if (count > 2 && fork() == 0) blocks *= 2;
  for (int i = 0; i < blocks; i++) {
    char *block = malloc(1000);
    memset(block, 1, 1000);
    if (i % 2) free(block);
  }
  while (wait(0) > 0);
  fprintf(stderr, "heap peak of %s\\n", words[0]);
  return count > 3;
}
"""
LINE = b"\x1b[01;32mMemory usage summary:\x1b[0;0m heap total: 111373, heap peak: 83935, stack peak: 8512\n"


@pytest.fixture
def blocks(forge: Forge) -> Forge:
    """A program that allocates so many blocks of 1000 bytes and keeps half of them."""
    forge.make("-w", "-O0", blocks_c=BLOCKS)
    return forge


def test_blocks_that_are_freed_do_not_count(blocks: Forge) -> None:
    few, more = (heap_peak(blocks.target("./program", n)) for n in ("1000", "3000"))
    assert few is not None and more is not None
    assert more - few == 1_000_000


def test_the_largest_process_counts(blocks: Forge) -> None:
    alone, forked = (heap_peak(blocks.target("./program", *w)) for w in (("1000",), ("1000", "fork")))
    assert alone is not None and forked is not None
    assert forked - alone == pytest.approx(500_000, rel=0.01)


def test_objects_of_python_count(forge: Forge) -> None:
    peaks = [heap_peak(forge.target("/usr/bin/python3", "-S", "-c", f"[0] * {n}")) for n in (10, 1_000_010)]
    assert peaks[0] is not None and peaks[1] is not None
    assert peaks[1] - peaks[0] == pytest.approx(8_000_000, rel=0.01)


def test_a_static_program_and_one_that_fails_have_no_known_peak(blocks: Forge) -> None:
    assert heap_peak(blocks.target("./program", "10", "fork", "fail")) is None
    blocks.make("-w", "-static", blocks_c=BLOCKS)
    assert heap_peak(blocks.target("./program", "10")) is None


def test_a_program_without_end_has_none_either(forge: Forge) -> None:
    begin = time.monotonic()
    assert heap_peak(replace(forge.target("yes"), stop=lambda: time.monotonic() > begin + 0.5)) is None


def test_the_summary_is_found_in_pieces_among_other_output() -> None:
    peaks = Peaks()
    for byte in b"noise\n" + LINE + b"\xff\n":
        peaks.add(bytes([byte]))
    assert peaks.largest == 83935


def test_endless_lines_are_not_kept() -> None:
    peaks = Peaks()
    for _ in range(100):
        peaks.add(b"x" * MOST_LINE)
    peaks.add(b"\nheap peak: 7\n")
    assert peaks.largest is None
    peaks.add(LINE)
    assert peaks.largest == 83935
