"""Which methods a diff touches, and where methods of another revision stand now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.analysis.methods.touched import Touched, moved_methods, touched_methods
from bot.model.diffs import FileDiff, Hunk
from bot.model.profiles import Method

A, B, C = Method("m:a", "m.py", 10), Method("m:b", "m.py", 20), Method("m:c", "m.py", 30)
OTHER, NOWHERE, NO_LINE = Method("o:a", "o.py", 10), Method("libc:memcpy"), Method("m:x", "m.py")
KNOWN = (C, A, OTHER, NOWHERE, B)


def changed(*old: range, file: str = "m.py") -> tuple[FileDiff, ...]:
    return (FileDiff(file, file, tuple(Hunk(lines, range(lines.start, lines.start + 1)) for lines in old)),)


@pytest.mark.parametrize(
    ("lines", "surely"),
    [
        (range(10, 11), (A,)),
        (range(19, 20), (A,)),
        (range(19, 21), (A, B)),
        (range(5, 31), (A, B, C)),
        (range(900, 901), (C,)),
        (range(15, 15), (A,)),  # added inside
        (range(40, 40), (C,)),
        (range(7, 11), (A,)),
    ],
)
def test_a_method_is_touched_from_its_line_to_the_next_ones(lines: range, surely: tuple[Method, ...]) -> None:
    assert touched_methods(KNOWN, changed(lines)) == Touched(surely)


def test_several_hunks_touch_each_method_once() -> None:
    hunks = changed(range(11, 12), range(13, 14), range(31, 33))
    assert touched_methods(KNOWN, hunks) == Touched((A, C))


@pytest.mark.parametrize("lines", [range(3, 5), range(20, 20), range(1, 1)])
def test_where_no_method_has_a_changed_line_all_of_the_file_are_perhaps_touched(lines: range) -> None:
    assert touched_methods(KNOWN, changed(lines)) == Touched((), (A, B, C))


def test_a_method_without_a_line_is_perhaps_touched_with_its_file() -> None:
    assert touched_methods((*KNOWN, NO_LINE), changed(range(11, 12))) == Touched((A,), (NO_LINE,))


def test_methods_that_begin_in_the_same_line_are_touched_together() -> None:
    twin = Method("m:a<int>", "m.py", 10)
    assert touched_methods((*KNOWN, twin), changed(range(12, 13))) == Touched((A, twin))


@pytest.mark.parametrize("file", ["unknown.py", "M.PY", "README.md"])
def test_files_without_known_methods_touch_nothing(file: str) -> None:
    assert touched_methods(KNOWN, changed(range(1, 99), file=file)) == Touched()


def test_methods_follow_their_file_and_their_lines() -> None:
    hunks = (
        Hunk(range(5, 5), range(5, 8)),
        Hunk(range(12, 16), range(15, 15)),
        Hunk(range(30, 31), range(29, 31)),
    )
    found = moved_methods(KNOWN, [FileDiff("m.py", "new/m.py", hunks)])
    lines = {(m.name, m.file): m.line for m in found}
    assert lines == {
        ("m:a", "new/m.py"): 13,
        ("m:b", "new/m.py"): 19,
        ("m:c", "new/m.py"): 29,
        ("o:a", "o.py"): 10,
        ("libc:memcpy", None): None,
    }
    assert moved_methods(KNOWN, ()) == KNOWN


@given(st.data())
def test_unchanged_lines_move_as_an_edit_moves_them(data: st.DataObject) -> None:
    hunks: list[Hunk] = []
    old, new = 1, 1
    expected: dict[int, int] = {}
    for _ in range(data.draw(st.integers(1, 4))):
        same, gone, come = (data.draw(st.integers(low, 4)) for low in (1, 0, 0))
        expected |= {old + i: new + i for i in range(same)}
        old, new = old + same, new + same
        hunks.append(Hunk(range(old, old + gone), range(new, new + come)))
        old, new = old + gone, new + come
    expected |= {old + 5: new + 5}
    methods = [Method(str(line), "m.py", line) for line in expected]
    found = moved_methods(methods, [FileDiff("m.py", "m.py", tuple(hunks))])
    assert {int(m.name): m.line for m in found} == expected
