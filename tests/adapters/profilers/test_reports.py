"""Names that come from a program are shown in one line."""

from __future__ import annotations

from bot.adapters.profilers.reports import MOST_CHARACTERS, clean_name


def test_a_name_has_no_control_or_direction_characters_and_one_line() -> None:
    assert clean_name("a\n b\t\u202ec\x00 <d> `e` | ü 数") == "a b c <d> `e` | ü 数"


def test_long_names_stay_different() -> None:
    first, second = clean_name("x" * 5000 + "1"), clean_name("x" * 5000 + "2")
    assert len(first) == len(second) == MOST_CHARACTERS
    assert first != second
