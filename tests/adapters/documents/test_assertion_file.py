"""The file of performance assertions: read, written, refused in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.adapters.documents.assertion_file import assertion_text, read_assertions
from bot.model.assertions import ALWAYS, AssertedGroup, Assertion, Condition
from bot.model.errors import UsageError

EDGES = {"e1": ("parse", "read"), "e2": ("std::map<int, char>::find(int) const", "read")}
READ = Assertion(
    "read",
    "src/read.c",
    (0.42,),
    (
        AssertedGroup(Condition("e1 and not e2", EDGES), (0.99, 0.01), 1203),
        AssertedGroup(Condition("not e1 or e2", EDGES), (0.355, 0.645), 88),
    ),
    mined="abc1234",
    trials=10,
)
PLAIN = Assertion("write", None, (0.5,), (AssertedGroup(Condition(ALWAYS, {}), (0.5, 0.5), 9),))


def text(**replaced: str) -> str:
    found = assertion_text([READ])
    for old, new in replaced.items():
        assert old in found
        found = found.replace(old, new)
    return found


def test_what_was_written_is_read_back_whatever_the_order_was() -> None:
    written = assertion_text([READ, PLAIN])
    assert written == assertion_text([PLAIN, READ])
    assert read_assertions(written, name="a.yml") == (PLAIN, READ)
    assert assertion_text(read_assertions(written, name="a.yml")) == written


def test_an_entry_can_be_read_by_people() -> None:
    body = assertion_text([READ]).partition("version: 1\n")[2]
    assert body == (
        "assertions:\n"
        f"- id: {READ.id}\n"
        "  method: read\n"
        "  file: src/read.c\n"
        "  edges:\n"
        "    e1: parse > read\n"
        "    e2: std::map<int, char>::find(int) const > read\n"
        "  borders: [0.42]\n"
        "  groups:\n"
        "  - {when: e1 and not e2, expected: [0.99, 0.01], calls: 1203}\n"
        "  - {when: not e1 or e2, expected: [0.355, 0.645], calls: 88}\n"
        "  mined: {revision: abc1234, trials: 10}\n"
    )


def test_two_methods_of_one_name_have_different_ids() -> None:
    assert replace(READ, file="src/other.c").id != READ.id


def test_an_empty_file_and_one_without_entries_assert_nothing() -> None:
    assert read_assertions("", name="a.yml") == read_assertions(assertion_text([]), name="a.yml") == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version: 1", "version: 2", "a.yml:6: version: input should be 1"),
        ("[0.99, 0.01]", "[0.99]", "groups.0.expected: has 1 shares; needed are 2, one more than"),
        ("[0.99, 0.01]", "[0.99, 0.5]", "the shares add up to 1.49; 1 is needed"),
        ("[0.99, 0.01]", "[1.99, -0.99]", "less than or equal to 1"),
        ("[0.42]", "[1.0]", "borders must rise, between 0 and 1"),
        ("e1 and not e2", "e1 and", "a.yml:16: assertions.0.groups.0.when: `e1 and` is no expression"),
        ("e1 and not e2", "e7", "`e7` is not among the edges"),
        ("e1 and not e2", "__import__('os')", "only names of edges"),
        ("parse > read", "parse", "`parse` is no edge; caller > callee is needed"),
        ("    e1:", "    e 1:", "e 1 cannot name an edge"),
        (f"id: {READ.id}", "id: abc", "abc is not the id of this method, which is"),
        ("trials: 10", "trials: ten", "mined.trials: input should be a valid integer"),
        ("  file:", "  path:", "path: extra inputs are not permitted"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        read_assertions(text(**{old: new}), name="a.yml")
    assert said in str(error.value) and str(error.value).startswith("a.yml:")
    assert "\n" not in str(error.value)


def test_an_id_that_stands_twice_is_refused_with_both_lines() -> None:
    head, _, entry = text().partition("- id")
    with pytest.raises(UsageError, match=r"a\.yml:19: .* stands twice \(first in line 8\); keep one"):
        read_assertions(f"{head}- id{entry}- id{entry}", name="a.yml")
