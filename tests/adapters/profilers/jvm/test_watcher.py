"""Fine profiles of JVM programs: every call of chosen methods, timed, by where it came from."""

from __future__ import annotations

import json

import pytest

from bot.adapters.profilers.jvm import toolchain
from bot.adapters.profilers.jvm.agent import timed
from bot.adapters.profilers.jvm.watcher import JvmWatcher
from bot.model.profiles import CallSeries, Method, Profile
from tests.adapters.profilers.jvm.conftest import MakeJvmTarget
from tests.adapters.profilers.jvm.programs import PRESS, RUN_PRESS, RUN_SMALL, program
from tests.adapters.profilers.sampled import often_called, sampled_as


def of(profile: Profile, name: str) -> list[CallSeries]:
    return [one for one in profile.series if one.method.name == name]


def test_calls_are_timed_by_their_callers(make_jvm_target: MakeJvmTarget) -> None:
    names = ["main", "burn", "each", "Wheel.turn", "Wheel.<init>"]
    watched = [Method(f"shop.Press.{name}") for name in names]
    profile = JvmWatcher().profile(make_jvm_target(PRESS, *RUN_PRESS), watched)
    assert profile.outcome == "ok"
    assert {m.name.removeprefix("shop.Press."): c.calls for m, c in profile.methods.items()} == {
        "main": 1, "burn": 39, "each": 1, "Wheel.turn": 30, "Wheel.<init>": 1
    }  # fmt: skip
    by_path = {
        tuple(m.name.rpartition(".")[2] for m in one.path): one for one in of(profile, "shop.Press.burn")
    }
    assert {path: one.calls for path, one in by_path.items()} == {
        ("main", "turn"): 30, ("main", "each"): 7, (): 1, ("main",): 1
    }  # fmt: skip
    turned = by_path["main", "turn"]
    assert turned.durations.min() > 0.001
    assert turned.seconds == pytest.approx(turned.durations.sum())
    assert profile.edges[watched[3], watched[1]].calls == 30
    main = profile.methods[watched[0]]
    assert main.total_seconds is not None and main.self_seconds is not None
    assert main.total_seconds >= turned.seconds + main.self_seconds > turned.seconds > 0
    assert any("watched calls cost" in note for note in profile.notes)


SHAPES = """
    interface Whole {
        default long all(long a, int b, double c, float d, String[] e, byte f) { return a + b + f; }
    }
    static class One implements Whole, Comparable<One> {
        final int size;
        One(int size) { this.size = size; }
        public int compareTo(One other) { return size - other.size; }
        synchronized boolean fails() { throw new IllegalStateException("as before"); }
        protected static char letter(Object[][] of, long much) { return 'x'; }
        <T extends Number> T same(T t) { return t; }
        float half(float x) { return x / 2; }
        @Deprecated public void marked() throws java.io.IOException { }
    }
    static int down(int n) { return n == 0 ? 0 : down(n - 1); }
"""
TAKE = """
    static long take(
            String text, java.util.List<?> list, int[] numbers, Runnable run, double x, char c, boolean b) {
        long until = System.nanoTime() + 100_000;
        while (System.nanoTime() < until) { }
        return until;
    }
"""
USE = """
    One one = new One(3);
    boolean right = one.all(1L << 40, 2, 3.0, 4f, null, (byte) 5) == (1L << 40) + 7;
    right &= one.compareTo(new One(1)) == 2 && One.letter(null, 9L) == 'x' && one.same(4) == 4;
    right &= one.half(3f) == 1.5f && down(2000) == 0;
    try { one.fails(); right = false; }
    catch (IllegalStateException e) { right &= e.getMessage().equals("as before"); }
    one.marked();
    right &= One.class.getMethod("marked").isAnnotationPresent(Deprecated.class);
    right &= One.class.getMethod("marked").getExceptionTypes().length == 1;
    synchronized (one) { right &= Thread.holdsLock(one); }
    right &= !Thread.holdsLock(one);
    if (!right) System.exit(9);
"""


def test_every_kind_of_method_does_what_it_did_and_is_counted(make_jvm_target: MakeJvmTarget) -> None:
    expected = {"Small.Whole.all": 1, "Small.down": 2001} | {
        f"Small.One.{name}": count
        for name, count in {
            "<init>": 2, "compareTo": 1, "fails": 1, "letter": 1, "same": 1, "half": 1, "marked": 1
        }.items()
    }  # fmt: skip
    target = make_jvm_target(program(USE, more=SHAPES), *RUN_SMALL)
    profile = JvmWatcher().profile(target, [Method(name) for name in expected])
    assert profile.outcome == "ok"
    assert {m.name: c.calls for m, c in profile.methods.items()} == expected
    assert all(len(one.path) <= 1 for one in profile.series), "a recursion has a short path"


