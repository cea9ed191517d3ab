"""Callgrind around real programs, well-behaved and not."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.profilers.native import callgrind
from bot.adapters.profilers.native.callgrind import Callgrind
from bot.model.profiles import Method, MethodCost, Profile
from tests.adapters.profilers.native.conftest import Forge

LOOP = """
#include <stdio.h>
__attribute__((noinline)) int work(int n) { volatile int s = 0; while (n-- > 0) s += n; return s; }
"""
PROGRAM = LOOP + "int main(void) { for (int i = 0; i < 7; i++) work(1000); return 0; }\n"


def cost(profile: Profile, name: str) -> MethodCost:
    (found,) = [c for method, c in profile.methods.items() if method.name == name]
    return found


def place(profile: Profile, name: str) -> tuple[str | None, int | None]:
    (found,) = [(m.file, m.line) for m in profile.methods if m.name == name]
    return found


def test_functions_have_calls_instructions_shares_and_places(forge: Forge) -> None:
    forge.make("-g", "-O1", main_c=PROGRAM)
    profile = Callgrind().profile(forge.target())
    assert (profile.outcome, profile.notes) == ("ok", ())
    assert profile.tool.version[0].isdigit()
    work = cost(profile, "work")
    assert work.calls == 7
    assert work.instructions is not None
    assert work.instructions > 7 * 1000 * 4
    assert place(profile, "work") == ("main.c", 3)
    assert profile.edges[Method("main", "main.c"), Method("work", "main.c")].calls == 7
    assert sum(c.self_share for c in profile.methods.values()) == pytest.approx(1)
    assert next(m for m in profile.methods if m.name == "_dl_relocate_object").file is None


def test_the_same_program_costs_the_same_each_time(forge: Forge) -> None:
    forge.make("-g", main_c=PROGRAM)
    first, second = (Callgrind().profile(forge.target()) for _ in range(2))
    assert first.methods == second.methods
    assert first.edges == second.edges


def test_scratch_is_left_empty(forge: Forge) -> None:
    forge.make("-g", main_c=PROGRAM)
    Callgrind().profile(forge.target())
    assert list(forge.scratch.iterdir()) == []


FORK = (
    LOOP
    + """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    work(5000);
    for (int i = 0; i < 3; i++) if (fork() == 0) { work(100); exit(0); }
    while (wait(NULL) > 0);
    work(50);
    return 0;
}
"""
)


def test_what_happened_before_a_fork_is_not_counted_again_for_its_child(forge: Forge) -> None:
    forge.make("-g", "-O0", main_c=FORK)
    profile = Callgrind().profile(forge.target())
    assert profile.outcome == "ok"
    work = cost(profile, "work")
    assert work.calls == 5
    once = forge.make(
        "-g", "-O0", main_c=LOOP + "int main(void) { work(5000); work(300); work(50); return 0; }"
    )
    straight = cost(Callgrind().profile(forge.target(once)), "work")
    assert work.instructions is not None
    assert straight.instructions is not None
    # Three calls of 100 cost two entries of the function more than one of 300.
    assert 0 < work.instructions - straight.instructions < 100


def test_a_program_that_replaces_itself_is_followed(forge: Forge) -> None:
    forge.make("-g", main_c=PROGRAM)
    profile = Callgrind().profile(forge.target("sh", "-c", "exec ./program"))
    assert profile.outcome == "ok"
    assert cost(profile, "work").calls == 7


def test_what_another_account_left_at_a_process_number_stops_nothing(forge: Forge) -> None:
    forge.make("-g", main_c=PROGRAM)
    named_by_number = 'find /tmp -maxdepth 1 -name "vgdb-*-$$-by-*" -user "$(id -u)"'
    profile = Callgrind().profile(forge.target("sh", "-c", f'test -z "$({named_by_number})" && ./program'))
    assert profile.outcome == "ok"
    assert cost(profile, "work").calls == 7


def test_threads_are_counted_together(forge: Forge) -> None:
    text = (
        LOOP
        + """
    #include <pthread.h>
    void *run(void *_) { work(100); return _; }
    int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(t + i, 0, run, 0);
                     for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }"""
    )
    forge.make("-g", "-pthread", main_c=text)
    assert cost(Callgrind().profile(forge.target()), "work").calls == 4


def test_a_crash_leaves_what_was_counted_and_a_note(forge: Forge) -> None:
    forge.make("-g", main_c=LOOP + "int main(void) { work(100); *(volatile int *)0 = 1; return 0; }")
    profile = Callgrind().profile(forge.target())
    assert profile.outcome == "signal"
    assert profile.notes == ("The program under callgrind was ended by signal SIGSEGV.",)
    assert cost(profile, "work").calls == 1


def test_an_instruction_that_valgrind_does_not_know_is_explained(forge: Forge) -> None:
    forge.make("-g", main_c='int main(void) { __asm__ volatile("ud2"); return 0; }')
    (note,) = Callgrind().profile(forge.target()).notes
    assert note == (
        "The program under callgrind was ended by signal SIGILL. Valgrind does not know all instructions of "
        "new processors: build without `-march=native`."
    )


def test_a_killed_process_is_told(forge: Forge) -> None:
    text = (
        LOOP
        + """
    #include <signal.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int main(void) {
        int told[2]; char byte = 0;
        pipe(told);
        work(9);
        int child = fork();
        if (child == 0) { work(1); write(told[1], &byte, 1); pause(); }
        read(told[0], &byte, 1);
        kill(child, SIGKILL);
        wait(0);
        return 0;
    }"""
    )
    forge.make("-g", main_c=text)
    profile = Callgrind().profile(forge.target())
    assert profile.outcome == "ok"
    assert cost(profile, "work").calls == 1
    assert profile.notes == ("1 process was killed before it wrote all of its callgrind profile.",)


def test_a_daemon_left_behind_is_ended_and_told(forge: Forge) -> None:
    text = (
        LOOP
        + """
    #include <unistd.h>
    int main(void) {
        int told[2]; char byte = 0;
        pipe(told);
        work(9);
        if (fork() == 0) { setsid(); write(told[1], &byte, 1); pause(); }
        read(told[0], &byte, 1);
        return 0;
    }"""
    )
    forge.make("-g", main_c=text)
    profile = Callgrind().profile(forge.target())
    assert cost(profile, "work").calls == 1
    assert any("was killed before it wrote" in note for note in profile.notes)


def test_a_trial_that_takes_too_long_is_an_outcome(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callgrind, "CALLGRIND_FACTOR", 1.0)
    forge.make("-g", main_c="#include <unistd.h>\nint main(void) { pause(); return 0; }")
    profile = Callgrind().profile(forge.target(timeout=0.5))
    assert (profile.outcome, dict(profile.methods)) == ("timeout", {})
    assert profile.notes[0].startswith("The program under callgrind took longer than")


def test_a_command_that_does_not_exist_is_an_outcome(forge: Forge) -> None:
    assert Callgrind().profile(forge.target("./no-such-thing")).outcome != "ok"


def test_a_program_without_debug_information_keeps_its_names(forge: Forge) -> None:
    forge.make("-g0", main_c=PROGRAM)
    profile = Callgrind().profile(forge.target())
    assert place(profile, "work") == (None, None)
    assert cost(profile, "work").calls == 7
    assert profile.notes == (
        "program has no debug information: its functions are known by name alone, without file and line.",
    )


@pytest.mark.parametrize("flags", [("-s",), ("-s", "-static")])
def test_stripped_code_is_nobody_in_particular(forge: Forge, flags: tuple[str, ...]) -> None:
    forge.make(*flags, main_c=PROGRAM.replace("1000", "100000"))
    profile = Callgrind().profile(forge.target())
    nameless = cost(profile, "[program]")
    assert nameless.calls is None
    assert nameless.self_share > 0.9
    assert any(note.endswith("code of [program] that has no names (stripped).") for note in profile.notes)
    assert not any(method.name == "work" for method in profile.methods)


@pytest.mark.parametrize(
    ("compiler", "flags"), [("gcc", ("-static",)), ("musl-gcc", ()), ("musl-gcc", ("-static",))]
)
def test_static_and_musl_programs_are_no_different(
    forge: Forge, compiler: str, flags: tuple[str, ...]
) -> None:
    forge.make("-g", *flags, compiler=compiler, main_c=FORK)
    profile = Callgrind().profile(forge.target())
    assert profile.outcome == "ok"
    assert place(profile, "work") == ("main.c", 3)
    assert cost(profile, "work").calls == 5


def test_names_of_files_may_be_anything(forge: Forge) -> None:
    forge.make("-g", "-O1", **{"ma in`*[x](y)`<b>é_c": PROGRAM})
    (forge.root / "program").rename(forge.root / "pro gram*(2) é")
    profile = Callgrind().profile(forge.target("./pro gram*(2) é"))
    assert (profile.outcome, profile.notes) == ("ok", ())
    assert place(profile, "work") == ("ma in`*[x](y)`<b>é.c", 3)


def test_static_functions_of_one_name_in_two_files_stay_two(forge: Forge) -> None:
    def file(name: str, rounds: int) -> str:
        return f"""
        static __attribute__((noinline)) int helper(int n) {{ volatile int s = n; return s; }}
        int {name}(void) {{ int s = 0; for (int i = 0; i < {rounds}; i++) s += helper(i); return s; }}"""

    main = "int one(void); int two(void); int main(void) { return one() + two() == 1; }"
    forge.make("-g", "-O1", one_c=file("one", 3), two_c=file("two", 5), main_c=main)
    profile = Callgrind().profile(forge.target())
    helpers = {m.file: c.calls for m, c in profile.methods.items() if m.name == "helper"}
    assert helpers == {"one.c": 3, "two.c": 5}


def test_overloads_templates_and_lambdas_are_methods_without_arguments(forge: Forge) -> None:
    text = """
    #include <algorithm>
    #include <vector>
    namespace café { struct Größe { __attribute__((noinline)) int plus(int a) const { return a + 1; }
        __attribute__((noinline)) int plus(double a) const { return int(a) + 2; } }; }
    template <class T> __attribute__((noinline)) T twice(T value) { return value + value; }
    int main() {
        café::Größe g;
        std::vector<int> v{3, 1, 2};
        auto keep = [&](int a) __attribute__((noinline)) { return twice(a) + g.plus(a) + g.plus(2.0 * a); };
        int s = 0;
        for (int a : v) s += keep(a);
        return s == 1;
    }"""
    forge.make("-g", "-O1", compiler="g++", main_cpp=text)
    profile = Callgrind().profile(forge.target())
    assert place(profile, "café::Größe::plus") == ("main.cpp", 4)
    assert cost(profile, "café::Größe::plus").calls == 6
    assert cost(profile, "twice<int>").calls == 3
    assert cost(profile, "main").calls == 1
    assert not [m.name for m in profile.methods if "lambda" in m.name]


def test_clones_fold_into_their_function(forge: Forge) -> None:
    text = """
    #include <stdlib.h>
    #include <stdio.h>
    static __attribute__((noinline)) int scaled(int n, int by) {
        volatile int s = 0; while (n--) s += by; return s; }
    __attribute__((cold, noinline)) void fail(void) { puts("x"); abort(); }
    int main(int c, char **v) { (void)v; if (c > 5) fail(); return scaled(10, 3) + scaled(20, 3) == 1; }"""
    forge.make("-g", "-O2", main_c=text)
    assert b"scaled.constprop.0" in (forge.root / "program").read_bytes()
    profile = Callgrind().profile(forge.target())
    assert cost(profile, "scaled").calls == 2
    # An optimised function may begin with the first line of its body.
    assert place(profile, "scaled") in [("main.c", 4), ("main.c", 5)]


def test_what_a_program_preloads_stays_preloaded(forge: Forge) -> None:
    forge.make("-g", "-shared", "-fPIC", other_c="int answer(void) { return 42; }")
    (forge.root / "program").rename(forge.root / "libother.so")
    text = """
    #include <dlfcn.h>
    int main(void) { int (*f)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "answer"); return f ? f() : 1; }"""
    forge.make("-g", "-D_GNU_SOURCE", main_c=text)
    target = replace(forge.target(LD_PRELOAD=str(forge.root / "libother.so")), ok_exit=(42,))
    profile = Callgrind().profile(target)
    assert profile.outcome == "ok"
    assert place(profile, "answer") == ("other.c", 1)


def test_a_program_that_tampers_with_its_profile_gets_a_note(forge: Forge) -> None:
    text = """
    #include <glob.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/stat.h>
    #include <unistd.h>
    int main(void) {
        glob_t g; char name[4096];
        glob("%s/*/log.*", 0, 0, &g);
        for (size_t i = 0; i < g.gl_pathc; i++) {
            *(char *)(strrchr(g.gl_pathv[i], '/') + 1) = 0;
            snprintf(name, sizeof name, "%%sprofile.1", g.gl_pathv[i]);
            symlink("/etc/passwd", name);
            snprintf(name, sizeof name, "%%sprofile.2", g.gl_pathv[i]);
            mkfifo(name, 0644);
            snprintf(name, sizeof name, "%%sprofile.3", g.gl_pathv[i]);
            mkdir(name, 0755);
            snprintf(name, sizeof name, "%%sprofile.4", g.gl_pathv[i]);
            fclose(fopen(name, "w"));
        }
        return 0;
    }"""
    forge.make("-g", "-include", "string.h", main_c=text % forge.scratch)
    profile = Callgrind().profile(forge.target())
    assert profile.outcome == "ok"
    assert cost(profile, "main").calls == 1
    assert len([note for note in profile.notes if "is not used" in note]) == 4


def test_what_is_missing_is_said(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Callgrind().missing(forge.target()) == ()
    monkeypatch.setattr(callgrind, "PATH", str(forge.root))
    assert Callgrind().missing(forge.target()) == (
        "`valgrind` is not installed: no instructions and calls of functions.",
    )


def test_more_profiles_than_are_read_are_told(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callgrind, "MOST_FILES", 2)
    forge.make("-g", "-O0", main_c=FORK)
    profile = Callgrind().profile(forge.target())
    assert any(note.startswith("Only the 2 largest of ") for note in profile.notes)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change accounts")
def test_standard_input_reaches_the_program(forge: Forge, open_path: Path) -> None:
    forge.make("-g", main_c="#include <stdio.h>\nint main(void) { return getchar() == 'x' ? 0 : 9; }")
    given = open_path / "given"
    given.write_text("x")
    target = forge.target()
    assert Callgrind().profile(target).outcome == "exit"
    assert Callgrind().profile(replace(target, stdin=given)).outcome == "ok"


def test_files_are_known_where_the_compiler_made_no_table_of_addresses(forge: Forge) -> None:
    """As clang and Go do not."""
    forge.make("-g", main_c=FORK)
    subprocess.run(["objcopy", "--remove-section=.debug_aranges", "program"], cwd=forge.root, check=True)
    profile = Callgrind().profile(forge.target())
    assert place(profile, "work") == ("main.c", 3)
