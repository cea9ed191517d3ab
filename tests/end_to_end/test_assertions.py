"""`suspects assertions` on real programs: mined, written, checked, violated, reviewed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.model.assertions import Assertion
from tests.end_to_end.builders import CONFIG, Ended, Place, config

FILE = ".github/suspects.assertions.yml"
PROGRAM = """\
def read(turns):
    total = 0
    for i in range(turns):
        total += i * i
    return total


def load():
    for _ in range(60):
        read(FAST)


def save():
    for _ in range(40):
        read(SLOW)


def main():
    load()
    save()


main()
"""
C_PROGRAM = """\
#include <stdio.h>
volatile unsigned long sink;
__attribute__((noinline)) void read_all(long turns) {
    for (long i = 0; i < turns; i++) sink += i * i;
}
__attribute__((noinline)) void load(void) { for (int i = 0; i < 60; i++) read_all(FAST); }
__attribute__((noinline)) void save(void) { for (int i = 0; i < 40; i++) read_all(SLOW); }
int main(void) { for (int i = 0; i < 3; i++) { load(); save(); } return 0; }
"""
RUNTIMES: dict[str, tuple[str, str, dict[str, str], str, int]] = {
    "python": ("program.py", PROGRAM, {"run": "python3 program.py {options}"}, "read", 1000),
    "native": (
        "program.c",
        C_PROGRAM,
        {"run": "./program {options}", "build": "make program"},
        "read_all",
        50_000,
    ),
}


def text(runtime: str, *, fast: int, slow: int) -> str:
    _, program, *_ = RUNTIMES[runtime]
    return program.replace("FAST", str(fast)).replace("SLOW", str(slow))


@pytest.fixture(params=["python", pytest.param("native", marks=pytest.mark.soak)])  # native: minutes
def mined(request: pytest.FixtureRequest, place: Place) -> tuple[Place, str, Ended]:
    """A repository whose program was mined; its runtime; how mining ended."""
    runtime: str = request.param
    name, _, keys, _, turns = RUNTIMES[runtime]
    options = {"verbose": {"flag": "--verbose"}}
    place.commit(
        {
            CONFIG: config(program={"runtime": runtime, **keys}, options=options, overhead="50%"),
            name: text(runtime, fast=turns, slow=30 * turns),
        }
    )
    return (
        place,
        runtime,
        place.suspects("assertions", "mine", "--budget", "300s", "--json", str(place.out / "mined.json")),
    )


def told(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_what_is_mined_is_written_reviewed_checked_and_violated(mined: tuple[Place, str, Ended]) -> None:
    place, runtime, ended = mined
    name, _, _, method, turns = RUNTIMES[runtime]
    assert ended.code == 0, ended.said
    (entry,) = [a for a in told(place.out / "mined.json")["assertions"] if a["method"].endswith(method)]
    assert sorted(round(group["expected"][0]) for group in entry["groups"]) == [0, 1]
    written = (place.repository / FILE).read_text()
    assert entry["id"] in written
    listed = place.suspects("assertions", "list")
    assert listed.code == 0 and entry["id"] in listed.out
    base = place.commit({FILE: written})
    same = place.commit({"README": "nothing that runs"})
    calm = place.suspects("assertions", "check", "--base", base, "--head", same, "--budget", "100s")
    assert calm.code == 0 and "0 violated" in calm.out, calm.said
    head = place.commit({name: text(runtime, fast=30 * turns, slow=30 * turns)})
    out = place.out / "checked.json"
    slow = place.suspects(
        "assertions", "check", "--base", base, "--head", head, "--budget", "100s", "--json", str(out),
        "--fail-on", "violation",
    )  # fmt: skip
    assert slow.code == 1, slow.said
    (outcome,) = [a for a in told(out)["assertions"] if a["id"] == entry["id"]]
    moved = [group for group in outcome["groups"] if group["outcome"] == "violated"]
    assert outcome["outcome"] == "violated" and len(moved) == 1
    assert "load" in moved[0]["expression"] and moved[0]["ratio"] > 10.0
    assert entry["id"] in outcome["proposed"]


def test_a_pull_request_checks_the_assertions_of_base(place: Place) -> None:
    name, _, keys, _, turns = RUNTIMES["python"]
    entry = (
        "version: 1\nassertions:\n"
        "- id: {id}\n  method: program:read\n  file: program.py\n"
        "  edges: {{e1: program:save > program:read}}\n  borders: [0.6]\n"
        "  groups:\n  - {{when: not e1, expected: [1, 0]}}\n  - {{when: e1, expected: [0, 1]}}\n"
    )
    base = place.commit(
        {
            CONFIG: config(program={"runtime": "python", **keys}, options={"verbose": {"flag": "--verbose"}}),
            name: text("python", fast=turns, slow=30 * turns),
            FILE: entry.format(id=Assertion("program:read", "program.py", (), ()).id),
        }
    )
    head = place.commit({name: text("python", fast=8 * turns, slow=30 * turns), FILE: "version: 1\n"})
    comment = place.out / "comment.md"
    ended = place.suspects(
        "pr", "--base", base, "--head", head, "--budget", "150s", "--json", str(place.out / "report.json"),
        "--markdown", str(comment), "--fail-on", "violation",
    )  # fmt: skip
    assert ended.code == 1 and ended.report is not None, ended.said
    (outcome,) = ended.report["assertions"]
    assert outcome["outcome"] == "violated" and outcome["slower"], outcome
    (moved,) = [group for group in outcome["groups"] if group["outcome"] == "violated"]
    assert moved["expression"] == "not program:save > program:read" and moved["ratio"] > 3.0
    (suspect,) = [s for s in ended.report["suspects"]["methods"] if s["method"] == "program:read"]
    assert suspect["callers"][-1] == "program:load"
    more = 3.0 if suspect["with_callees"] else 1.1  # of the calls that moved; of all, where it was profiled
    assert suspect["head_self_seconds"] > more * suspect["base_self_seconds"]
    assert "differs at head: base's was checked" in ended.notes
    assert "Performance assertion" in comment.read_text()


def test_a_file_of_assertions_that_is_wrong_stops_nothing_and_is_said(place: Place) -> None:
    place.pull_request(**{FILE: "version: 1\nassertions:\n- id: 1\n"})
    ended = place.suspects(
        "pr",
        "--base",
        "HEAD~1",
        "--head",
        "HEAD",
        "--budget",
        "20s",
        "--json",
        str(place.out / "report.json"),
    )
    assert ended.code == 0 and ended.report is not None, ended.said
    assert "No performance assertion was checked: " in ended.notes and "assertions.0" in ended.notes
    assert ended.report["assertions"] == []


def test_commands_on_assertions_say_in_one_line_what_is_wrong(place: Place) -> None:
    place.pull_request()
    place.suspects("assertions", "list").refused("there is no such file", "mine` writes one")
    place.suspects("assertions", "check", "--base", "HEAD~1").refused("There is no assertion")
    # Nothing is called in it; of a shell, libc's functions are told, and some are called `..._internal`.
    python = {"runtime": "python", "run": "python3 program.py {options}"}
    place.commit({CONFIG: config(program=python), "program.py": "sum(range(100_000))\n"})
    place.suspects("assertions", "mine", "--budget", "5s").refused("No method could be mined", code=3)
    place.commit({FILE: "version: 1\nassertions: {}\n"})
    place.suspects("assertions", "list").refused("assertions.yml:2", "assertions")
