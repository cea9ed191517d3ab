"""Frida around real programs: the calls it is asked for, whatever way they end."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bot.adapters.profilers import launching
from bot.adapters.profilers.fine import FineProfiler
from bot.adapters.profilers.native import frida_session
from bot.adapters.profilers.native.frida_watcher import FridaWatcher
from bot.model.profiles import Method, MethodCost, Profile, Tool
from tests.adapters.profilers.native.conftest import Forge
from tests.adapters.profilers.native.test_uftrace import LEAF, MAIN, MIDDLE, PROGRAM, one

SPIN = """
__attribute__((noinline)) int leaf(int n) {
  volatile int s = n; for (int i = 0; i < 20000; i++) s += i; return s;
}
"""
JUMPS = (
    "#include <setjmp.h>\nstatic jmp_buf back;"
    + SPIN
    + """
#define KEPT __attribute__((noinline)) int
KEPT inner(int n) { int s = leaf(n); if (n % 3 == 0) longjmp(back, 1); return s; }
KEPT middle(int n) { volatile int s = n; s += inner(n); return s + leaf(n); }
KEPT outer(int n) { return setjmp(back) ? 1 : middle(n) + 1; }
int main(void) { int s = 0; for (int n = 0; n < 300; n++) s += outer(n); return s == 1; }
"""
)
THROWS = (
    '#include <stdexcept>\n#define KEPT __attribute__((noinline)) int\nextern "C" {'
    + SPIN
    + """
KEPT released(int n) { volatile int s = n; s += 2; return leaf(s); }
struct Held { int n; ~Held() { released(n); } };
KEPT inner(int n) { volatile int s = leaf(n); if (n % 3 == 0) throw std::runtime_error("third"); return s; }
KEPT middle(int n) { Held held{n}; volatile int s = n; s += inner(n); return s + leaf(n); }
KEPT outer(int n) {
  volatile int s = n; s += 2;
  try { return middle(n) + s; } catch (const std::exception &) { return leaf(5); }
}
}
int main() { int s = 0; for (int n = 0; n < 300; n++) s += outer(n); return s == 1; }
"""
)
FORKS = (
    "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>"
    + SPIN
    + """
