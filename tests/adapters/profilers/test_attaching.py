"""A running server is profiled and watched from outside, and goes on as if nothing had been."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.profilers import attaching
from bot.adapters.profilers.attaching import AttachedProfiler
from bot.adapters.profilers.native import stacks
from bot.adapters.profilers.native.frida_session import Functions, Session
from bot.adapters.profilers.native.running import Running, cpu_seconds, running
from bot.adapters.profilers.native.samples import AddressSpace
from bot.model.profiles import Method, Profile, Tool

SERVER = """
#include <stdio.h>
#include <unistd.h>
#define KEPT __attribute__((noinline)) int
KEPT work(int n) { volatile int s = n; for (int i = 0; i < 20000 * n; i++) s += i; return s; }
KEPT small(int n) { volatile int s = n; s += work(1); return s; }
KEPT large(int n) { volatile int s = n; s += work(4); return s; }
int main(void) {
  char line[64];
  for (int n = 0; fgets(line, sizeof line, stdin); n++) {
    volatile int s = n; s += small(n); s += large(n);
    printf("%d\\n", n); fflush(stdout);
  }
}
"""
THROWING = """
#include <cstdio>
#include <stdexcept>
#include <unistd.h>
extern "C" __attribute__((noinline)) int slow(int n) {
  volatile int s = n; usleep(n); if (s) throw std::runtime_error("late"); return s;
}
int main() {
  char line[64];
  for (int n = 0; fgets(line, sizeof line, stdin); n++) {
    try { slow(300000); } catch (const std::exception &) { }
    printf("%d\\n", n); fflush(stdout);
  }
}
"""
DEAF = """
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int slow(int n) { volatile int s = n; usleep(n); return s; }
void *busy(void *nothing) { for (;;) ; return nothing; }
int main(void) {
  char line[64];
  sigset_t all;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  for (int n = 0; n < 7; n++) pthread_create(&thread, NULL, busy, NULL);
  for (int n = 0; fgets(line, sizeof line, stdin); n++) {
    slow(100000);
    printf("%d\\n", n); fflush(stdout);
  }
}
"""
COARSE = Profile(Tool("none", "1", "coarse", frozenset()), "ok", 0.0)
WORK, SMALL, LARGE = (Method(name, "main.c") for name in ("work", "small", "large"))


class Server:
    """Answers each line with the number of lines before it."""

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.asked = 0
        self.own = 1

    def ask(self) -> None:
        """One request, answered rightly."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == f"{self.asked}\n"
        self.asked += 1

    def threads(self) -> int:
        """That it has."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/task").iterdir())

    def alone(self) -> bool:
        """Whether nobody is left inside of it, after a while; it answers all the time."""
        until = time.monotonic() + 60.0
        while time.monotonic() < until:
            self.ask()
            if self.threads() == self.own:
                return True
            time.sleep(0.01)
        return False


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Compiles servers and starts them; they end with the test."""
    begun: list[Server] = []

    def start(source: str = SERVER, compiler: str = "gcc") -> Server:
        name = "main.c" if compiler == "gcc" else "main.cpp"
        (tmp_path / name).write_text(source)
        subprocess.run([compiler, "-O1", "-g", "-o", "server", name], cwd=tmp_path, check=True)
        begun.append(Server(tmp_path / "server"))
        return begun[-1]

    yield start
    for server in begun:
        server.process.kill()
        server.process.communicate()


def attached(server: Server, root: Path, *, most: float = 2.0, asking: bool = True) -> AttachedProfiler:
    """Load comes while it is asked whether it shall stop, which it is all the time."""

    def stop() -> bool:
        if asking:
            server.ask()
        return False

    return AttachedProfiler(server.process.pid, stop=stop, window=most, root=root)


def watched(profiler: AttachedProfiler, *methods: Method) -> Profile:
    return profiler.watch("head", (), methods, COARSE, seconds=60.0)


