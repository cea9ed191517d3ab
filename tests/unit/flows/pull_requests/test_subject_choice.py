"""Whose configuration file counts."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from bot.flows.pull_requests.subject_choice import choose_subject
from bot.model.errors import UsageError
from bot.model.revisions import Comparison, Revision
from bot.model.subject import Subject

PATH = PurePosixPath(".github/suspects.yml")
COMPARISON = Comparison(Revision("b", "base"), Revision("h", "head"))


def read(text: str, name: str) -> Subject:
    """Option names, one a word; `!` is not valid; a constraint follows `;`."""
    if "!" in text:
        raise UsageError(f"{name}:1: wrong")
    options, _, constraint = text.partition(";")
    return Subject.model_validate(
        {
            "program": {"run": "./p {options}"},
            "options": {o: {"flag": f"--{o}"} for o in options.split()},
            "constraints": [constraint] if constraint else [],
        }
    )


def chosen(base: str | None, head: str | None) -> tuple[list[str], str, Subject]:
    files = {"b": base, "h": head}
    subject, notes = choose_subject(COMPARISON, PATH, lambda revision, _path: files[revision], read)
    return list(subject.options), " ".join(notes), subject


def test_the_bases_file_counts_without_a_word_when_nothing_changes() -> None:
    assert chosen("a b", "a b")[:2] == (["a", "b"], "")


def test_before_the_file_was_ever_merged_heads_counts_and_it_is_said() -> None:
    options, notes, _ = chosen(None, "a b")
    assert options == ["a", "b"]
    assert "new in this pull request" in notes


def test_without_the_file_on_either_side_the_remedy_is_named() -> None:
    with pytest.raises(UsageError, match="neither in base nor in head") as raised:
        chosen(None, None)
    assert "suspects init" in " ".join(raised.value.__notes__)


def test_an_option_that_only_head_knows_is_listed_not_measured() -> None:
    options, notes, _ = chosen("a b", "a b c")
    assert options == ["a", "b"]
    assert "`c` is new at head" in notes


def test_an_option_that_head_dropped_leaves_the_space_with_its_constraints() -> None:
    options, notes, subject = chosen("a b c;c implies a", "a b")
    assert options == ["a", "b"]
    assert not subject.constraints
    assert "`c` is gone at head" in notes


def test_a_constraint_that_only_resembles_a_dropped_option_stays() -> None:
    _, _, subject = chosen("a b c cc;cc implies a", "a b cc")
    assert subject.constraints == ("cc implies a",)


def test_a_file_that_is_broken_at_head_does_not_stop_the_comparison() -> None:
    options, notes, _ = chosen("a b", "!")
    assert options == ["a", "b"]
    assert "not valid" in notes


def test_a_file_that_is_broken_at_base_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"suspects\.yml:1: wrong"):
        chosen("!", "a b")


def test_a_file_that_head_removes_is_said() -> None:
    options, notes, _ = chosen("a b", None)
    assert options == ["a", "b"]
    assert "removed at head" in notes


def test_options_that_head_replaced_altogether_leave_bases_space_as_it_is() -> None:
    assert chosen("a b", "c d")[0] == ["a", "b"]
