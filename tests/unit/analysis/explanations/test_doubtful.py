"""Steps told in the words that explanations share, and places that surely moved without a sure name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.explanations.doubtful import doubtful
from bot.analysis.explanations.findings import Found, Look, agreed, steps_of
from bot.model.space import Level, Term
from tests.unit.analysis.explanations.test_evidence import HOLDS, TERMS, evidence, measured

TABLE = evidence(measured(moved=0.8, repeats=3))
ON, OTHER = Level("o0", "on"), Level("o1", "on")
OPTION = TABLE.candidate(1 + TERMS.levels.index(ON), 5)
SHARED = TABLE.candidate(1 + TERMS.levels.index(OTHER), 5)
PAIR = TABLE.candidate(TERMS.number((ON, OTHER)) or 0, 5)


def look(best: Sequence[int], *drawn: Sequence[int]) -> Look:
    """Explanations, each as probable as it is often drawn."""
    mass = np.zeros(len(TABLE))
    for chosen in drawn:
        mass[list(chosen)] += 1.0 / len(drawn)
    usable = np.ones((len(HOLDS), 8), dtype=bool)
    return Look(best, mass, drawn, TABLE, TERMS, HOLDS, usable, 0.02)


def told(found: Sequence[Found]) -> list[Term]:
    return [TERMS.named(step.term) for step in found if step.clear and step.told]


def test_the_best_explanation_takes_the_words_of_nearly_all_others_where_its_own_cannot_be_told() -> None:
    alone = look([PAIR], *[[OPTION]] * 19, [PAIR])
    assert told(steps_of(alone)) == [] and told(agreed(alone)) == [("o0",)]


def test_words_that_most_share_are_told_where_those_of_all_others_contain_them() -> None:
    longer = look([PAIR], *[[OPTION]] * 14, *[[PAIR]] * 6)
    assert told(steps_of(longer)) == [] and told(agreed(longer)) == [("o0",)]


def test_where_the_best_explanation_moves_nothing_nothing_is_told_whatever_others_share() -> None:
    calm = replace(look([], *[[OPTION]] * 12, *[[]] * 8), drawn=[])
    assert agreed(calm) == []


def test_words_that_fewer_share_replace_none() -> None:
    divided = look([PAIR], *[[OPTION]] * 14, *[[SHARED]] * 6)
    assert agreed(divided) == steps_of(divided)


def test_what_moves_a_part_of_a_term_further_does_not_keep_the_term_from_being_told() -> None:
    noisy = evidence(measured(moved=0.35))
    narrow = noisy.candidate(TERMS.number((ON, Level("o1", "off", False))) or 0, 5)
    both = [OPTION, narrow]
    split = replace(look(both, *[[OPTION]] * 12, *[both] * 8), evidence=noisy)
    assert told(steps_of(split)) == [] and told(agreed(split)) == [("o0",)]
    assert agreed(split) == steps_of(replace(split, best=[OPTION]))


def test_a_term_that_is_told_without_a_finer_one_keeps_both_its_amount_and_its_share() -> None:
    noisy = evidence(measured(moved=0.35))
    narrow = noisy.candidate(TERMS.number((ON, Level("o1", "off", False))) or 0, 5)
    shares = noisy.candidate(len(TERMS) + 1 + TERMS.levels.index(ON), 5)
    both = [OPTION, shares]
    split = replace(look([*both, narrow], *[both] * 12, *[[*both, narrow]] * 8), evidence=noisy)
    assert told(steps_of(split)) == [] and told(agreed(split)) == [("o0",), ("o0",)]
    assert agreed(split) == steps_of(replace(split, best=both))


def test_where_explanations_move_different_terms_something_surely_moved_and_the_likely_ones_are_told() -> (
    None
):
    divided = look([PAIR], *[[OPTION]] * 14, *[[SHARED]] * 6)
    (doubt,) = doubtful(divided, agreed(divided))
    assert (doubt.revision, doubt.interval, doubt.beside) == (5, (5, 5), False)
    assert doubt.terms == (("o0",), ("o1",)) and doubt.ratio == pytest.approx(1.2, abs=0.1)


def test_the_same_move_is_told_once_by_its_fewest_revisions() -> None:
    divided = look([PAIR], *[[OPTION]] * 14, *[[SHARED]] * 6)
    (place,) = [step for step in agreed(divided) if step.clear]
    (doubt,) = doubtful(divided, [replace(place, low=4, high=6), place])
    assert doubt.interval == (5, 5)


def test_where_some_explanations_move_nothing_nothing_is_sure() -> None:
    assert not doubtful(
        look([PAIR], *[[OPTION]] * 12, *[[PAIR]] * 5, *[[]] * 3), agreed(look([PAIR], [PAIR]))
    )
    small = replace(look([PAIR], *[[OPTION]] * 14, *[[PAIR]] * 6), least=0.5)
    assert not doubtful(small, steps_of(small))


def test_what_is_told_of_a_place_is_no_doubt_of_it() -> None:
    settled = look([OPTION], *[[OPTION]] * 20)
    assert told(agreed(settled)) == [("o0",)] and not doubtful(settled, agreed(settled))


def test_a_step_that_all_share_is_at_its_revision_whatever_further_ones_some_hold_near() -> None:
    near = [OPTION + 1, OPTION - 1]
    found = look([OPTION], *[[OPTION, *near]] * 12, *[[OPTION]] * 8)
    assert [(step.low, step.high) for step in steps_of(found)] == [(5, 5)]


def test_the_interval_of_a_step_ends_before_other_steps_of_its_term() -> None:
    beyond = OPTION + 2
    found = look([OPTION, OPTION + 1], *[[OPTION, OPTION + 1]] * 10, *[[beyond, OPTION + 1]] * 10)
    (first, _) = steps_of(found)
    assert (first.at, first.low, first.high) == (5, 5, 5) and first.probability < 0.9