def test_calls_of_a_running_server_are_timed_by_path_and_it_goes_on(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve()
    with attached(server, tmp_path) as profiler:
        assert profiler.missing() == ()
        for _ in range(2):
            profile = watched(profiler, WORK, SMALL, LARGE)
            assert (profile.outcome, profile.notes) == ("ok", ())
            found = {(s.path, s.method): s for s in profile.series}
            assert set(found) == {((), SMALL), ((), LARGE), ((SMALL,), WORK), ((LARGE,), WORK)}
            few, many = found[(SMALL,), WORK], found[(LARGE,), WORK]
            assert few.calls == many.calls > 5
            # The quickest of each: on a busy machine half of such short calls may wait for a core.
            assert min(many.durations) / min(few.durations) == pytest.approx(4.0, rel=0.5)
            assert 0 <= profile.unprofiled <= profile.seconds
    assert server.alone()


def test_the_window_begins_when_the_hooks_are_there(
    serve: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = Session.watch

    def slowly(session: Session, functions: Functions, **how: Any) -> None:  # as on a busy machine
        hook(session, functions, **how)
        time.sleep(1.0)

    monkeypatch.setattr(Session, "watch", slowly)
    with attached(serve(), tmp_path, most=0.5) as profiler:
        assert watched(profiler, SMALL).series


def test_a_server_may_wait_in_a_library_that_came_after_we_looked_at_it(
    serve: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Running] = []

    def look(pid: int) -> Running:  # first as soon as it was started, before its loader ran
        found = running(pid)
        space = AddressSpace()
        for start, (end, offset, path) in zip(found.space.starts, found.space.mapped, strict=True):
            if looks or path == found.program:
                space.map(start, end, offset, path)
        looks.append(replace(found, space=space, mapped=frozenset({path for _, _, path in space.mapped})))
        return looks[-1]

    monkeypatch.setattr(attaching, "running", look)
    with attached(serve(), tmp_path) as profiler:
        assert watched(profiler, SMALL).series


@pytest.mark.parametrize("tool", ["perf", "eu-stack"])
def test_hot_methods_and_their_callers_are_found(
    serve: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    if tool == "eu-stack":  # as where perf is forbidden
        monkeypatch.setattr(stacks, "_perf", lambda pid, seconds: None)
    server = serve("int main(void) { volatile unsigned long n = 0; for (;;) n++; }")
    while cpu_seconds(server.process.pid) < 0.1:  # not its dynamic loader
        time.sleep(0.01)
    with attached(server, tmp_path, asking=False) as profiler:
        profile = profiler.profile("head", ())
    assert profile.outcome == "ok"
    assert profile.tool.name == tool or tool == "perf"  # which is not allowed everywhere
    assert profile.samples
    assert profile.methods[Method("main", "main.c")].self_share > 0.9
    assert any(callee == Method("main", "main.c") for _, callee in profile.edges)
    assert profile.seconds > 0


def test_a_call_that_is_open_when_we_leave_may_still_throw(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(THROWING, "g++")
    profiler = AttachedProfiler(server.process.pid, stop=lambda: False, window=0.1, root=tmp_path)
    assert profiler.missing() == ()
    assert server.process.stdin is not None
    server.process.stdin.write("\n")
    server.process.stdin.flush()
    assert watched(profiler, Method("slow", "main.cpp")).outcome == "ok"
    assert profiler.close() == ()
    assert server.process.stdout is not None
    assert server.process.stdout.readline() == "0\n"
    server.asked = 1
    assert server.alone()


def test_threads_that_hear_no_signals_are_watched_and_left(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(DEAF)
    server.ask()
    server.own = server.threads()
    with attached(server, tmp_path, most=0.3) as profiler:
        for _ in range(3):
            profile = watched(profiler, Method("slow", "main.c"))
            assert (profile.outcome, profile.notes) == ("ok", ())
            assert profile.series
    assert server.alone()


def test_the_server_survives_that_we_are_killed(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve()
    script = (
        "import sys; from pathlib import Path\n"
        "from bot.adapters.profilers.attaching import AttachedProfiler\n"
        "from bot.model.profiles import Method\n"
        "p = AttachedProfiler(int(sys.argv[1]), stop=lambda: print('.', flush=True), window=60.0,"
        " root=Path(sys.argv[2]))\n"
        "p.watch('head', (), [Method('work', 'main.c')], None, seconds=60.0)\n"
    )
    words = [sys.executable, "-c", script, str(server.process.pid), str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) as killed:
        assert killed.stdout is not None
        # It asks whether to stop while it reads object files, too, and then while it watches.
        while server.threads() == 1:
            assert killed.stdout.readline() == b".\n"
        for _ in range(20):
            server.ask()
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    assert server.alone()  # Frida notices, and leaves


def test_what_cannot_be_watched_is_said_in_a_line(serve: Callable[..., Server], tmp_path: Path) -> None:
    def lacking(pid: int) -> tuple[str, ...]:
        with AttachedProfiler(pid, stop=lambda: False, root=tmp_path) as profiler:
            return tuple(profiler.missing())

    (python,) = lacking(os.getpid())
    assert "runs Python: from outside only compiled programs can be watched." in python
    server = serve()
    (tmp_path / "server").unlink()
    (replaced,) = lacking(server.process.pid)
    assert "is not what runs (replaced since it was started, or in another container)" in replaced
    server.process.kill()
    server.process.communicate()
    assert lacking(server.process.pid) == (f"There is no process {server.process.pid}.",)


def test_a_process_that_looks_after_children_is_left_alone(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    parent = SERVER.replace(
        "int main(void) {", "static void reap(int n) { (void)n; }\nint main(void) { signal(SIGCHLD, reap);"
    )
    server = serve("#include <signal.h>\n" + parent)
    server.ask()
    with AttachedProfiler(server.process.pid, stop=lambda: False, root=tmp_path) as profiler:
        (why,) = profiler.missing()
    assert "it catches SIGCHLD" in why and server.threads() == 1
    server.ask()


def test_a_process_that_ends_is_an_outcome(serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve()
    with attached(server, tmp_path, asking=False) as profiler:
        assert profiler.missing() == ()
        server.process.kill()
        server.process.communicate()
        profile = watched(profiler, WORK)
        assert profile.outcome == "not-started"
        assert str(server.process.pid) in profile.notes[0]
