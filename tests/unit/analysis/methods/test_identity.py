"""A method is the same in two builds when nothing else could be it."""

from __future__ import annotations

from cProfile import Profile

from hypothesis import given
from hypothesis import strategies as st

from bot.analysis.methods.identity import Pairing, pair
from bot.model.profiles import Method

BODY = "int {0}(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += {0}_table[i]; return s; }}"
methods = st.builds(Method, st.sampled_from("abcd"), st.sampled_from(["x.c", "y.c", None]), st.integers(1, 9))


def test_a_method_that_moved_within_its_file_is_the_same() -> None:
    paired = pair([Method("f", "a.c", 10)], [Method("f", "a.c", 99)])
    assert paired.heads == {Method("f", "a.c"): Method("f", "a.c")}
    assert paired.heads[Method("f", "a.c")].line == 99
    assert (paired.renamed, paired.vanished, paired.new, paired.notes([])) == ({}, (), (), ())


def test_a_method_that_moved_to_another_file_is_the_same_when_its_name_is_unique() -> None:
    moved = pair([Method("f", "a.c")], [Method("f", "b/a.c")])
    assert moved.renamed == {Method("f", "a.c"): Method("f", "b/a.c")}


def test_a_build_without_debug_information_is_paired_by_name() -> None:
    assert pair([Method("f", "a.c")], [Method("f")]).heads == {Method("f", "a.c"): Method("f")}


def test_static_functions_of_one_name_are_not_confused() -> None:
    base = [Method("init", "a.c"), Method("init", "b.c")]
    head = [Method("init", "b.c"), Method("init", "c.c")]
    paired = pair(base, head)
    assert paired.heads == {Method("init", "b.c"): Method("init", "b.c")}
    assert (paired.vanished, paired.new) == ((Method("init", "a.c"),), (Method("init", "c.c"),))


def test_a_renamed_method_is_known_by_its_body_whatever_the_layout() -> None:
    old, new = Method("ns::old", "a.c"), Method("ns::fresh", "a.c")
    bodies = ({old: BODY.format("old")}, {new: BODY.format("fresh").replace(" ", "\n\t ")})
    # The body names `old_table` on one side and `fresh_table` on the other: that is another word.
    assert pair([old], [new], bodies=bodies).heads == {}
    same = BODY.replace("{0}_table", "table")
    paired = pair([old], [new], bodies=({old: same.format("old")}, {new: same.format("fresh")}))
    assert paired.renamed == {old: new}


def test_small_and_repeated_bodies_prove_nothing() -> None:
    one, two, three = Method("one"), Method("two"), Method("three")
    small = ({one: "return x;"}, {two: "return x;"})
    assert pair([one], [two], bodies=small).heads == {}
    text = "a b c d e f g h i j k l m n"
    assert pair([one], [two, three], bodies=({one: text}, {two: text, three: text})).heads == {}


def test_a_changed_set_of_methods_is_said() -> None:
    new = [Method(f"n{i}") for i in range(7)]
    paired = pair([Method("gone"), Method("f")], [Method("f"), *new])
    assert paired.notes([Method("gone"), *new]) == (
        "The set of methods changed: 1 vanished (gone), 7 new (n0, n1, n2, n3, n4, …). What a method costs "
        "that is inlined in one build only is counted with its callers there.",
    )


def test_methods_whose_calls_nobody_counted_are_not_said_to_be_gone() -> None:
    paired = pair([Method("unmet"), Method("gone"), Method("f")], [Method("f"), Method("met")])
    assert paired.notes([]) == ()
    assert "1 vanished (gone)." in paired.notes([Method("gone")])[0]


def test_what_is_known_of_base_can_be_told_in_heads_methods() -> None:
    paired = Pairing({Method("a", "x"): Method("a", "y")}, (Method("b"),))
    assert paired.as_head({Method("a", "x"): 1, Method("b"): 2}) == {Method("a", "y"): 1, Method("b"): 2}


@given(
    st.lists(methods, unique=True), st.lists(methods, unique=True), st.lists(st.text("ab {}", min_size=30))
)
def test_every_method_is_in_one_place_and_no_pair_shares_a_method(
    base: list[Method], head: list[Method], texts: list[str]
) -> None:
    bodies = (dict(zip(base, texts, strict=False)), dict(zip(head, texts, strict=False)))
    paired = pair(base, head, bodies=bodies)
    assert {*paired.heads, *paired.vanished} == set(base)
    assert {*paired.heads.values(), *paired.new} == set(head)
    assert len(set(paired.heads.values())) == len(paired.heads)
    assert not set(paired.heads) & set(paired.vanished)
    assert not set(paired.heads.values()) & set(paired.new)
    # Which of the two builds is called base does not matter.
    back = pair(head, base, bodies=(bodies[1], bodies[0]))
    assert {(b, a) for a, b in paired.heads.items()} == set(back.heads.items())


def test_ten_times_as_many_methods_are_paired_in_ten_times_as_many_calls() -> None:
    assert calls(10_000) < 15 * calls(1_000)  # a square would be a hundred times as many


def calls(count: int) -> int:
    base = [Method(f"f{i}", f"{i % 100}.c") for i in range(count)]
    head = [Method(f"f{i}", f"{i % 99}.c") for i in range(count)]
    profile = Profile()
    assert len(profile.runcall(pair, base, head).heads) == count
    return sum(entry.callcount for entry in profile.getstats())
