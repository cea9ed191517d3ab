"""The nouns of profiles."""

from __future__ import annotations

from bot.model.profiles import Method, stripped


def test_methods_are_in_order_of_name_and_file_and_one_without_a_file_comes_first() -> None:
    unplaced, early, late = Method("f"), Method("f", "a.c", 9), Method("f", "b.c", 1)
    assert sorted([Method("g"), late, unplaced, early]) == [unplaced, early, late, Method("g")]


def test_a_method_that_moved_to_another_line_is_the_same() -> None:
    assert Method("f", "a.c", 1) == Method("f", "a.c", 7)


def test_code_without_names_is_told_by_the_brackets_of_its_object_file() -> None:
    assert Method("[libz.so.1]").nameless
    assert not Method("main").nameless and not Method("operator[]").nameless


def test_a_program_is_stripped_where_nearly_all_of_its_cost_has_no_name() -> None:
    unnamed, named = Method("[program]"), Method("main")
    assert stripped([(unnamed, 9.5), (named, 0.5)])
    assert not stripped([(unnamed, 0.5), (named, 0.5)])
    assert not stripped([]) and not stripped([(named, 0.0)])
