"""uftrace around real programs: the calls it is asked for, and a note where it cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bot.adapters.builds.compilers import ROOM
from bot.adapters.profilers.native import uftrace
from bot.adapters.profilers.native.functions import Functions
from bot.adapters.profilers.native.uftrace import Uftrace
from bot.adapters.profilers.native.watching import find, pattern
from bot.model.profiles import CallSeries, Method, Profile
from tests.adapters.profilers.native.conftest import ACCOUNT, Forge
from tests.adapters.scripts import script

SPIN = """
#include <stdlib.h>
__attribute__((noinline)) int leaf(int n) { volatile int s = 0; while (n-- > 0) s += n; return s; }
__attribute__((noinline)) int middle(int n) { return leaf(n) + leaf(2 * n) + 1; }
"""
PROGRAM = (
    SPIN
    + "void never(void) { abort(); }\n"
    + "int main(void) { int s = 0; for (int i = 0; i < 50; i++) s += middle(20000); return s == 1; }\n"
)
LEAF, MIDDLE, MAIN = (Method(name, "main.c") for name in ("leaf", "middle", "main"))


@pytest.fixture(scope="module")
def tracer() -> Uftrace:
    """Calibrated once."""
    return Uftrace()


def one(profile: Profile, method: Method, *path: Method) -> CallSeries:
    (found,) = [s for s in profile.series if (s.method, s.path) == (method, path)]
    return found


@pytest.mark.parametrize("flag", [ROOM, "-g"])
def test_each_call_has_a_duration_and_its_callers(forge: Forge, tracer: Uftrace, flag: str) -> None:
    forge.make("-g", "-O1", flag, main_c=PROGRAM)
    assert tracer.missing(forge.target()) == ()
    profile = tracer.profile(forge.target(), [LEAF, MIDDLE])
    assert profile.outcome == "ok"
    assert [note for note in profile.notes if "not built with" not in note] == []
    assert bool(profile.notes) == (flag != ROOM)
    leaf, middle = one(profile, LEAF, MIDDLE), one(profile, MIDDLE)
    assert (leaf.calls, middle.calls) == (100, 50)
    assert (leaf.method.file, leaf.method.line) == ("main.c", 3)
    # Every second call of the leaf has twice the work of the one before.
    ratios = leaf.durations[1::2] / leaf.durations[::2]
    assert np.median(ratios) == pytest.approx(2, rel=0.25)
    # Nearly all of a call of `middle` is its own two leaves; between calls another process may have run.
    own = leaf.durations.reshape(-1, 2).sum(axis=1) / middle.durations
    assert np.median(own) == pytest.approx(1, rel=0.2)
    assert leaf.seconds == pytest.approx(leaf.durations.sum())
    assert profile.methods[LEAF].calls == 100
    assert list(forge.scratch.iterdir()) == []


def test_only_what_is_asked_for_is_watched(forge: Forge, tracer: Uftrace) -> None:
    forge.make("-g", "-O1", ROOM, main_c=PROGRAM)
    profile = tracer.profile(forge.target(), [LEAF, Method("gone", "main.c")])
    assert {s.method for s in profile.series} == {LEAF}
    assert profile.notes == (
        "Not found as functions (inlined, or not in the checkout), and not watched: gone.",
    )
    quiet = tracer.profile(forge.target(), [LEAF, Method("never", "main.c")])
    assert quiet.notes == ("No calls were seen (not called, or no room for a tracer): never.",)
    nothing = tracer.profile(forge.target(), [Method("gone")])
    assert (nothing.outcome, nothing.notes[-1]) == ("not-started", "There is no function to watch.")


def test_what_was_split_off_stands_for_a_function_whose_head_was_inlined(
    forge: Forge, tracer: Uftrace
) -> None:
    text = (
        SPIN
        + """
    int rest(int n) __asm__("split.part.0");
    __attribute__((noinline)) int rest(int n) { return leaf(n) + 1; }
    static inline int split(int n) { return n & 1 ? 0 : rest(n); }
    int main(void) { int s = 0; for (int i = 0; i < 100; i++) s += split(9000 + i); return s == 1; }"""
    )
    forge.make("-g", "-O2", ROOM, main_c=text)
    split = Method("split", "main.c")
    assert tracer.profile(forge.target(), [split]).methods[split].calls == 50


def test_static_functions_of_one_name_are_told_apart(forge: Forge, tracer: Uftrace) -> None:
    def file(name: str, rounds: int) -> str:
        return f"""
        static __attribute__((noinline)) int helper(int n) {{
            volatile int s = n; for (int i = 0; i < 5000; i++) s += i; return s; }}
        int {name}(void) {{ int s = 0; for (int i = 0; i < {rounds}; i++) s += helper(i); return s; }}"""

    main = "int one(void); int two(void); int main(void) { return one() + two() == 1; }"
    forge.make("-g", "-O1", ROOM, one_c=file("one", 3), two_c=file("two", 5), main_c=main)
    profile = tracer.profile(forge.target(), [Method("helper", "two.c")])
    assert [(s.method.file, s.calls) for s in profile.series] == [("two.c", 5)]


def test_libraries_of_the_checkout_threads_and_children_are_watched(forge: Forge, tracer: Uftrace) -> None:
    forge.make("-g", "-O2", "-fPIC", "-shared", ROOM, compiler="g++", lib_cpp="""
        namespace ns { template <class T> __attribute__((noinline)) T work(T n) {
            volatile T s = 0; for (int i = 0; i < 9000; i++) s += i * n; return s; } }
        extern "C" int call(int n) { return int(ns::work<int>(n) + ns::work<double>(n)); }""")  # fmt: skip
    (forge.root / "program").rename(forge.root / "libwork.so.1")
    forge.make("-g", "-pthread", ROOM, str(forge.root / "libwork.so.1"), main_c="""
        #include <pthread.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int call(int n);
        void *run(void *_) { call(1); return _; }
        int main(void) {
            pthread_t t; pthread_create(&t, 0, run, 0); pthread_join(t, 0);
            call(2);
            if (fork() == 0) { call(3); return 0; }
            wait(0);
            return 0; }""")  # fmt: skip
    script(forge.root / "start", "LD_LIBRARY_PATH=. ./program --data=x -P nothing\nexit 3")
    target = replace(forge.target("./start"), ok_exit=(3,))
    profile = tracer.profile(target, [Method("ns::work<int>", "lib.cpp")])
    assert profile.outcome == "ok"
    assert [(s.method.name, s.calls) for s in profile.series] == [("ns::work<int>", 3)]


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [("return 3;", "exit"), ("abort();", "signal"), ("_exit(0);", "ok"), ("for (;;);", "timeout")],
)
def test_how_the_program_ended_is_its_own_outcome(
    forge: Forge, tracer: Uftrace, monkeypatch: pytest.MonkeyPatch, ending: str, outcome: str
) -> None:
    text = SPIN + f"int main(void) {{ leaf(20000); leaf(20000); {ending} return 0; }}"
    forge.make("-g", "-O1", "-include", "unistd.h", ROOM, main_c=text)
    tracer.bias(forge.target())
    monkeypatch.setattr(uftrace, "SLOWDOWN", 1.0)
    profile = tracer.profile(replace(forge.target(), timeout=2.0 if "for" in ending else 60.0), [LEAF])
    assert profile.outcome == outcome
    assert bool(profile.notes) == (outcome != "ok")
    if outcome in ("exit", "ok"):
        assert one(profile, LEAF).calls == 2
    if ACCOUNT is not None:
        left = [p for p in Path("/dev/shm").glob("uftrace-*") if p.stat().st_uid == ACCOUNT.uid]
        assert left == []


def test_a_daemon_left_behind_is_ended_and_told(forge: Forge, tracer: Uftrace) -> None:
    text = (
        SPIN
        + """
    #include <unistd.h>
    int main(void) {
        int told[2]; char byte = 0;
        if (pipe(told)) return 1;
        leaf(20000);
        if (fork() == 0) {
            setsid();
            if (fork() == 0) { leaf(20000); write(told[1], &byte, 1); for (;;) pause(); }
            _exit(0);
        }
        read(told[0], &byte, 1);
        return 3;
    }"""
    )
    forge.make("-g", "-O1", ROOM, main_c=text)
    profile = tracer.profile(replace(forge.target(timeout=20.0), ok_exit=(3,)), [LEAF])
    assert profile.outcome == "ok"
    assert one(profile, LEAF).calls == 2
    assert profile.notes == ("What the program under uftrace left running was ended with it.",)


def test_what_a_program_preloads_stays_preloaded(forge: Forge, tracer: Uftrace) -> None:
    forge.make("-shared", "-fPIC", other_c="int answer(void) { return 42; }")
    (forge.root / "program").rename(forge.root / "libother.so")
    text = (
        SPIN
        + """
    #include <dlfcn.h>
    int main(void) {
        int (*f)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "answer"); leaf(9000); return f ? f() : 1; }"""
    )
    forge.make("-g", "-O1", "-D_GNU_SOURCE", ROOM, main_c=text)
    target = replace(forge.target(LD_PRELOAD=str(forge.root / "libother.so")), ok_exit=(42,))
    profile = tracer.profile(target, [LEAF])
    assert (profile.outcome, profile.methods[LEAF].calls) == ("ok", 1)


def test_a_program_that_cannot_be_watched_is_said(forge: Forge, tracer: Uftrace) -> None:
    forge.make("-static", main_c=PROGRAM)
    assert tracer.missing(forge.target()) == (
        "`program` is linked statically: uftrace cannot be loaded into it.",
    )
    forge.make(compiler="musl-gcc", main_c=PROGRAM)
    assert tracer.missing(forge.target()) == ("`program` uses musl: uftrace cannot be loaded into it.",)
    (forge.root / "program").rename(forge.root / "a program")
    assert tracer.missing(forge.target("./a program")) == (
        "`uftrace` cannot watch a program whose path has spaces or `;` in it.",
    )


def test_a_missing_uftrace_and_a_missing_compiler_are_said(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge.make("-g", "-O1", ROOM, main_c=PROGRAM)
    monkeypatch.setattr(uftrace, "calibrate", lambda target, record: None)
    profile = Uftrace().profile(forge.target(), [MIDDLE])
    assert profile.notes == (
        "What uftrace itself takes was not measured (no C compiler): durations contain it.",
    )
    monkeypatch.setattr(uftrace, "PATH", str(forge.root))
    assert Uftrace().missing(forge.target()) == ("`uftrace` is not installed: no durations of calls.",)


def test_the_tracers_own_time_is_measured_on_this_machine(forge: Forge, tracer: Uftrace) -> None:
    bias = tracer.bias(forge.target())
    assert 0 < bias.own < 1e-5
    assert 0 < bias.below < 1e-4
    assert tracer.tool.seconds_per_call == bias.own + bias.below


def test_what_arguments_were_like_stands_beside_each_duration(forge: Forge) -> None:
    text = (
        SPIN
        + """
    __attribute__((noinline)) int named(const char *secret, long n) { return leaf((int)n) + *secret; }
    int main(void) { for (int i = 1; i < 4; i++) named("password", 300 * i * i * i); return 0; }"""
    )
    forge.make("-g", "-O1", ROOM, main_c=text)
    tracer = Uftrace(arguments=True)
    named = Method("named", "main.c")
    profile = tracer.profile(replace(forge.target()), [named, LEAF])
    assert "arguments" in profile.tool.quantities
    assert profile.methods[named].calls == 3
    made = [s for s in profile.series if s.method == named]
    for series in made:  # a loaded machine may find them too short to be timed
        assert series.arguments == (
            ("secret=pointer", "n=long int 300"),
            ("secret=pointer", "n=long int ~2^12"),
            ("secret=pointer", "n=long int ~2^13"),
        )
    forge.make("-g", "-O1", ROOM, main_c=PROGRAM)
    long = one(tracer.profile(forge.target(), [MIDDLE]), MIDDLE)
    assert long.arguments == (("n=int ~2^15",),) * 50


def test_short_calls_are_counted_and_not_timed(forge: Forge, tracer: Uftrace) -> None:
    forge.make("-g", "-O1", ROOM, main_c=SPIN + "int main(void) { for (int i = 0; i < 999; i++) leaf(1); }")
    profile = tracer.profile(replace(forge.target(), ok_exit=tuple(range(256))), [LEAF])
    assert profile.methods[LEAF].calls == 999
    assert profile.series == []
    assert profile.notes == ("Calls are too short to be timed by uftrace, and only counted: leaf.",)


def test_symbols_are_found_by_the_names_of_methods(forge: Forge) -> None:
    forge.make("-g", "-O2", compiler="g++", main_cpp="""
        struct A { __attribute__((noinline)) int f(int n) { volatile int m = n; return m; }
                   __attribute__((noinline)) int f(double n) { volatile double m = n; return int(m); } };
        int main(int c, char **) { A a; return a.f(c) + a.f(1.5 * c); }""")  # fmt: skip
    watch = find(Functions(forge.target()), forge.target(), [Method("A::f", "main.cpp"), Method("B::g")])
    ((path, symbols),) = watch.symbols.items()
    assert path.endswith("/checkout/program")
    assert sorted(symbol.removesuffix(".isra.0") for symbol in symbols) == ["_ZN1A1fEd", "_ZN1A1fEi"]
    assert list(watch.absent) == [Method("B::g")]


def test_a_pattern_is_one_symbol_of_one_file() -> None:
    assert pattern("/a/lib.so.1", "f.constprop.0") == "^f[.]constprop[.]0$@lib.so.1"
