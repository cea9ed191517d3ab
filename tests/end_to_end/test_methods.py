"""The real command names the method behind an option, for a program of each kind, and says what it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.end_to_end.builders import CONFIG, Place, config

NATIVE = """\
#include <string.h>
__attribute__((noinline)) static unsigned mix(unsigned n) {
    unsigned s = n;
    for (int i = 0; i < TURNS; i++) s = s * 1664525u + 1013904223u;
    return s;
}
__attribute__((noinline)) static unsigned plain(unsigned n) {
    unsigned s = n;
    for (int i = 0; i < 40; i++) s ^= s << 13, s ^= s >> 17;
    return s;
}
int main(int count, char **words) {
    volatile unsigned sum = 0;
    int alpha = 0;
    for (int i = 1; i < count; i++) alpha |= !strcmp(words[i], "--alpha");
    for (int i = 0; i < 200000; i++) sum += plain(i);
    if (alpha) for (int i = 0; i < 100000; i++) sum += mix(i);
    return 0;
}
"""
PYTHON = """\
import sys
def mix(n):
    s = n
    for i in range(TURNS):
        s = (s * 1664525 + 1013904223) & 0xFFFFFFFF
    return s
def plain(n):
    s = n
    for i in range(40):
        s ^= s >> 7
    return s
total = sum(plain(i) for i in range(16000))
if "--alpha" in sys.argv:
    total += sum(mix(i) for i in range(8000))
"""
NODE = """\
function mix(n) {
    let s = n;
    for (let i = 0; i < TURNS; i++) s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s;
}
function plain(n) {
    let s = n;
    for (let i = 0; i < 40; i++) s ^= s << 13, s ^= s >>> 17;
    return s;
}
let total = 0;
for (let i = 0; i < 900000; i++) total += plain(i);
if (process.argv.includes("--alpha")) for (let i = 0; i < 500000; i++) total += mix(i);
"""
JVM = """\
class Work {
    static int mix(int n) {
        int s = n;
        for (int i = 0; i < TURNS; i++) s = s * 1664525 + 1013904223;
        return s;
    }
    static int plain(int n) {
        int s = n;
        for (int i = 0; i < 40; i++) { s ^= s << 13; s ^= s >>> 17; }
        return s;
    }
    public static void main(String[] words) {
        int total = 0;
        for (int i = 0; i < 6000000; i++) total += plain(i);
        if (java.util.Arrays.asList(words).contains("--alpha"))
            for (int i = 0; i < 4000000; i++) total += mix(i);
        System.exit(total == 1 ? 1 : 0);
    }
}
"""
PROGRAMS: Mapping[str, tuple[dict[str, Any], str, str, str]] = {
    "native": (
        {"build": "cc -O1 -o work work.c", "run": "./work {options}"}, "work.c", NATIVE, "mix",
    ),
    "python": ({"run": "python3 work.py {options}"}, "work.py", PYTHON, "work:mix"),
    "node": ({"run": "node work.js {options}"}, "work.js", NODE, "work:mix"),
    "jvm": (
        {"build": "javac -g -d . Work.java", "run": "java -cp . Work {options}"},
        "Work.java", JVM, "Work.mix",
    ),
}  # fmt: skip


def change(place: Place, runtime: str, *, turns: tuple[int, int], **more: Any) -> None:
    """A pull request that changes how often `mix` turns."""
    keys, file, text, _ = PROGRAMS[runtime]
    program = {"runtime": runtime, **keys, **more}
    options = {name: {"flag": f"--{name}"} for name in ("alpha", "beta")}
    place.commit(
        {
            CONFIG: config(program=program, run=program["run"], options=options, threshold="3%"),
            file: text.replace("TURNS", str(turns[0])),
        }
    )
    place.commit({file: text.replace("TURNS", str(turns[1])), "README": "more\n"})


def named(report: Mapping[str, Any]) -> bool:
    """Whether a method is, and was proved by reverting its text alone."""
    methods = report["suspects"]["methods"]
    return bool(methods) and methods[0]["restored"] is not None


@pytest.mark.parametrize("runtime", list(PROGRAMS))
def test_the_method_behind_an_option_is_named(place: Place, runtime: str) -> None:
    change(place, runtime, turns=(40, 80))
    ended = place.clear(named, seconds=130 if runtime == "jvm" else 90)
    assert ended.report is not None, ended.said
    assert ended.report["verdict"] == "regression"
    assert ended.report["suspects"]["options"][0]["term"] == ["alpha"]
    assert ended.report["suspects"]["methods"], ended.notes
    first, *others = ended.report["suspects"]["methods"]
    _, file, text, name = PROGRAMS[runtime]
    line = next(n for n, words in enumerate(text.splitlines(), 1) if "mix(" in words)
    assert (first["method"], first["file"], first["line"]) == (name, file, line), ended.notes
    assert first["share_of_change"] > 0.6 and first["options"]["alpha"] is True
    assert first["head_self_seconds"] > 1.3 * first["base_self_seconds"]
    rest = ended.report["profiles"][0]["unexplained"]
    shares = sum(entry["share_of_change"] for entry in (first, *others))
    assert shares + rest == pytest.approx(1.0)
    assert first["restored"] == pytest.approx(1.0, abs=0.25), ended.notes  # by reverting its text alone


def test_a_stripped_program_has_no_method_presented_as_sure(place: Place) -> None:
    change(place, "native", turns=(40, 80), build="cc -O1 -s -o work work.c")
    ended = place.clear(lambda report: report["verdict"] == "regression", seconds=30)
    assert ended.report is not None
    assert ended.report["verdict"] == "regression"
    assert "mix" not in {entry["method"] for entry in ended.report["suspects"]["methods"]}
    assert "work" in ended.notes


def test_an_unchanged_program_is_not_profiled(place: Place) -> None:
    change(place, "python", turns=(40, 40))
    ended = place.pr(budget="20s")
    assert ended.report is not None
    assert ended.report["verdict"] in ("none", "inconclusive")
    assert not ended.report["profiles"] and not ended.report["suspects"]["methods"]
