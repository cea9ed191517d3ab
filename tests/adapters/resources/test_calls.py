"""System calls of real programs are counted by class; what cannot be traced is told."""

from __future__ import annotations

import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.resources.calls import Calls
from bot.adapters.resources.perf_trace import PerfTrace
from bot.adapters.resources.strace import Strace
from tests.adapters.profilers.native.conftest import Forge
from tests.adapters.scripts import script

BUSY = """
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static void *child(void *unused) { for (int i = 0; i < 100; i++) getppid(); return unused; }
int main(int count, char **words) {
  char text[8] = "1234567";
  int ends[2], files = 40, pipes = 30, maps = 20, sockets = 10;
  pipe(ends);
  for (int i = 0; i < files; i++) { int fd = open("/etc/hostname", O_RDONLY); read(fd, text, 4); close(fd); }
  for (int i = 0; i < pipes; i++) { write(ends[1], text, 8); read(ends[0], text, 8); }
  for (int i = 0; i < maps; i++) munmap(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
  for (int i = 0; i < sockets; i++) close(socket(AF_INET, SOCK_DGRAM, 0));
  if (count > 1 && !strcmp(words[1], "threads")) {
    pthread_t thread;
    pthread_create(&thread, 0, child, 0);
    pthread_join(thread, 0);
    if (fork() == 0) { child(0); _exit(0); }
    wait(0);
  }
  return count > 1 && !strcmp(words[1], "fail") ? 3 : 0;
}
"""
NO_PTRACE = """
import ctypes, os, struct, sys
# Loads the number of the call; ptrace (101 or 117 on the machines we know) fails with EPERM.
number = {"x86_64": 101, "aarch64": 117}[os.uname().machine]
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
packed = b"".join(struct.pack("=HBBI", *one) for one in code)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.byref(Program(len(code), packed)), 0, 0) == 0
os.execvp("strace", ["strace", *sys.argv[1:]])
"""


@pytest.fixture
def busy(forge: Forge) -> Forge:
    """A program that makes calls of every class."""
    forge.make("-w", "-pthread", busy_c=BUSY)
    return forge


def test_each_class_gets_its_calls_and_two_runs_agree(busy: Forge) -> None:
    first, second = (Calls().count(busy.target()) for _ in range(2))
    assert first.outcome == "ok"
    assert first.counts == second.counts
    assert first.counts["ipc_calls"] == 30 + 30 + 1
    assert first.counts["filesystem_calls"] >= 3 * 40
    assert first.counts["memory_calls"] >= 2 * 20
    assert first.counts["network_calls"] >= 10
    assert first.tool.startswith("strace ")
    assert next(iter(first.details["memory_calls"])) == "mmap"


def test_threads_and_forks_are_followed(busy: Forge) -> None:
    counted = Calls().count(busy.target("./program", "threads"))
    assert counted.details["other_calls"]["getppid"] == 200


def test_a_program_that_fails_says_so(busy: Forge) -> None:
    counted = Calls().count(busy.target("./program", "fail"))
    assert counted.outcome == "exit"
    assert counted.notes == ("The program under strace ended with exit code 3.",)


def test_output_goes_where_that_of_a_trial_goes(forge: Forge) -> None:
    counted = Calls().count(forge.target("sh", "-c", "echo hello; echo hello >&2"))
    assert counted.details["filesystem_calls"]["write"] == 2


def test_a_program_that_detects_tracing_ends_in_an_outcome(forge: Forge) -> None:
    shy = "! grep -q 'TracerPid:.[1-9]' /proc/self/status"
    counted = Calls().count(forge.target("sh", "-c", shy))
    assert counted.outcome == "exit"
    assert counted.notes


def test_without_tracers_nothing_runs_and_one_sentence_each_says_why(busy: Forge) -> None:
    calls = Calls([Strace("no-such-strace"), PerfTrace("no-such-perf")])
    lacks = (
        "No system calls by kind: `strace` is not installed.",
        "No system calls by kind: `perf` is not installed.",
    )
    assert tuple(calls.missing(busy.target())) == lacks
    counted = calls.count(busy.target())
    assert (counted.outcome, counted.notes) == ("not-started", lacks)


def test_where_tracing_is_refused_that_is_told(busy: Forge) -> None:
    strace = Strace(str(_refused(busy)))
    (clause,) = strace.missing(busy.target())
    assert clause.startswith("strace may not trace trials here")
    assert "not permitted" in clause
    counted = strace.trace(busy.target())
    assert counted.outcome == "not-started"
    assert "strace saw no system call: the program could not be started or traced." in counted.notes


def test_where_strace_cannot_trace_perf_does_with_a_note_and_for_both_sides(busy: Forge) -> None:
    calls = Calls([Strace(str(_refused(busy))), PerfTrace()])
    lacks = calls.missing(busy.target())
    if cannot := PerfTrace().missing(busy.target()):
        assert lacks[1] == f"No system calls by kind: {cannot[0]}."
        return
    assert tuple(lacks) == ()
    base, head = (calls.count(busy.target()) for _ in range(2))
    assert base.outcome == "ok"
    assert base.tool == head.tool == PerfTrace().tool
    assert base.counts == head.counts
    assert "heap_peak" in base.volumes
    (note,) = base.notes
    assert note.startswith(f"System calls were counted with {base.tool}: strace may not trace trials here")


def test_here_nothing_is_missing(busy: Forge) -> None:
    assert Calls().missing(busy.target()) == ()


def test_processes_that_are_left_running_do_not_hold_us_up(forge: Forge) -> None:
    left = Calls().count(forge.target("sh", "-c", "sleep 60 & getconf PATH"))
    assert left.outcome == "ok"
    assert left.notes == ("It left processes running, which strace waits for: they were killed.",)
    assert left.counts["filesystem_calls"] > 0
    failed = Calls().count(forge.target("sh", "-c", "sleep 60 & exit 3"))
    assert failed.outcome == "exit"


def test_a_program_without_end_is_stopped(forge: Forge) -> None:
    calls = Calls()
    begin = time.monotonic()
    target = replace(forge.target("yes"), stop=lambda: time.monotonic() > begin + 4.0)
    counted = calls.count(target)
    assert counted.outcome == "cut"
    assert counted.counts["filesystem_calls"] > 10
    assert list(forge.scratch.iterdir()) == []


def test_a_program_that_writes_into_our_pipe_does_not_hold_us_up(forge: Forge) -> None:
    flood = "import glob\nfor _ in range(99): open(glob.glob('{}/calls-*/pipe')[0], 'wb').write(b'x' * 99999)"
    counted = Calls().count(forge.target(_python(), "-c", flood.format(forge.scratch)))
    assert counted.outcome == "ok"
    assert counted.counts["memory_calls"] > 0


def _refused(forge: Forge) -> Path:
    """A strace that may not trace."""
    return script(forge.root / "strace", textwrap.dedent(NO_PTRACE), interpreter=_python())


def _python() -> str:
    """One that the trials' account may run."""
    return next(p for p in ("/usr/bin/python3", sys.executable) if Path(p).exists())
