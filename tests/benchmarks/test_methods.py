"""Planting slow-downs: where bodies begin, and that planted programs still do what they did."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.methods import jvm, node
from benchmarks.methods.braces import body
from benchmarks.methods.cases import Slowdown
from bot.model.profiles import Method


@pytest.mark.parametrize(
    "text",
    [
        "(a, b) {|}",
        "(a = ')', /* ) */ b = (1)) {|}",
        "(a) => {|}",
        "(final int a)\n    throws java.io.IOException, Other {|}",
        '(a /* "( */, b) // (\n{| }',
    ],
)
def test_a_body_begins_behind_its_brace(text: str) -> None:
    assert body("name" + text.replace("|", ""), 4) == 4 + text.index("|")


@pytest.mark.parametrize("text", ["(a, b);", "(a) => a", "(((", "", "(a);\nother() {}"])
def test_what_has_no_body_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no body"):
        body(text, 0)


@pytest.mark.parametrize("kind", node.RUNTIME.kinds)
def test_work_is_planted_into_the_named_function_only(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "a.js"
    file.write_text("function first(a) { return a; }\nconst second = (a) => { return a; };\n")
    node.RUNTIME.plant(tmp_path, Method("a:second", "a.js", 2), Slowdown(kind, 17, 3, "--fast"))
    first, second, *_ = file.read_text().split("\n")
    assert first == "function first(a) { return a; }"
    assert second.startswith("const second = (a) => { {") and second.endswith("}  return a; };")
    assert "17" in second and "--fast" in second


@pytest.mark.parametrize("kind", jvm.RUNTIME.kinds)
def test_work_is_planted_into_the_named_method_only(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "A.java"
    file.write_text("class A {\n  int first() { return 1; }\n  int second(int a) { return a; }\n}\n")
    guilty = jvm.RUNTIME.plant(tmp_path, Method("A.second", "A.java", 3), Slowdown(kind, 17, 3))
    lines = file.read_text().split("\n")
    assert lines[1] == "  int first() { return 1; }"
    assert lines[2].startswith("  int second(int a) { {") and "17" in lines[2]
    assert guilty == ({"A.workStep"} if kind == "helper" else frozenset())


def test_a_constructor_is_refused(tmp_path: Path) -> None:
    (tmp_path / "A.java").write_text("class A {\n  A() { super(); }\n}\n")
    with pytest.raises(ValueError, match="superclass"):
        jvm.RUNTIME.decoy(tmp_path, Method("A.<init>", "A.java", 2))
