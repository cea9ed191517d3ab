"""The text of a method is found where it is named, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.profilers.sources import bodies
from bot.analysis.methods.identity import pair
from bot.model.profiles import Method

C = """\
/* work { */
static int
work(int n)  // { not yet
{
    char c = '{'; const char *s = "}\\"}";
    if (n) { return c; }
    return *s;
}
int other(int n) { return work(n); }
template <class T> T twice(T t)
{ return t + t; }
"""
SCRIPT = """\
const turn = async function({ fast, wide } = {}) {
    return fast;
};
var Press = module.exports = function Press(size) { this.size = size; };
define("zip", function (a, b) {
    return { a, b };
});
const table = {
    entry: function () { return call(1); },
    short(n) { return n; },
    arrow: ({ n }) => { return n; },
};
entry(turn); print(short(3));
"""
PYTHON = """\
class Table:
    def run(
        self, rows
    ):
        for row in rows:
            yield row

        return None

    def other(self): return 1
"""


def texts(tmp_path: Path, file: str, content: str, *methods: tuple[str, int]) -> dict[str, str]:
    (tmp_path / file).write_text(content)
    found = bodies(tmp_path, [Method(name, file, line) for name, line in methods])
    return {method.name: text for method, text in found.items()}


@pytest.mark.parametrize("line", [3, 4, 5, 6])
def test_a_function_is_its_text_up_to_its_last_brace(tmp_path: Path, line: int) -> None:
    assert texts(tmp_path, "a.c", C, ("ns::work", line)) == {"ns::work": "\n".join(C.split("\n")[2:8])}


def test_a_function_may_seem_to_begin_behind_many_parameters(tmp_path: Path) -> None:
    parameters = ",\n".join(f"    const size_t limit{n}" for n in range(12))
    text = f"static int work(\n{parameters}) {{\n    return 1;\n}}"
    content = f"int other(int n) {{ return n; }}\n{text}\n"
    assert texts(tmp_path, "a.c", content, ("work", 14)) == {"work": text}


def test_templates_and_one_line_functions_are_found(tmp_path: Path) -> None:
    assert texts(tmp_path, "a.c", C, ("other", 9), ("twice<std::vector<int>>", 11)) == {
        "other": "int other(int n) { return work(n); }",
        "twice<std::vector<int>>": "template <class T> T twice(T t)\n{ return t + t; }",
    }


def test_a_function_of_a_script_may_be_a_value(tmp_path: Path) -> None:
    lines = SCRIPT.split("\n")
    asked = [("turn", 1), ("Press", 4), ("define.zip", 5), ("table.entry", 9), ("table.short", 10)]
    found = texts(tmp_path, "a.mjs", SCRIPT, *((f"a:{name}", line) for name, line in asked))
    assert found == {
        "a:turn": "\n".join(lines[:3])[:-1],
        "a:Press": lines[3][:-1],
        "a:define.zip": "\n".join(lines[4:7])[:-2],
        "a:table.entry": lines[8][:-1],
        "a:table.short": lines[9][:-1],
    }
    assert texts(tmp_path, "a.js", SCRIPT, ("a:table.arrow", 11)) == {"a:table.arrow": lines[10][:-1]}
    assert texts(tmp_path, "a.js", "entry(turn);\nx = short;\n", ("turn", 1), ("short", 2)) == {}


def test_the_text_of_a_method_whose_key_is_no_identifier_is_found(tmp_path: Path) -> None:
    script = """const all = {
    "to-css"(n) { return n; },
    ['a | b'](n) { return -n; },
};
all["to-css"](3);
"""
    found = texts(tmp_path, "a.js", script, ("a:all.to-css", 2), ("a:all.a | b", 3))
    assert found == {
        "a:all.to-css": '    "to-css"(n) { return n; }',
        "a:all.a | b": "    ['a | b'](n) { return -n; }",
    }
    assert texts(tmp_path, "a.js", script, ("a:all.to-css", 5)) == {}


def test_what_is_not_named_there_has_no_text(tmp_path: Path) -> None:
    assert texts(tmp_path, "a.c", C, ("absent", 3), ("work", 90), ("other", 3), ("", 1)) == {}
    assert texts(tmp_path, "b.c", "int f(int);\nint g(void) { return f(1); }\n", ("f", 1)) == {}
    assert texts(tmp_path, "c.c", "int f(int n) { return {", ("f", 1)) == {}


def test_a_python_function_is_its_indented_block(tmp_path: Path) -> None:
    found = texts(tmp_path, "a.py", PYTHON, ("a:Table.run", 2), ("a:Table.other", 10))
    assert found == {
        "a:Table.run": "\n".join(PYTHON.split("\n")[1:8]),
        "a:Table.other": "    def other(self): return 1",
    }


def test_a_method_without_a_line_is_found_where_its_file_has_one_function_of_its_name(tmp_path: Path) -> None:
    python = (
        PYTHON
        + "\n\nclass Row(Base):\n    def run(self): return 2\n\n\ndef main():\n    run(1)\n    other()\n"
    )
    calls = "void f(int);\nint g(void) { f(1); if (f(2)) { return 1; } return f(3); }\n"
    script = "function f(a) { return a; }\nf(1)\nif (x) { f(2) }\n"
    classes = "int A::f(int n) { return n; }\nint B::f(int n) { return -n; }\n"
    for file, content, name, found in [
        ("a.py", python, "a:Table.run", "\n".join(PYTHON.split("\n")[1:8])),
        ("a.py", python, "a:Row.run", "    def run(self): return 2"),
        ("a.py", python, "a:run", None),
        ("a.py", python, "a:Row.other", None),
        ("a.c", C, "ns::work", "\n".join(C.split("\n")[2:8])),
        ("a.c", calls, "f", None),
        ("a.js", script, "a:f", "function f(a) { return a; }"),
        ("a.js", "f(1)\nif (x) { f(2) }\n", "a:f", None),
        ("a.cc", classes, "A::f", None),
    ]:
        (tmp_path / file).write_text(content)
        assert bodies(tmp_path, [Method(name, file)]).get(Method(name, file)) == found, (file, name)


def test_no_file_outside_of_the_checkout_is_read(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret.c").write_text(C)
    (tmp_path / "root" / "link.c").symlink_to(tmp_path / "secret.c")
    (tmp_path / "root" / "circle.c").symlink_to("circle.c")
    outside = [
        Method("work", name, 3)
        for name in ("../secret.c", "link.c", "circle.c", "none.c", "/etc/passwd", "\0")
    ]
    assert bodies(tmp_path / "root", [*outside, Method("work"), Method("work", "a.c")]) == {}


@given(st.text(st.sampled_from("f(){};\"'/*\n \\`:")), st.integers(1, 9), st.sampled_from(["a.c", "a.py"]))
def test_no_text_does_any_harm(
    tmp_path_factory: pytest.TempPathFactory, text: str, line: int, file: str
) -> None:
    texts(tmp_path_factory.getbasetemp(), file, text, ("f", line))


def test_a_renamed_function_is_found_by_its_body(tmp_path: Path) -> None:
    sides = []
    for name, shift in (("compute", ""), ("compute_sum", "// moved\n\n")):
        root = tmp_path / name
        root.mkdir()
        (root / "a.c").write_text(shift + C.replace("work", name))
        sides.append((root, Method(name, "a.c", 3 + shift.count("\n")), Method("gone" + name, "a.c", 9)))
    (base, old, gone), (head, new, fresh) = sides
    paired = pair([old, gone], [new, fresh], bodies=(bodies(base, [old, gone]), bodies(head, [new, fresh])))
    assert paired.renamed == {old: new}
    assert (paired.vanished, paired.new) == ((gone,), (fresh,))
