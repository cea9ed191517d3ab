"""Shares of time of real programs, and the coarse profile that has them beside callgrind's counts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import pytest

from bot.adapters.profilers.native import callgrind, coarse, sampling
from bot.adapters.profilers.native.coarse import Coarse, merge, pool
from bot.adapters.profilers.native.sampling import Gperftools, Perf
from bot.model.profiles import Method, MethodCost, Profile, Target, Tool
from tests.adapters.profilers.native.conftest import Forge
from tests.adapters.scripts import script

SPIN = """
#include <stdlib.h>
#include <unistd.h>
#define SPIN(n) volatile double s = 0; for (int i = 0; i < n; i++) s += i * 0.5; return s
__attribute__((noinline)) double hot(int n) { SPIN(9 * n); }
__attribute__((noinline)) double warm(int n) { SPIN(n); }
"""
PROGRAM = SPIN + "int main(void) { for (int i = 0; i < 80; i++) { hot(100000); warm(100000); } return 0; }\n"
SHORT = SPIN + "int main(void) { for (int i = 0; i < 20; i++) { hot(3000); warm(3000); } return 0; }\n"
ANSWER = """
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    int (*f)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "answer");
    return (f ? f() : 1) + getchar();
}
"""
SAMPLERS = [Perf, Gperftools]


def ready(sampler: type[Perf | Gperftools], target: Target) -> Perf | Gperftools:
    made = sampler()
    if sampler is Perf and "not allowed" in "".join(made.missing(target)):
        pytest.skip("only privileged containers allow perf")
    assert made.missing(target) == ()
    return made


def share(profile: Profile, name: str) -> float:
    return sum(cost.self_share for method, cost in profile.methods.items() if method.name == name)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_shares_of_time_are_those_of_the_program(
    forge: Forge, monkeypatch: pytest.MonkeyPatch, sampler: type[Perf | Gperftools]
) -> None:
    monkeypatch.setattr(sampling, "FEW_SAMPLES", 20)
    forge.make("-g", "-O1", main_c=PROGRAM)
    profile = ready(sampler, forge.target()).profile(forge.target())
    assert (profile.outcome, profile.notes) == ("ok", ())
    assert profile.samples is not None
    assert profile.samples >= sampling.FEW_SAMPLES
    # Nine to one; how near depends on what else the machine does.
    assert share(profile, "hot") > 0.5
    assert share(profile, "hot") + share(profile, "warm") > 0.9
    assert sum(c.self_share for c in profile.methods.values()) == pytest.approx(1)
    (hot,) = [m for m in profile.methods if m.name == "hot"]
    assert (hot.file, hot.line) == ("main.c", 5)
    seconds = sum(cost.self_seconds or 0 for cost in profile.methods.values())
    assert 0 < seconds < 1.5 * profile.seconds


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_children_that_execute_a_program_are_sampled(forge: Forge, sampler: type[Perf | Gperftools]) -> None:
    forge.make("-g", "-O1", main_c=PROGRAM)
    target = forge.target("sh", "-c", "./program & ./program; wait")
    assert share(ready(sampler, target).profile(target), "hot") > 0.5


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("ending", ["abort();", "_exit(0);", "kill(getpid(), SIGKILL);", "raise(SIGSTOP);"])
def test_no_ending_of_the_program_is_an_exception(
    forge: Forge, sampler: type[Perf | Gperftools], ending: str
) -> None:
    forge.make("-g", "-include", "signal.h", main_c=SPIN + f"int main(void) {{ warm(10000); {ending} }}")
    target = replace(forge.target(), timeout=2.0 if "STOP" in ending else 60.0)
    profile = ready(sampler, target).profile(target)
    assert profile.notes
    assert (profile.outcome == "ok") == (ending == "_exit(0);")


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_standard_input_and_preloading_stay(forge: Forge, sampler: type[Perf | Gperftools]) -> None:
    forge.make("-shared", "-fPIC", other_c="int answer(void) { return 42; }")
    (forge.root / "program").rename(forge.root / "libother.so")
    forge.make("-D_GNU_SOURCE", main_c=ANSWER)
    given = forge.root / "given"
    given.write_text("\5")
    target = replace(forge.target(LD_PRELOAD=str(forge.root / "libother.so")), stdin=given, ok_exit=(47,))
    assert ready(sampler, target).profile(target).outcome == "ok"


def test_a_program_that_cannot_load_the_library_is_not_given_it(forge: Forge) -> None:
    forge.make("-static", main_c=PROGRAM)
    assert Gperftools().missing(forge.target()) == (
        "`program` is linked statically: gperftools cannot be loaded into it.",
    )
    forge.make(compiler="musl-gcc", main_c=PROGRAM)
    assert Gperftools().missing(forge.target()) == (
        "`program` uses musl: gperftools cannot be loaded into it.",
    )
    assert Gperftools().missing(forge.target("sh", "-c", "true")) == ()
    assert Gperftools().missing(forge.target("./none")) == ()


def test_what_perf_may_not_do_is_said_once_it_was_tried(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = script(forge.root / "perf", "exit 255")
    monkeypatch.setattr(sampling, "PATH", str(forge.root))
    monkeypatch.setattr(sampling, "_record", lambda written: [str(fake), str(written)])
    assert Perf().missing(forge.target()) == ("`perf` is not allowed to sample here.",)
    fake.unlink()
    assert Perf().missing(forge.target()) == ("`perf` is not installed.",)


def test_the_coarse_profile_has_counts_and_time(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coarse, "ENOUGH_SAMPLES", 20)
    monkeypatch.setattr(coarse, "FEW_SAMPLES", 20)
    forge.make("-g", "-O1", main_c=PROGRAM.replace("100000", "50000"))
    profile = Coarse().profile(forge.target())
    assert profile.outcome == "ok"
    hot = next(cost for method, cost in profile.methods.items() if method.name == "hot")
    assert hot.calls == 80
    assert hot.instructions is not None
    assert hot.instructions > 80 * 450000
    assert hot.self_seconds
    assert 0.5 < hot.self_share <= 1
    assert profile.edges[Method("main", "main.c"), Method("hot", "main.c")].calls == 80
    assert profile.tool.quantities == {"calls", "instructions", "edges", "seconds"}


def test_a_trial_that_fails_at_once_is_not_called_too_short(forge: Forge) -> None:
    forge.make("-g", "-O1", main_c="int main(void) { return 1; }")
    profile = Coarse().profile(forge.target())
    assert profile.outcome == "exit"
    assert not any("a longer workload" in n or "Shares of methods" in n for n in profile.notes), profile.notes


def test_too_short_a_trial_has_shares_of_instructions(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coarse, "MOST_ROUNDS", 2)
    forge.make("-g", "-O1", main_c=SHORT)
    profile = Coarse().profile(forge.target())
    assert "Shares of methods are shares of instructions, not of time." in profile.notes
    assert share(profile, "hot") == pytest.approx(9 * share(profile, "warm"), rel=0.05)


def test_what_is_too_slow_to_be_counted_is_sampled_and_so_are_all_other_profiles_of_it(forge: Forge) -> None:
    forge.make("-g", "-O1", main_c=SHORT)
    profiler = Coarse()
    hurried = profiler.profile(replace(forge.target(), seconds=1.0))
    assert any("callgrind may take" in note for note in hurried.notes)
    assert all(cost.instructions is None for cost in hurried.methods.values())
    later = profiler.profile(forge.target())
    assert all(cost.instructions is None for cost in later.methods.values())
    assert not any("callgrind may take" in note for note in later.notes), "there is time for it now"
    assert any(cost.instructions for cost in Coarse().profile(forge.target()).methods.values())


def test_what_the_sampler_itself_takes_is_no_reason_not_to_count(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coarse, "MOST_ROUNDS", 1)
    monkeypatch.setattr(coarse, "CALLGRIND_STARTS", 0.0)
    forge.make("-g", "-O1", main_c=SHORT)
    sampler = Perf()
    program = sampler.profile(forge.target())
    own = sum(cost.self_seconds or 0.0 for cost in program.methods.values())
    monkeypatch.setattr(sampler, "profile", lambda target: replace(program, seconds=own + 1.0))
    profiler = Coarse()
    monkeypatch.setattr(profiler, "_sampling", (sampler,))
    profile = profiler.profile(replace(forge.target(), seconds=20.0))
    assert not any("callgrind may take" in note for note in profile.notes), profile.notes
    assert any(cost.instructions for cost in profile.methods.values())


def test_what_was_sampled_is_kept_when_callgrind_takes_longer_than_it_was_believed_to(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coarse, "CALLGRIND_STARTS", 0.0)
    monkeypatch.setattr(coarse, "CALLGRIND_SLOWDOWN", 0.0)
    forge.make("-g", "-O1", main_c=PROGRAM.replace("100000", "500000"))
    profiler, until = Coarse(), time.monotonic() + 8.0
    hurried = replace(forge.target(), seconds=8.0, stop=lambda: time.monotonic() > until)
    profile = profiler.profile(hurried)
    assert profile.outcome == "ok" and profile.samples, profile.notes
    assert any("callgrind did not end" in note for note in profile.notes), profile.notes
    assert all(cost.instructions is None for cost in profiler.profile(forge.target()).methods.values())


def test_what_was_sampled_is_kept_when_callgrind_ended_in_time_before_and_now_does_not(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge.make("-g", "-O1", main_c=PROGRAM.replace("100000", "500000"))
    profiler = Coarse()
    monkeypatch.setattr(coarse, "MOST_ROUNDS", 1)
    target = forge.target()
    command = tuple(word.replace(str(target.scratch), "") for word in target.words)
    profiler._counted_before[command] = True
    until = time.monotonic() + 8.0
    profile = profiler.profile(replace(target, seconds=8.0, stop=lambda: time.monotonic() > until))
    assert profile.outcome == "ok" and profile.samples, profile.notes
    assert all(cost.instructions is None for cost in profile.methods.values())
    assert any("callgrind did not end" in note for note in profile.notes), profile.notes


def test_what_was_sampled_is_kept_when_the_time_is_over_before_callgrind_is_stopped(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coarse, "CALLGRIND_STARTS", 0.0)
    monkeypatch.setattr(coarse, "CALLGRIND_SLOWDOWN", 0.0)
    monkeypatch.setattr(coarse, "MOST_ROUNDS", 1)
    forge.make("-g", "-O1", main_c=PROGRAM.replace("100000", "500000"))
    until = time.monotonic() + 8.0
    profile = Coarse().profile(replace(forge.target(), seconds=60.0, stop=lambda: time.monotonic() > until))
    assert profile.outcome == "ok" and profile.samples, profile.notes
    assert any("callgrind did not end" in note for note in profile.notes), profile.notes


def test_without_any_tool_the_coarse_profile_says_what_is_missing(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge.make("-static", main_c=SHORT)
    monkeypatch.setattr(callgrind, "PATH", str(forge.root))
    monkeypatch.setattr(sampling, "PATH", str(forge.root))
    missing = Coarse().missing(forge.target())
    assert len(missing) == 3
    profile = Coarse().profile(forge.target())
    assert (profile.outcome, profile.notes) == ("not-started", tuple(missing))


def made(name: str, methods: dict[Method, MethodCost], **more: object) -> Profile:
    tool = Tool(name, "1", "coarse", frozenset({"calls"}))
    return replace(Profile(tool, "ok", 1.0, methods), **more)  # type: ignore[arg-type]


def test_merged_profiles_keep_what_only_one_of_them_saw() -> None:
    f, g, h = Method("f"), Method("g"), Method("h")
    counts = made(
        "counts", {f: MethodCost(0.9, calls=3, instructions=9), g: MethodCost(0.1, calls=1, instructions=1)}
    )
    times = made("times", {f: MethodCost(0.4, 2.0), h: MethodCost(0.6, 3.0)}, samples=500, notes=("said",))
    merged = merge(counts, times)
    assert merged.methods == {
        f: MethodCost(0.4, 2.0, calls=3, instructions=9),
        g: MethodCost(0.0, 0.0, calls=1, instructions=1),
        h: MethodCost(0.6, 3.0),
    }
    assert (merged.seconds, merged.samples, merged.notes, merged.tool.name) == (
        2.0,
        500,
        ("said",),
        "counts + times",
    )


def test_samples_of_several_trials_count_the_same() -> None:
    f, g = Method("f"), Method("g")
    pooled = pool(
        [
            made("s", {f: MethodCost(1.0, 2.0)}, samples=300),
            made("s", {f: MethodCost(0.5, 1.0), g: MethodCost(0.5, 1.0)}, samples=100, seconds=3.0),
        ]
    )
    assert pooled.methods == {f: MethodCost(0.875, 1.5), g: MethodCost(0.125, 0.5)}
    assert (pooled.samples, pooled.seconds) == (400, 2.0), "samples of both, seconds of one trial"


def test_a_short_trial_is_sampled_again_until_there_are_enough_samples(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fake(Gperftools):
        rounds: ClassVar[list[int]] = []

        def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
            self.rounds.append(1)
            return made(
                "fake", {Method("f"): MethodCost(1.0, 1.0)}, samples=40, notes=("Only 40 samples", "kept")
            )

    monkeypatch.setattr(coarse, "Perf", Fake)
    forge.make("-g", main_c=SHORT)
    profile = Coarse().profile(forge.target())
    assert len(Fake.rounds) == coarse.MOST_ROUNDS
    assert profile.samples == 40 * coarse.MOST_ROUNDS
    assert "kept" in profile.notes


def test_when_one_trial_failed_the_other_one_counts() -> None:
    f = Method("f")
    counts, times = (
        made("c", {f: MethodCost(1.0, calls=3)}),
        made("t", {f: MethodCost(1.0, 2.0)}, samples=500),
    )
    assert merge(replace(counts, methods={}, outcome="timeout"), times).outcome == "ok"
    alone = merge(replace(counts, outcome="signal"), times)
    assert (alone.outcome, alone.methods, alone.edges) == ("ok", times.methods, {})
    both = merge(replace(counts, outcome="signal"), replace(times, outcome="signal"))
    assert (both.outcome, both.methods[f].calls) == ("signal", 3)
    failed = merge(counts, replace(times, methods={}, samples=0, outcome="signal"))
    assert (failed.outcome, failed.methods[f]) == ("signal", MethodCost(1.0, calls=3))
    assert sampling.FEW_SAMPLES > 1
