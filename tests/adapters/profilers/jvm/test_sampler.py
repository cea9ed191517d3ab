"""Coarse profiles of JVM programs: who takes the time, how often, under which name."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.processes import process
from bot.adapters.profilers.jvm import sampler, toolchain
from bot.adapters.profilers.jvm.recording import Recorded, take
from bot.adapters.profilers.jvm.sampler import JvmSampler, served
from bot.model.profiles import MethodCost, Profile
from tests.adapters.profilers.jvm.conftest import MakeJvmTarget
from tests.adapters.profilers.jvm.programs import PRESS, RUN_PRESS, RUN_SMALL, program
from tests.adapters.scripts import script

ONCE = {"seconds": 0.0}
"""Of a target: one recording and no more, where nothing depends on how many samples there are."""


def costs(profile: Profile) -> Mapping[str, MethodCost]:
    return {method.name: cost for method, cost in profile.methods.items()}


def test_a_recording_names_who_takes_the_time_and_the_agent_counts_the_calls(
    make_jvm_target: MakeJvmTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampler, "MOST_ROUNDS_OF_FEW", 3)
    profile = JvmSampler().profile(make_jvm_target(PRESS, *RUN_PRESS))
    assert profile.outcome == "ok" and len(profile.trials) == 3, "short trials are recorded again"
    known = costs(profile)
    assert known["shop.Press.burn"].self_share > 0.6
    assert profile.tool.version[:1].isdigit()
    calls = {name: cost.calls for name, cost in known.items() if cost.calls}
    assert calls == {
        "shop.Press.main": 1, "shop.Press.burn": 39, "shop.Press.each": 1, "shop.Press.same": 7,
        "shop.Press.Wheel.<init>": 1, "shop.Press.Wheel.turn": 30,
    }  # fmt: skip
    wheel, each = known["shop.Press.Wheel.turn"], known["shop.Press.each"]
    assert (wheel.total_seconds or 0) > (each.total_seconds or 0) > 0
    edges = {(a.name, b.name) for a, b in profile.edges}
    assert ("shop.Press.each", "shop.Press.burn") in edges, "the lambda counts to who called it"
    assert ("shop.Press.main", "shop.Press.burn") in edges, (
        "and so do threads' and anonymous classes' first methods"
    )
    assert not any("lambda" in name or "java." in name or "$" in name for name in known)
    (burn,) = [m for m in profile.methods if m.name == "shop.Press.burn"]
    assert (burn.file, burn.line) == ("src/shop/Press.java", 13)
    assert 0.6 < sum(cost.self_share for cost in known.values()) < 1.0001


def test_what_the_program_set_itself_stays(make_jvm_target: MakeJvmTarget) -> None:
    body = 'if (!"yes of course".equals(System.getProperty("own"))) System.exit(9); burn(50);'
    env = {"JAVA_TOOL_OPTIONS": "'-Down=yes of course'"}
    profile = JvmSampler().profile(make_jvm_target(program(body), *RUN_SMALL, env=env, **ONCE))
    assert (profile.outcome, costs(profile)["Small.main"].calls) == ("ok", 1)


def test_a_jvm_that_another_program_starts_is_seen_and_its_output_is_its_own(
    make_jvm_target: MakeJvmTarget,
) -> None:
    words = ("sh", "-c", 'test "$(java -cp classes Small)" = said && java -cp classes Small')
    target = make_jvm_target(program('burn(50); System.out.println("said");'), *words, **ONCE)
    profile = JvmSampler().profile(target)
    assert (profile.outcome, costs(profile)["Small.burn"].calls) == ("ok", 2)


def test_calls_of_many_threads_are_all_counted(make_jvm_target: MakeJvmTarget) -> None:
    body = (
        "Thread[] all = new Thread[8]; for (int i = 0; i < 8; i++) (all[i] = new Thread(() -> {"
        " for (int n = 0; n < 100_000; n++) hit(n); })).start(); for (Thread one : all) one.join();"
    )
    more = (
        "static int hit(int n) { switch (n % 3) { case 0: return 1; case 1: return n; default: return 2; } }"
    )
    profile = JvmSampler().profile(make_jvm_target(program(body, more=more), *RUN_SMALL, **ONCE))
    assert costs(profile)["Small.hit"].calls == 800_000


@pytest.mark.parametrize(
    ("body", "outcome", "said"),
    [
        ("Runtime.getRuntime().halt(0);", "ok", "ended without a"),
        ('throw new IllegalStateException("x");', "exit", "ended with exit code 1"),
        ("for (;;) burn(1);", "timeout", "took longer than"),
    ],
)
def test_a_trial_that_ends_badly_is_an_outcome_with_a_note(
    make_jvm_target: MakeJvmTarget, body: str, outcome: str, said: str
) -> None:
    target = make_jvm_target(program(body), *RUN_SMALL, timeout=0.7 if outcome == "timeout" else 60.0)
    profile = JvmSampler().profile(target)
    assert profile.outcome == outcome
    assert any(said in note for note in profile.notes)


def test_a_program_without_a_jvm_is_said(make_jvm_target: MakeJvmTarget) -> None:
    profile = JvmSampler().profile(make_jvm_target({}, "true"))
    assert (profile.outcome, dict(profile.methods)) == ("ok", {})
    assert any(note.startswith("No JVM left a recording") for note in profile.notes)
    assert any(note.startswith("No JVM took the agent") for note in profile.notes)


def test_without_java_it_is_missing(make_jvm_target: MakeJvmTarget) -> None:
    (sentence,) = JvmSampler().missing(make_jvm_target({}, "./tool", env={"PATH": "/nonexistent"}))
    assert sentence.startswith("There is no `java` for trials")


def test_a_compiler_in_the_checkout_is_not_run_as_ourselves(make_jvm_target: MakeJvmTarget) -> None:
    target = make_jvm_target({}, "jdk/bin/java")
    for name in ("java", "javac"):
        script(target.root / "jdk" / "bin" / name, "exit 1")
    javac = toolchain.compiler(target)
    assert javac is not None and not javac.is_relative_to(target.root)


def test_damaged_recordings_links_and_forged_counts_are_left_out_with_a_note(
    make_jvm_target: MakeJvmTarget,
) -> None:
    body = """
    for (java.nio.file.Path at : (Iterable<java.nio.file.Path>) java.nio.file.Files.list(
            java.nio.file.Path.of(arguments[0]))::iterator) {
        if (java.nio.file.Files.exists(at.resolve("a.jfr"))) continue;
        if (at.getFileName().toString().startsWith("jfr-")) {
            java.nio.file.Files.writeString(at.resolve("a.jfr"), "FLR\\0 this is none");
            java.nio.file.Files.createSymbolicLink(at.resolve("b.jfr"), java.nio.file.Path.of("/etc/passwd"));
        } else {
            java.nio.file.Files.writeString(at.resolve("forged.json"), "[1, 2]\\n{\\n[\\"x\\", -1]\\n");
        }
    }
    burn(100);
    """
    target = make_jvm_target(program(body), *RUN_SMALL, **ONCE)
    profile = JvmSampler().profile(replace(target, words=(*target.words, str(target.scratch))))
    assert profile.outcome == "ok"
    assert costs(profile)["Small.burn"].calls == 1
    assert "1 recordings were damaged: what came before the damage counts." in profile.notes
    assert "1 recordings were not read: too many, too large, or no plain files." in profile.notes
    assert "3 counts of calls were damaged and left out." in profile.notes


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        '["n", 5, 0, 1, 0]',
        '["n", -1, 7, 1, 0]',
        '["s", 3, 1, 1, 1]',
        '["m", 1, 2]',
        '["j", "25", -1, 0, 0]',
        '["x", 1]',
        "[" * 100_000,
    ],
)
def test_a_reader_that_says_something_unexpected_is_noted(line: str) -> None:
    recorded = Recorded()
    take(recorded, [b'["m", "a.B.c", null]', line.encode(), b'["m", "later", null]'])
    assert recorded.methods == [("a.B.c", None)]
    (note,) = recorded.notes
    assert "unexpected" in note


def test_what_jvms_spent_is_added_up() -> None:
    recorded = Recorded()
    take(recorded, [b'["j", "VM (25+1) for x", 5, 3, 1]', b'["j", "other", 6, 4, 2]'])
    assert (recorded.running, recorded.compiling, recorded.collecting) == (11, 7, 3)
    assert recorded.version == "VM (25+1) for x"


def test_collections_count_to_who_allocates(make_jvm_target: MakeJvmTarget) -> None:
    body = """
        java.util.ArrayList<Object> kept = new java.util.ArrayList<>();
        fill(kept);
        burn(50);
        for (int i = 0; i < 20; i++) System.gc();
        System.out.println(kept.size());
    """
    more = """
        static void fill(java.util.ArrayList<Object> kept) {
            for (int i = 0; i < 3_000_000; i++) { kept.add(new int[4]); }
        }
    """
    words = ("java", "-Xmx400m", "-XX:+UseSerialGC", "-cp", "classes", "Small")
    target = make_jvm_target(program(body, more=more), *words, **ONCE)
    found = costs(JvmSampler(counts=False).profile(target))
    assert 0.6 < found["Small.fill"].self_share < 1.0001, "most of it is what the collector copies"


def test_what_compilers_and_collectors_did_is_shared_out_whole() -> None:
    recorded = Recorded()
    take(recorded, [
        b'["m", "a.B.c", null]', b'["m", "a.B.d", null]', b'["m", "a.B.rare", null]', b'["n", -1, 0, 1, 0]',
        b'["n", 0, 1, 2, 1]', b'["n", -1, 1, 2, 0]', b'["j", "17", 100, 60, 40]', b'["c", 0, 160]',
        b'["c", 1, 80]', b'["c", 2, 60]', b'["s", 0, 0, 5, 30]', b'["s", 1, 0, 3, 0]', b'["s", 2, 0, 1, 10]',
    ])  # fmt: skip
    by_node, unseen = served(recorded, Counter(recorded.execution))
    assert dict(by_node) == pytest.approx({0: 30.0 + 20.0, 1: 12.0, 2: 10.0 + 16.0}), "1 is inlined in 0"
    assert dict(unseen) == pytest.approx({2: 12.0})


def test_names_of_any_script_stay_in_one_line(make_jvm_target: MakeJvmTarget) -> None:
    body = "größe(); 数える(); Local local = new Local(); local.inner();"
    more = "static void größe() {} static void 数える() {} static class Local { void inner() {} }"
    known = costs(JvmSampler().profile(make_jvm_target(program(body, more=more), *RUN_SMALL, **ONCE)))
    assert {"Small.größe", "Small.数える", "Small.Local.inner"} <= set(known)


def test_the_agent_is_compiled_once() -> None:
    javac = Path(shutil.which("javac", path=process.PATH) or "")
    jar = toolchain.agent_jar(javac)
    assert jar[:2] == b"PK" and toolchain.agent_jar(javac) is jar
