"""perf counts the system calls of real programs as strace does; what it may not or loses is told."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.processes.process import PATH
from bot.adapters.resources.perf_trace import PerfTrace
from bot.adapters.resources.strace import Strace
from bot.model.resources import Count, Counted
from tests.adapters.profilers.native.conftest import Forge
from tests.adapters.resources.test_calls import BUSY
from tests.adapters.scripts import script

TRICKY = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static char **all;
/* exec ends the first thread: without this it is chance whether that made the last call of pthread_create */
static volatile int created;
static void *again(void *unused) { while (!created); all[1] = "last"; execv(all[0], all); return unused; }
int main(int count, char **words) {
  char text[16];
  all = words;
  if (!strcmp(words[1], "last")) { for (int i = 3; i < 40; i++) write(i, text, 1); return 0; }
  for (int i = 3; i < 30; i++) close(i);
  prctl(PR_SET_NAME, "a\n1/1 raw_sys");
  int f = open("/etc/passwd", O_RDONLY | O_CLOEXEC), g = open("/etc/group", O_RDONLY);
  int d = dup(f), e = fcntl(g, F_DUPFD_CLOEXEC, 20), h = dup3(g, 33, O_CLOEXEC);
  read(f, text, 4); read(d, text, 4); read(e, text, 4); read(h, text, 4); lseek(h, 0, 0);
  int ends[2], pair[2];
  pipe2(ends, O_CLOEXEC); socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  write(ends[1], "xyz", 3); read(ends[0], text, 3); send(pair[0], "abc", 3, 0); recv(pair[1], text, 3, 0);
  int in = socket(AF_INET, SOCK_DGRAM, 0), un = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un address = {AF_UNIX, ""};
  bind(un, (void *)&address, 2); listen(un, 3);
  socklen_t size = sizeof address;
  getsockname(un, (void *)&address, &size);
  int c = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  connect(c, (void *)&address, size);
  int k = accept4(un, 0, 0, SOCK_CLOEXEC);
  write(c, "x", 1); read(k, text, 1); setsockopt(in, 1, 2, &size, 4);
  int signals = eventfd(3, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0), memory = memfd_create("x\ny", 0);
  int poll = epoll_create1(0);
  struct itimerspec never = {0};
  struct epoll_event event = {EPOLLIN};
  read(signals, text, 8); timerfd_settime(timer, 0, &never, 0); write(memory, "q", 1);
  epoll_ctl(poll, EPOLL_CTL_ADD, ends[0], &event); epoll_wait(poll, &event, 1, 0);
  open(words[2], O_RDONLY);
  for (int i = 0; i < 3; i++) {
    pid_t child;
    char *command[] = {"true", 0};
    posix_spawnp(&child, "true", 0, 0, command, environ); waitpid(child, 0, 0);
  }
  if (fork() == 0) { dup2(ends[1], 1); dup2(f, 0); read(0, text, 2); write(1, "x", 1); _exit(0); }
  wait(0);
  fcntl(f, F_SETFD, 0); syscall(SYS_close_range, 15, 19, 0); write(17, text, 1); write(200, text, 1);
  pthread_t thread;
  pthread_create(&thread, 0, again, 0); created = 1; pthread_join(thread, 0);
  return 9;
}
"""
HOSTILE = "evil)\n 70-70 raw_syscalls:sys_enter: NR 0 (3, 0, 0, 0, 0, 0)\n 70-70 PERF_RECORD_LOST lost 7\n"
PYTHON = """
import json, socket, subprocess
for number in range(50):
    open('/etc/passwd').read()
one, other = socket.socketpair()
one.send(b'x'), other.recv(1)
subprocess.run(['cat', '/etc/passwd'], stdout=subprocess.DEVNULL, check=True)
socket.socket().close()
"""
MANY = "import os\nfor _ in range(300_000): os.getppid()"


@pytest.fixture
def perf(forge: Forge) -> PerfTrace:
    """Where perf may not, that it says so is all that can be tested."""
    tracer = PerfTrace()
    if lacks := tracer.missing(forge.target()):
        if shutil.which("perf", path=PATH) is not None and os.geteuid() == 0:
            assert lacks[0].startswith("perf may not record system calls here (perf saw no system calls: ")
        assert tracer.trace(forge.target("true")).outcome == "not-started"
        pytest.skip(lacks[0])
    return tracer


def wrapped(forge: Forge, lines: str) -> PerfTrace:
    """A perf of ours."""
    return PerfTrace(str(script(forge.root / "perf", lines)))


def certain(counted: Counted) -> Mapping[Count, Mapping[str, int]]:
    """Calls by class and name, without those that depend on who comes first."""
    chance = {"futex", "rt_sigreturn"}
    return {
        count: {name: number for name, number in names.items() if name not in chance}
        for count, names in counted.details.items()
    }


@pytest.mark.parametrize("words", [("./program",), ("./program", "threads")])
def test_perf_and_strace_agree_about_every_call_of_a_program(
    forge: Forge, perf: PerfTrace, words: tuple[str, ...]
) -> None:
    forge.make("-w", "-pthread", busy_c=BUSY)
    ours, theirs = perf.trace(forge.target(*words)), Strace().trace(forge.target(*words))
    assert (ours.outcome, ours.notes) == ("ok", ())
    assert ours.tool.startswith("perf trace ")
    assert certain(ours) == certain(theirs)


