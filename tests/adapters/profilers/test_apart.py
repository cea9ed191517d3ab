"""What programs under test wrote is read in readers' processes only: never in ours."""

from __future__ import annotations

import ast
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from bot.adapters.profilers import evidence
from bot.adapters.profilers.native.callgrind import Callgrind
from bot.adapters.profilers.native.sampling import Gperftools
from bot.adapters.profilers.native.uftrace import Uftrace
from bot.adapters.profilers.node.sampler import NodeSampler
from bot.adapters.profilers.python.cprofile import CProfile
from bot.adapters.profilers.python.spy import PySpy
from bot.adapters.reading.reader import Reading
from bot.adapters.resources.calls import Calls
from bot.adapters.resources.simulation import Simulation
from bot.model.profiles import Method, Target
from tests.adapters.profilers.native.conftest import Forge

ROOT = Path(__file__).resolve().parents[3]
ADAPTERS = ROOT / "bot" / "adapters"
PRIMITIVES = {
    "open_file", "read_file", "read_reports", "ELFFile", "read_perf", "read_gperftools", "parse", "take",
    "counts", "CallLines", "CallEvents", "Peaks", "Reader",
}  # fmt: skip
METHODS = {"open_file", "read_file", "frombuffer", "model_validate_json", "validate_json"}
"""Calls, of functions and of methods, that open or parse what a program wrote."""
OURS = {
    "profilers.attaching:AttachedProfiler": "a process that its user runs, under `--pid`",
}
"""What parses in our process nevertheless, and why."""
Name = str
"""`module:function`, or `module:Class` for all of its methods."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for place in ("profilers", "resources"):
        for path in sorted((ADAPTERS / place).rglob("*.py")):
            if "agent" not in path.parent.name:
                yield _name(path), ast.parse(path.read_text("utf-8"))
    for path in sorted(ADAPTERS.rglob("*.py")):
        if path.relative_to(ADAPTERS).parts[0] not in ("profilers", "resources") and (
            "bot.adapters.profilers" in path.read_text("utf-8")
        ):
            yield _name(path), ast.parse(path.read_text("utf-8"))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ADAPTERS).with_suffix("").parts)


def _known(module: str, tree: ast.Module) -> dict[str, Name]:
    """What names of a module stand for: its own functions and classes, and those it imports."""
    known = {
        node.name: f"{module}:{node.name}"
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bot.adapters."):
            source = (node.module or "").removeprefix("bot.adapters.")
            known |= {alias.asname or alias.name: f"{source}:{alias.name}" for alias in node.names}
    return known


@cache
def graph() -> tuple[dict[Name, set[Name]], set[Name], set[Name]]:
    """Who calls whom; who calls a primitive; who is handed to somebody, to be run elsewhere."""
    calls: defaultdict[Name, set[Name]] = defaultdict(set)
    touching, handed = set(), set()
    for module, tree in modules():
        known = _known(module, tree)
        for top in tree.body:
            if not isinstance(top, ast.FunctionDef | ast.ClassDef):
                continue
            for node in ast.walk(top):
                if not isinstance(node, ast.Call):
                    continue
                caller, does = f"{module}:{top.name}", node.func
                if isinstance(does, ast.Name):
                    calls[caller].add(known.get(does.id, ""))
                elif isinstance(does, ast.Attribute) and isinstance(does.value, ast.Name):
                    calls[caller].add(f"{known.get(does.value.id, '').replace(':', '.')}:{does.attr}")
                if (isinstance(does, ast.Name) and does.id in PRIMITIVES) or (
                    isinstance(does, ast.Attribute) and does.attr in METHODS
                ):
                    touching.add(caller)
                handed |= {known[a.id] for a in node.args if isinstance(a, ast.Name) and a.id in known}
    return calls, touching, handed


def test_whoever_parses_runs_only_where_it_was_handed_to() -> None:
    calls, tainted, handed = graph()
    tainted = set(tainted)
    while more := {name for name, to in calls.items() if to & tainted} - tainted:
        tainted |= more
    called = {to for name in tainted for to in calls[name] if to != name}
    begins = tainted - called
    assert len(tainted) > 40 and "profilers.native.callgrind_file:read_profiles" in begins & handed
    assert begins - handed == set(OURS)


_OPENED: list[str] = []


def _heard(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        flags = arguments[2]
        if isinstance(flags, int) and flags & os.O_ACCMODE != os.O_WRONLY:
            _OPENED.append(os.fsdecode(arguments[0]))


@pytest.fixture(scope="module")
def opened() -> list[str]:
    """Files that this process opened to read, since it was asked first."""
    sys.addaudithook(_heard)
    return _OPENED


PROGRAMS = {
    "main.py": "def work():\n    return sum(range(1000))\nfor _ in range(150000): work()\n",
    "main.js": "function work() { let n = 0; for (let i = 0; i < 1e6; i++) n += i; return n }\nwork()\n",
}
C = "__attribute__((noinline)) void work(void) { for (volatile int i = 0; i < 1000000; i++); }\n" + (
    "int main(void) { for (int i = 0; i < 100; i++) work(); return 0; }"
)
TOOLS: Mapping[str, tuple[Callgrind | Gperftools | Uftrace | CProfile | PySpy | NodeSampler, str]] = {
    "callgrind": (Callgrind(), "./program"),
    "gperftools": (Gperftools(), "./program"),
    "uftrace": (Uftrace(), "./program"),
    "cProfile": (CProfile(), "python3 main.py"),
    "py-spy": (PySpy(), "python3 main.py"),
    "V8": (NodeSampler(), "node main.js"),
}


def made(forge: Forge, name: str) -> Target:
    forge.make("-g", "-O1", main_c=C)
    for file, text in PROGRAMS.items():
        (forge.root / file).write_text(text)
    target = forge.target(*TOOLS[name][1].split())
    assert not TOOLS[name][0].missing(target)
    return target


@pytest.mark.parametrize("name", TOOLS)
def test_our_process_opens_nothing_that_the_program_could_have_written(
    name: str, forge: Forge, opened: list[str]
) -> None:
    target = made(forge, name)
    opened.clear()
    profile = TOOLS[name][0].profile(target, [Method("work", "main.c")])
    theirs = [path for path in opened if path.startswith((str(forge.scratch), str(forge.root)))]
    assert profile.outcome == "ok" and (profile.methods or profile.series)
    assert theirs == []


def test_simulated_counts_are_read_elsewhere(forge: Forge, opened: list[str]) -> None:
    forge.make("-g", "-O1", main_c=C)
    opened.clear()
    counted = Simulation().count(forge.target())
    assert counted.ok and counted.counts["instructions"] > 0
    assert [path for path in opened if path.startswith(str(forge.scratch))] == []


WHY = "the reader was ended by signal SIGSEGV"


def _dead(*_: object, **__: object) -> None:
    raise OSError(WHY)


@pytest.mark.parametrize("name", TOOLS)
def test_a_reader_that_dies_costs_its_profile_and_is_told(
    name: str, forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = made(forge, name)
    monkeypatch.setattr(evidence, "read", _dead)
    profile = TOOLS[name][0].profile(target, [Method("work", "main.c")])
    assert not profile.methods and not profile.series
    assert any(WHY in note or note in SAID for note in profile.notes), profile.notes


SAID = ("There is no function to watch.",)
"""Of a tool that needs to read object files before it can begin."""


def test_a_reader_that_dies_costs_its_counts_and_is_told(
    forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge.make("-g", "-O1", main_c=C)
    monkeypatch.setattr(evidence, "read", _dead)
    monkeypatch.setattr(Reading, "answer", _dead)
    for counted in (Simulation().count(forge.target()), Calls().count(forge.target())):
        assert not counted.ok and not counted.counts
        assert any(WHY in note for note in counted.notes)