__attribute__((noinline)) int middle(int n) { volatile int s = n; s += leaf(n); return s; }
int main(int count, char **words) {
  int left = atoi(words[1]);
  for (int n = 0; n < 20; n++) middle(n);
  if (left == 2 && fork() == 0) { for (int n = 0; n < 20; n++) middle(n); _exit(0); }
  wait(0);
  sleep(1);
  if (left == 2) execl(words[0], words[0], "1", (char *)0);
  return 0;
}
"""
)

TRIES = 3


@pytest.fixture(scope="module")
def watcher() -> FridaWatcher:
    """Calibrated once."""
    return FridaWatcher()


def test_each_call_has_a_duration_and_its_callers(forge: Forge, watcher: FridaWatcher) -> None:
    forge.make("-g", "-O1", main_c=PROGRAM)
    assert watcher.missing(forge.target()) == ()
    profile = watcher.profile(forge.target(), [LEAF, MIDDLE, MAIN])
    assert (profile.outcome, profile.notes) == ("ok", ())
    leaf, middle = one(profile, LEAF, MAIN, MIDDLE), one(profile, MIDDLE, MAIN)
    assert (leaf.calls, middle.calls) == (100, 50)
    assert (leaf.method.file, leaf.method.line) == ("main.c", 3)
    # Every second call of the leaf has twice the work of the one before.
    assert np.median(leaf.durations[1::2] / leaf.durations[::2]) == pytest.approx(2, rel=0.25)
    assert profile.methods[LEAF].calls == 100
    assert 0 < profile.tool.bias < profile.tool.seconds_per_call
    assert list(forge.scratch.iterdir()) == []


def test_calls_left_by_a_jump_do_not_disturb_the_others(forge: Forge, watcher: FridaWatcher) -> None:
    forge.make("-O1", "-g", main_c=JUMPS)
    names = [Method(name, "main.c") for name in ("leaf", "inner", "middle", "outer")]
    leaf, inner, middle, outer = names
    profile = watcher.profile(forge.target(), names)
    assert profile.outcome == "ok"
    assert one(profile, outer).calls == 300
    assert one(profile, middle, outer).calls == 200
    assert one(profile, inner, outer, middle).calls == 200
    assert one(profile, leaf, outer, middle, inner).calls == 300
    assert one(profile, leaf, outer, middle).calls == 200
    assert len(profile.series) == 5


def test_exceptions_pass_through_watched_calls(forge: Forge, watcher: FridaWatcher) -> None:
    forge.make("-O1", "-g", compiler="g++", main_cpp=THROWS)
    names = [Method(name, "main.cpp") for name in ("leaf", "inner", "middle", "outer", "released")]
    leaf, _, middle, outer, released = names
    profile = watcher.profile(forge.target(), names)
    assert (profile.outcome, profile.notes) == ("ok", ())
    assert one(profile, outer).calls == 300
    assert one(profile, middle, outer).calls == 200
    assert one(profile, leaf, outer, middle).calls == 200
    assert one(profile, leaf, outer).calls == 100
    assert sum(s.calls for s in profile.series if s.method == released) == 300


def test_a_program_that_becomes_another_one_is_followed_but_not_what_it_forks(
    forge: Forge, watcher: FridaWatcher
) -> None:
    forge.make("-O1", "-g", main_c=FORKS)
    leaf, middle = Method("leaf", "main.c"), Method("middle", "main.c")
    # Frida's own handler of forks seldom never comes back in the child; the program then ends at its limit.
    for _ in range(TRIES):
        profile = watcher.profile(forge.target("./program", "2", timeout=2.0), [leaf, middle])
        if profile.outcome != "timeout":
            break
        assert profile.notes
    assert (profile.outcome, profile.notes) == ("ok", ())
    assert one(profile, leaf, middle).calls == 2 * 20


def test_calls_of_all_threads_are_counted_and_keep_their_own_callers(
    forge: Forge, watcher: FridaWatcher
) -> None:
    text = (
        "#include <pthread.h>"
        + SPIN
        + """
    __attribute__((noinline)) int middle(int n) { volatile int s = n; s += leaf(n); return s; }
    void *run(void *many) { for (long n = 0; n < (long)many; n++) middle(9); return 0; }
    int main(void) {
        pthread_t all[8];
        for (long i = 0; i < 8; i++) pthread_create(&all[i], 0, run, (void *)(1000 * (i + 1)));
        for (int i = 0; i < 8; i++) pthread_join(all[i], 0);
        for (int n = 0; n < 100; n++) leaf(9);
        return 0;
    }"""
    )
    forge.make("-O1", "-g", "-pthread", main_c=text)
    leaf, middle = Method("leaf", "main.c"), Method("middle", "main.c")
    profile = watcher.profile(forge.target(), [leaf, middle])
    assert (profile.outcome, profile.notes) == ("ok", ())
    assert one(profile, middle).calls == one(profile, leaf, middle).calls == 36_000
    assert one(profile, leaf).calls == 100


def test_what_a_program_preloads_stays_preloaded(forge: Forge, watcher: FridaWatcher) -> None:
    forge.make("-shared", "-fPIC", other_c="int answer(void) { return 42; }")
    (forge.root / "program").rename(forge.root / "libother.so")
    text = (
        "#include <dlfcn.h>\n#include <stdlib.h>\n#include <string.h>\n"
        + SPIN
        + """
    int main(void) {
        int (*f)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "answer"); leaf(9000);
        return f && !strcmp(getenv("LD_PRELOAD"), getenv("EXPECTED")) ? f() : 1;
    }"""
    )
    forge.make("-g", "-O1", "-D_GNU_SOURCE", main_c=text)
    library = str(forge.root / "libother.so")
    target = replace(forge.target(LD_PRELOAD=library, EXPECTED=library), ok_exit=(42,))
    profile = watcher.profile(target, [Method("leaf", "main.c")])
    assert (profile.outcome, profile.notes) == ("ok", ())
    assert [s.calls for s in profile.series] == [1]


@pytest.mark.parametrize(
    ("ending", "outcome", "word"),
    [("return 7;", "exit", "7"), ("kill(getpid(), SIGTERM);", "signal", "SIGTERM")],
)
def test_however_it_ends_its_calls_are_kept(
    forge: Forge, watcher: FridaWatcher, ending: str, outcome: str, word: str
) -> None:
    text = (
        f"#include <signal.h>\n#include <unistd.h>\n{SPIN} int main(void) {{ leaf(3); sleep(1); {ending} }}"
    )
    forge.make("-O1", "-g", main_c=text)
    profile = watcher.profile(forge.target(), [Method("leaf", "main.c")])
    assert profile.outcome == outcome
    assert word in profile.notes[0]
    assert [s.calls for s in profile.series] == [1]


def test_the_program_has_the_environment_of_its_trial(forge: Forge, watcher: FridaWatcher) -> None:
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\n"
        + SPIN
        + 'int main(void) { leaf(1); char *t = getenv("TMPDIR"); puts(t ? t : "none"); return t ? t[1] : 1; }'
    )
    forge.make("-O1", "-g", main_c=text)
    leaf = Method("leaf", "main.c")
    assert watcher.profile(forge.target(), [leaf]).notes[0].endswith("exit code 1.")
    given = watcher.profile(forge.target("./program", TMPDIR="/var/tmp"), [leaf])
    assert given.notes[0].endswith(f"exit code {ord('v')}.")


def test_what_it_cannot_watch_is_said(forge: Forge, watcher: FridaWatcher) -> None:
    forge.make("-O1", "-g", "-static", main_c=PROGRAM)
    assert watcher.missing(forge.target()) == (
        "`program` is linked statically: Frida cannot be loaded into it.",
    )
    forge.make("-O1", main_c="#include <ucontext.h>\nint main(void) { ucontext_t c; makecontext(&c, 0, 0); }")
    (switching,) = watcher.missing(forge.target())
    assert switching == "`program` switches stacks by itself (swapcontext): its calls cannot be watched."
    forge.make("-O1", "-g", main_c=PROGRAM)
    nothing = watcher.profile(forge.target(), [Method("gone")])
    assert (nothing.outcome, nothing.notes[-1]) == ("not-started", "There is no function to watch.")
    none = watcher.profile(forge.target("./absent"), [LEAF])
    assert (none.outcome, list(none.series)) == ("not-started", [])


BUSY = PROGRAM.replace("int main(void) {", "int main(void) { for (volatile long i = 0; i < 50000000; i++);")
"""Long enough that a hundred watched calls are no tenth of it, also on a busy machine."""


def test_it_is_chosen_where_uftrace_cannot_watch(forge: Forge) -> None:
    forge.make("-O1", "-g", main_c=BUSY)
    (forge.root / "program").rename(forge.root / "my program")
    coarse = Profile(Tool("none", "1", "coarse", frozenset()), "ok", 0.0)
    profile = FineProfiler("native").watch(forge.target("./my program"), [LEAF], coarse)
    assert (profile.tool.name, profile.outcome) == ("frida", "ok")
    assert one(profile, LEAF).calls == 100


def test_it_watches_a_program_that_does_not_stand_uftrace(forge: Forge) -> None:
    shy = BUSY.replace("int main(void) {", 'int main(void) { if (getenv("LD_PRELOAD")) abort();')
    assert shy != BUSY
    forge.make("-O1", "-g", main_c="#include <stdlib.h>\n" + shy)
    coarse = Profile(Tool("none", "1", "coarse", frozenset()), "ok", 0.0)
    profile = FineProfiler("native").watch(forge.target(), [LEAF], coarse)
    assert (profile.tool.name, profile.outcome) == ("frida", "ok")
    assert one(profile, LEAF).calls == 100
    assert any("under uftrace" in note for note in profile.notes)
    assert not any("Errno" in note for note in profile.notes)


def test_a_trial_that_takes_no_longer_than_its_start_is_watched(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge.make("-O1", "-g", main_c=BUSY)
    costs = {LEAF: MethodCost(0.1, calls=100)}
    coarse = Profile(Tool("none", "1", "coarse", frozenset()), "ok", 1.0, methods=costs)
    monkeypatch.setattr(launching, "_floor", lambda *_account, **_boxed: 60.0)
    assert one(FineProfiler("native").watch(forge.target(), [LEAF], coarse), LEAF).calls == 100


def test_a_program_is_only_looked_at_once_its_shell_runs_and_its_end_is_told() -> None:
    gate, go = os.pipe()
    told, tell = os.pipe()
    words = [sys.executable, "-c", frida_session._PARENT, str(gate), str(tell), "", "sh", "-c", "exit 3"]
    with subprocess.Popen(words, pass_fds=(gate, tell)):
        os.close(tell)
        with os.fdopen(told, encoding="ascii") as answers:
            word, pid = answers.readline().split()
            assert (word, Path(f"/proc/{pid}/exe").resolve()) == ("at", Path("/bin/sh").resolve())
            os.write(go, b"\n")
            assert answers.readline() == f"ended {3 << 8}\n"
    os.close(gate)
    os.close(go)