def test_arguments_are_told_by_kind_length_and_small_numbers(make_jvm_target: MakeJvmTarget) -> None:
    names = ["Small.Whole.all", "Small.One.letter", "Small.One.same", "Small.down", "Small.take"]
    body = USE + "take(\"a secret\", new java.util.ArrayList<>(), new int[3], () -> { }, -0.3, 'x', true);"
    target = make_jvm_target(program(body, more=SHAPES + TAKE), *RUN_SMALL)
    javac = toolchain.compiler(target)
    assert javac is not None
    trial = timed(target, toolchain.agent_jar(javac), dict.fromkeys(names, 1), arguments=True)
    assert trial.launched.outcome == "ok", "the program found all as it was"
    (report,) = trial.reports
    given = {
        names[one.method]: [report.texts[text].split("\n") for text in one.given] for one in report.series
    }
    assert given["Small.Whole.all"] == [["int ~2^40", "int 2", "float ~2^1", "float ~2^2", "null", "int 5"]]
    assert given["Small.One.letter"] == [["null", "int 9"]]
    assert given["Small.One.same"] == [["int 4"]]
    taken = ["String length 8", "ArrayList length 0", "int[] length 3", "object", "float ~2^-2", "Character"]
    assert given["Small.take"] == [[*taken, "boolean true"]]
    powers = ["int ~2^9"] * 23 + ["int ~2^10"] * 977
    assert [one for (one,) in given["Small.down"]] == [f"int {n}" for n in range(1001)] + powers


def test_a_fine_profile_tells_arguments_where_asked(make_jvm_target: MakeJvmTarget) -> None:
    take = Method("Small.take")
    body = "for (int i = 0; i < 30; i++) take(\"a secret\", null, new int[i % 2], null, 1.0, 'x', true);"
    profile = JvmWatcher(arguments=True).profile(
        make_jvm_target(program(body, more=TAKE), *RUN_SMALL), [take]
    )
    (series,) = profile.series
    assert "arguments" in profile.tool.quantities and len(series.arguments) == 30
    assert {one[2] for one in series.arguments} == {"int[] length 0", "int[] length 1"}


def test_many_calls_become_a_histogram_that_holds_all_of_them(make_jvm_target: MakeJvmTarget) -> None:
    body = "double t = 0; for (int i = 0; i < 100_500; i++) t += busy(i); if (t == 0) System.exit(3);"
    more = (
        "static double busy(int n) {"
        " double x = n; for (int i = 0; i < 2000; i++) x = Math.sqrt(x + i); return x; }"
    )
    profile = JvmWatcher().profile(
        make_jvm_target(program(body, more=more), *RUN_SMALL), [Method("Small.busy")]
    )
    assert [cost.calls for cost in profile.methods.values()] == [100_500]
    for one in of(profile, "Small.busy"):
        assert (len(one.durations), one.counts.sum(), len(one.edges)) == (0, 100_500, len(one.counts) + 1)
        assert one.edges[0] * 100_500 <= one.seconds


def test_what_never_runs_is_said(make_jvm_target: MakeJvmTarget) -> None:
    target = make_jvm_target(program("burn(1);"), *RUN_SMALL)
    profile = JvmWatcher().profile(target, [Method("Small.burn"), Method("Small.gone"), Method("new\nline")])
    assert {m.name: c.calls for m, c in profile.methods.items()} == {"Small.burn": 1, "Small.gone": 0}
    assert any(note.startswith("1 watched methods were never called") for note in profile.notes)
    assert "1 methods were too many, or have no names for a list." in profile.notes


FORGED = {
    "runtime": "17", "series": [{"method": 0, "parent": 0, "calls": 1, "sum": 1, "durations": [1], "bins": [],
    "given": []}], "totals": [1], "selves": [1], "begun": [0], "left": 0, "cost": 1, "bias": 1, "texts": [],
}  # fmt: skip


@pytest.mark.parametrize("forged", ["{", json.dumps(FORGED), json.dumps(FORGED | {"totals": [1] * 9})])
def test_a_forged_report_is_left_out_with_a_note(make_jvm_target: MakeJvmTarget, forged: str) -> None:
    body = (
        'String own = System.getenv("JAVA_TOOL_OPTIONS");'
        "String folder = own.substring(own.indexOf('=') + 1, own.length() - 1); burn(1);"
        f'java.nio.file.Files.writeString(java.nio.file.Path.of(folder, "0.json"), {json.dumps(forged)});'
    )
    profile = JvmWatcher().profile(make_jvm_target(program(body), *RUN_SMALL), [Method("Small.burn")])
    assert [cost.calls for cost in profile.methods.values()] == [1]
    assert "1 profile files were damaged and left out." in profile.notes


def test_a_halted_trial_is_noted(make_jvm_target: MakeJvmTarget) -> None:
    target = make_jvm_target(program("burn(1); Runtime.getRuntime().halt(0);"), *RUN_SMALL)
    profile = JvmWatcher().profile(target, [Method("Small.burn")])
    assert any(note.startswith("1 of 1 JVMs ended without a profile") for note in profile.notes)


SHOP = """
    static double outer(int i) { return hot(i % 3 == 0 ? 4 : 1) + after(1); }
    static double hot(int turns) { return inner(turns) + burnt(turns); }
    static double inner(int turns) { return burnt(turns); }
    static double after(int turns) { return burnt(turns); }
    static double burnt(int turns) {
        double x = 0;
        for (int i = 0; i < turns * 200; i++) x = Math.sqrt(x + i);
        return x;
    }
"""


def test_what_is_called_often_is_timed_in_some_of_its_calls(make_jvm_target: MakeJvmTarget) -> None:
    """Every third call of `hot` takes four times as long: timing each third one must not fall in step."""
    body = "double x = 0; for (int i = 0; i < 300_000; i++) x += outer(i); System.out.println(x);"
    methods = [Method(f"Small.{name}") for name in ("outer", "hot", "inner", "after")]
    target = make_jvm_target(program(body, more=SHOP), *RUN_SMALL)
    profile = JvmWatcher(often_called(methods), overhead=0.035).profile(target, methods)
    sampled_as(profile, methods, (3, 4, 4, 1), ())
