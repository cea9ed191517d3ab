"""Questions about the constrained space, against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model.errors import ConstraintError
from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.sampler import random_values
from tests.unit.sampling.spaces import (
    MIXED,
    choice,
    evaluate,
    flag,
    flags,
    listed,
    mixed_holds,
    number,
    sentences,
    spaces,
)


def solver(*constraints: str, space: Space = MIXED) -> ConstraintSolver:
    return ConstraintSolver(Space(space.options, constraints))


def test_valid_configurations_are_those_the_sentences_allow() -> None:
    asked = ConstraintSolver(MIXED)
    truth = listed(MIXED, mixed_holds)
    assert {c for c in listed(MIXED, lambda _: True) if asked.valid(c)} == truth
    assert asked.size(10_000) == len(truth)
    assert set(asked.configurations(10_000) or []) == truth


@settings(max_examples=80, deadline=None)
@given(sentences())
def test_a_sentence_means_what_python_says_it_means(sentence: str) -> None:
    space = flags(5)
    truth = listed(space, lambda values: evaluate(sentence, values))
    if truth:
        assert set(solver(sentence, space=space).configurations(32) or []) == truth
    else:
        with pytest.raises(ConstraintError, match="can never hold"):
            solver(sentence, space=space)


def test_not_binds_tighter_than_and_than_or_than_implies_than_iff() -> None:
    space = flags(5)
    loose = solver("not o0 and o1 or o2 implies o3 iff o4", space=space)
    strict = solver("((((not o0) and o1) or o2) implies o3) iff o4", space=space)
    assert set(loose.configurations(32) or []) == set(strict.configurations(32) or [])
    right = solver("o0 implies o1 implies o2", space=space)
    assert set(right.configurations(32) or []) == set(
        solver("o0 implies (o1 implies o2)", space=space).configurations(32) or []
    )


def test_names_may_begin_with_keywords_and_hold_dots_and_dashes() -> None:
    space = Space((flag("notify"), flag("or-x"), flag("and.y")))
    assert solver("notify and or-x or and.y", space=space).size(10) == 5


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("o0 implies", '"o0 implies": ends too early; expected: "not", an option, "("'),
        ("o0 and (o1", 'ends too early; expected: "iff", ")"'),
        ("o0 & o1", '"&" is not understood at column 4'),
        ("o0 orb", '"orb" is not understood at column 4'),
        ("", "ends too early"),
        ("zlib", "there is no option zlib; allowed: o0, o1"),
        ("o0 and lvl = 3", "there is no option lvl; did you mean level?"),
        ("check=crc46", "crc46 is no value of check; did you mean crc64? allowed: none, crc32, crc64"),
        ("level = 4", "4 is no value of level; allowed: 0, 3, 6, 9"),
        ("level", "level is a number; compare it with a value, such as level=0"),
        ("check > 3", "check is a choice, which has no order"),
        ("o1 >= 3", "o1 is a flag, which has no order"),
        ("level > high", "high is no number, but level is one"),
        ("o0 or " * 3000 + "o1", "it has 18002 characters"),
    ],
)
def test_a_sentence_that_cannot_be_read_is_explained_in_one_line(sentence: str, message: str) -> None:
    with pytest.raises(ConstraintError) as caught:
        solver("o0 or o1", sentence)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.indices == (1,)


def test_deep_parentheses_need_no_deep_stack() -> None:
    assert solver("(" * 4000 + "o0" + ")" * 4000, space=flags(1)).size(5) == 1


def test_contradictory_constraints_are_named_and_only_those_needed() -> None:
    with pytest.raises(ConstraintError, match="contradict each other") as caught:
        solver("o5", "o0", "o1 or o2", "o0 implies o1", "not o1")
    assert caught.value.indices == (1, 3, 4)
    assert '"o0 implies o1"' in str(caught.value)


def test_numbers_compare_by_value_and_thresholds_need_not_be_values() -> None:
    space = Space((number("n", 0, 3, 6, 9),))
    assert solver("n >= 4", space=space).size(9) == 2
    assert solver("n < 3.5", space=space).size(9) == 2
    assert solver("n = 3.0", space=space).size(9) == 1
    assert solver("n != 3", space=space).size(9) == 3
    assert solver("n <= 0", space=space).size(9) == 1


@settings(max_examples=40, deadline=None)
@given(spaces(), st.data())
def test_terms_are_possible_and_equivalent_when_the_listing_says_so(
    space: Space, data: st.DataObject
) -> None:
    asked = ConstraintSolver(space)
    valid = asked.configurations(100_000)
    assert valid is not None
    texts = [str(level) for level in space.levels]
    terms = st.lists(st.sampled_from(texts), max_size=2, unique=True).map(lambda t: tuple(sorted(t)))

    def where(term: tuple[str, ...]) -> list[bool]:
        return [all(space.holds(space.level_of[t], c) for t in term) for c in valid]

    for _ in range(5):
        one, two = data.draw(terms), data.draw(terms)
        assert asked.possible(one) == any(where(one))
        assert asked.equivalent(one, two) == (where(one) == where(two))


def test_equivalent_terms_are_found_behind_a_chain_of_constraints() -> None:
    asked = solver("o0 implies o1", "o1 implies o2", "o2 implies o0", space=flags(4))
    for one, two in itertools.permutations(["o0", "o1", "o2"], 2):
        assert asked.equivalent((one,), (two,))
        assert asked.equivalent((one, "o3"), (two, "o3"))
        assert not asked.equivalent((one,), ("o3",))
    assert asked.equivalent((), ()) and not asked.equivalent((), ("o0",))


def test_a_level_no_valid_configuration_has_is_dead() -> None:
    asked = solver("not o0", "level >= 6")
    dead = {str(level) for level in asked.dead_levels()}
    assert dead == {"o0", "level=0", "level=3", "level<6"}


@settings(max_examples=40, deadline=None)
@given(spaces(), st.integers(0, 2**32 - 1))
def test_a_completion_holds_what_was_held_and_a_fitting_wish_comes_back_itself(
    space: Space, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    asked = ConstraintSolver(space)
    for level in space.levels:
        wish = random_values(space, rng)
        found = asked.complete([level], near=wish)
        assert (found is not None) == asked.possible((str(level),))
        if found is not None:
            assert asked.valid(found) and space.holds(level, found)
        if asked.valid(wish):
            assert asked.complete(near=wish) == wish


def test_exclusions_end_when_everything_is_excluded_and_hold_for_one_call_only() -> None:
    asked = ConstraintSolver(MIXED)
    seen: set[Configuration] = set()
    while (found := asked.complete(near=MIXED.default, excluding=seen)) is not None:
        assert found not in seen
        seen.add(found)
    assert len(seen) == asked.size(10_000)
    assert asked.complete(near=MIXED.default) is not None


def test_the_default_moves_to_the_nearest_valid_configuration_and_says_so() -> None:
    space = Space((flag("a", default=True), flag("b", default=True), flag("c"), choice("d", "x", "y")))
    moved = solver("b implies d=y", "b implies c", space=space)
    assert moved.default() == (True, False, False, "x")
    assert "!b" in moved.default_note()
    kept = solver("a or b", space=space)
    assert kept.default() == space.default
    assert kept.default_note() == ""


def test_options_without_common_constraints_are_counted_apart() -> None:
    asked = solver("o0 or o1", "o10 and o11", space=flags(40))
    assert asked.size(2**40) == 3 * 2**36
    assert asked.size(1000) is None
    assert asked.configurations(1000) is None
    assert {len(part) for part in asked.parts} == {1, 2}


def test_unknown_values_and_wrong_lengths_are_not_valid() -> None:
    asked = ConstraintSolver(flags(2))
    assert not asked.valid((True,))
    assert not asked.valid((True, "maybe"))
