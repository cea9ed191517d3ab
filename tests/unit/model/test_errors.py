"""What is wrong and how to mend it are told as sentences."""

from __future__ import annotations

from bot.model.errors import UsageError


def test_a_remedy_follows_as_a_sentence_of_its_own() -> None:
    error = UsageError("there is no file")
    error.add_note("Write it with: suspects init")
    assert error.in_full() == "there is no file. Write it with: suspects init"


def test_a_full_stop_is_not_doubled_and_without_a_remedy_none_is_added() -> None:
    ended = UsageError("There is no file.")
    ended.add_note("Write it.")
    assert ended.in_full() == "There is no file. Write it."
    assert UsageError("there is no file").in_full() == "there is no file"
