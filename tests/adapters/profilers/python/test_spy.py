"""py-spy alone, and its shares on cProfile's counts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.adapters.profilers.python import coarse
from bot.adapters.profilers.python.coarse import PythonCoarse, merge
from bot.adapters.profilers.python.spy import PySpy
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile, Target
from tests.adapters.profilers.python.programs import Checkout, own

BUSY = """
    import time
    class Mill:
        def grind(self):
            return sum(map(int, ["7"] * 1000))
        def rest(self):
            pass
    def main():
        mill = Mill()
        end = time.process_time() + 1.2
        while time.process_time() < end:
            for _ in range(50):
                mill.grind()
                mill.rest()
    main()
    """


def made(methods: dict[Method, MethodCost], samples: int | None = None, **rest: object) -> Profile:
    tool = PySpy().tool
    return Profile(tool=tool, outcome="ok", seconds=1.0, methods=methods, samples=samples, **rest)  # type: ignore[arg-type]


def test_the_busy_method_has_the_time_and_its_class(any_checkout: Checkout) -> None:
    any_checkout.write({"main.py": BUSY})
    profile = PythonCoarse().profile(any_checkout.target("-S", "main.py"))
    assert profile.outcome == "ok"
    assert re.fullmatch(r"[\d.]+, Python 3[\d.]+", profile.tool.version)
    costs = own(profile)
    heaviest = max(costs, key=lambda name: costs[name].self_share)
    assert heaviest == "main:Mill.grind"
    assert costs["main:Mill.grind"].calls == costs["main:Mill.rest"].calls
    assert costs["main:main"].calls == 1


def test_py_spy_sees_what_no_agent_can_enter(checkout: Checkout) -> None:
    checkout.write({"main.py": BUSY, "run": f"#!/bin/sh\nsleep 0.1\n{checkout.interpreter} -I main.py\n"})
    (checkout.root / "run").chmod(0o755)
    plain = checkout.target()
    target = Target(words=("./run",), env=plain.env, root=plain.root, cwd=plain.cwd, scratch=plain.scratch)
    profile = PythonCoarse().profile(target)
    assert profile.outcome == "ok"
    assert profile.tool.name == "py-spy"  # -I keeps the agent out
    assert "main:Mill.grind" in own(profile)
    assert profile.samples
    assert any("No Python process" in note for note in profile.notes)


@pytest.mark.parametrize(
    ("code", "outcome"), [("raise SystemExit(3)", "exit"), ("import os; os.kill(os.getpid(), 11)", "signal")]
)
def test_how_the_program_ended_is_not_hidden_by_py_spy(checkout: Checkout, code: str, outcome: str) -> None:
    checkout.write({"main.py": "import time\ntime.sleep(0.3)\n" + code})
    profile = PySpy().profile(checkout.target("main.py"))
    assert profile.outcome == outcome
    assert profile.notes


def test_a_program_that_is_no_python_is_a_note(checkout: Checkout) -> None:
    plain = checkout.target()
    target = Target(words=("true",), env=plain.env, root=plain.root, cwd=plain.cwd, scratch=plain.scratch)
    profile = PySpy().profile(target)
    assert profile.methods == {}
    assert len(profile.notes) == 1


def test_a_command_that_does_not_exist_is_an_outcome(checkout: Checkout, tmp_path: Path) -> None:
    plain = checkout.target()
    words = (str(tmp_path / "nothing"),)
    target = Target(words=words, env=plain.env, root=plain.root, cwd=plain.cwd, scratch=plain.scratch)
    assert PySpy().profile(target).outcome == "not-started"
    assert PythonCoarse().profile(target).outcome == "not-started"


F = Method("m:A.f", "m.py", 3)
G = Method("m:g", "m.py", 9)
COUNTED = made(
    {F: MethodCost(0.9, 0.9, 1.0, calls=5), G: MethodCost(0.1, 0.1, 0.1, calls=1)},
    edges={(F, G): EdgeCost(1, 0.1)},
)


def test_shares_come_from_samples_and_calls_from_counts() -> None:
    unqualified = Method("m:f", "m.py", 3)
    sampled = made({unqualified: MethodCost(0.4), G: MethodCost(0.6)}, samples=coarse.ENOUGH)
    merged = merge(COUNTED, sampled)
    assert merged.methods[F] == MethodCost(0.4, 0.9, 1.0, calls=5)
    assert merged.methods[G] == MethodCost(0.6, 0.1, 0.1, calls=1)
    assert merged.edges == COUNTED.edges
    assert merged.notes == ()


def test_too_few_samples_leave_the_counts_as_they_are_and_say_so() -> None:
    merged = merge(COUNTED, made({G: MethodCost(1.0)}, samples=coarse.ENOUGH - 1))
    assert merged.methods == COUNTED.methods
    assert "399 samples of the 400" in merged.notes[0]


def test_what_only_py_spy_saw_keeps_its_share_without_calls() -> None:
    other = Method("m:child", "m.py", 20)
    merged = merge(COUNTED, made({F: MethodCost(0.5), other: MethodCost(0.5)}, samples=coarse.ENOUGH))
    assert merged.methods[other] == MethodCost(0.5)
    assert merged.methods[G].self_share == 0.0
