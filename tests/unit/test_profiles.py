"""The nouns of profiles."""

from __future__ import annotations

from bot.model.profiles import Method


def test_methods_are_in_order_of_name_and_file_and_one_without_a_file_comes_first() -> None:
    unplaced, early, late = Method("f"), Method("f", "a.c", 9), Method("f", "b.c", 1)
    assert sorted([Method("g"), late, unplaced, early]) == [unplaced, early, late, Method("g")]


def test_a_method_that_moved_to_another_line_is_the_same() -> None:
    assert Method("f", "a.c", 1) == Method("f", "a.c", 7)