def test_perf_and_strace_agree_about_duplicates_children_exec_and_hostile_names(
    forge: Forge, perf: PerfTrace
) -> None:
    forge.make("-w", "-pthread", tricky_c=TRICKY)
    (forge.root / HOSTILE).write_text("")
    target = forge.target("./program", "first", HOSTILE)
    ours, theirs = perf.trace(target), Strace().trace(target)
    assert (ours.outcome, ours.notes) == ("ok", ())
    assert certain(ours) == certain(theirs)


def test_perf_and_strace_agree_about_an_interpreter(forge: Forge, perf: PerfTrace) -> None:
    target = forge.target("python3", "-c", PYTHON)
    ours, theirs = perf.trace(target), Strace().trace(target)
    assert ours.outcome == "ok"
    assert certain(ours) == certain(theirs)
    assert ours.counts["network_calls"] >= 2


def test_standard_input_and_output_are_those_of_a_trial(forge: Forge, perf: PerfTrace) -> None:
    target = replace(forge.target("sh", "-c", "cat; echo hello >&2"), stdin=Path("/etc/passwd"))
    counted = perf.trace(target)
    assert counted.outcome == "ok"
    assert counted.details["filesystem_calls"]["write"] == 2
    assert certain(counted) == certain(Strace().trace(target))


def test_children_that_live_longer_than_their_parent_are_counted_while_the_trial_lasts(
    forge: Forge, perf: PerfTrace
) -> None:
    script = "import os, time\nif os.fork() == 0:\n  os.fork() or [os.getppid() for _ in range(1000)]\n"
    counted = perf.trace(forge.target("python3", "-c", script + "else:\n  os.wait()\n  time.sleep(0.5)"))
    assert counted.outcome == "ok"
    assert counted.details["other_calls"]["getppid"] == 1000


def test_a_program_that_fails_and_one_that_is_not_there_say_so(forge: Forge, perf: PerfTrace) -> None:
    counted = perf.trace(forge.target("sh", "-c", "exit 3"))
    assert counted.outcome == "exit"
    assert counted.notes == ("The program under perf trace ended with exit code 3.",)
    counted = perf.trace(forge.target("./no-such-program"))
    assert counted.outcome == "not-started"
    assert counted.notes == ("perf saw no system calls: the program could not be started.",)


def test_a_program_does_not_notice_that_it_is_traced(forge: Forge, perf: PerfTrace) -> None:
    shy = "grep -q 'TracerPid:.0$' /proc/self/status && read nothing </dev/stdin; test ! -e /dev/fd/10"
    assert perf.trace(forge.target("sh", "-c", shy)).outcome == "ok"


def test_a_program_without_end_is_stopped_and_nothing_is_left(forge: Forge, perf: PerfTrace) -> None:
    begun = forge.scratch / "begun"
    target = forge.target("sh", "-c", 'touch "$1"; sleep 600', "sh", str(begun), timeout=600)
    counted = perf.trace(replace(target, stop=begun.exists))
    assert counted.outcome == "cut"
    assert counted.counts["filesystem_calls"] > 0
    begun.unlink()
    assert list(forge.scratch.iterdir()) == []


def test_lost_events_make_counts_unusable(forge: Forge, perf: PerfTrace) -> None:
    del perf
    one_page = 'for w; do shift; [ "$w" = 16M ] && w=1; set -- "$@" "$w"; done; exec /usr/bin/perf "$@"'
    small = wrapped(forge, one_page)
    counted = small.trace(forge.target("python3", "-c", MANY))
    assert counted.outcome == "not-started"
    assert counted.counts == {}
    (note,) = counted.notes
    assert "events were lost" in note


def test_a_recording_that_is_full_makes_counts_unusable(forge: Forge, perf: PerfTrace) -> None:
    del perf
    grown = 'for w; do [ "$last" = -o ] && out=$w; last=$w; done; /usr/bin/perf "$@" || exit'
    large = wrapped(forge, f'{grown}\nif [ "$1" = record ]; then truncate -s 1G "$out"; fi')
    counted = large.trace(forge.target("true"))
    assert counted.outcome == "not-started"
    assert "its recording grew too large" in counted.notes[0]


def test_what_perf_says_when_it_may_not_is_told(forge: Forge) -> None:
    refused = wrapped(forge, "echo 'Permission failure: no access to tracefs' >&2; exit 255")
    (clause,) = refused.missing(forge.target())
    expected = "Permission failure: no access to tracefs" if os.geteuid() == 0 else "needs root"
    assert expected in clause


def test_a_perf_that_dies_does_not_let_the_program_run(forge: Forge) -> None:
    ran = forge.scratch / "ran"
    dying = wrapped(forge, "exec sleep 0.1")
    counted = dying.trace(forge.target("touch", str(ran)))
    assert counted.outcome == "not-started"
    assert not ran.exists()
