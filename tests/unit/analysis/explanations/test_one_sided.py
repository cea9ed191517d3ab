"""Of two moves that cancel out, what is told is whom only one of them moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.change_points.terms import Term
from bot.analysis.explanations.findings import Found
from bot.analysis.explanations.one_sided import one_sided
from bot.analysis.explanations.telling import told
from bot.model.space import Level
from tests.unit.analysis.explanations.test_doubtful import OTHER, PAIR, TABLE, look
from tests.unit.analysis.explanations.test_evidence import HOLDS, TERMS

ON, OFF = Level("o0", "on"), Level("o0", "off", value=False)
THIRD = Level("o2", "on")
"""On where `OTHER` is."""
BLURRED, CERTAIN = 3.5, 12.0


def step(term: Term, size: float, clarity: float, *, at: int = 5, share: bool = False) -> Found:
    return Found(term, share, at, at, at, size, clarity, probability=1.0, kinship=1.0)


def names(*found: Found) -> list[tuple[Term, float, bool]]:
    return [(s.term, s.size, s.certain) for s in one_sided(found, look([PAIR], [PAIR]))]


def test_what_moves_everything_but_an_option_is_told_without_it_not_as_its_opposite() -> None:
    found = names(step((), -0.09, BLURRED), step((ON,), 0.1, CERTAIN))
    assert found == [((OFF,), -0.09, True)]


def test_what_moves_an_option_but_not_beside_another_is_told_of_both() -> None:
    found = names(step((OTHER,), 0.2, BLURRED), step((ON, OTHER), -0.19, CERTAIN))
    assert found == [((OFF, OTHER), 0.2, True)]


def test_a_share_that_takes_seconds_back_is_told_in_its_own_kind() -> None:
    level = float(np.median(TABLE.levels()[np.unique(TABLE.table.configuration)][TERMS.cover((ON,), HOLDS)]))
    found = names(step((), -0.09 / level, BLURRED, share=True), step((ON,), 0.1, CERTAIN))
    assert found == [((OFF,), -0.09 / level, True)]


def test_two_certain_moves_are_told_both() -> None:
    found = [step((), -0.09, CERTAIN), step((ON,), 0.1, CERTAIN)]
    assert one_sided(found, look([PAIR], [PAIR])) == found


def test_an_option_that_an_uncertain_move_takes_little_back_of_keeps_its_name() -> None:
    found = [step((), -0.03, BLURRED), step((ON,), 0.1, CERTAIN)]
    assert one_sided(found, look([PAIR], [PAIR])) == found


def test_moves_of_different_revisions_or_of_options_beside_each_other_take_nothing_back() -> None:
    found = [step((), -0.1, BLURRED, at=4), step((OTHER,), -0.1, BLURRED), step((ON,), 0.1, CERTAIN)]
    assert one_sided(found, look([PAIR], [PAIR])) == found


def test_where_all_became_faster_the_one_that_did_less_is_not_told_to_be_slower() -> None:
    found = names(step((), -0.37, CERTAIN), step((ON,), 0.16, CERTAIN))
    assert [(term, round(size, 9)) for term, size, _ in found] == [((), -0.21), ((OFF,), -0.16)]


def test_what_hardly_moved_beside_a_certain_move_is_not_told_at_all() -> None:
    found = names(step((), -0.2, CERTAIN), step((ON,), 0.19, CERTAIN))
    assert [(term, certain) for term, _, certain in found] == [((), False), ((OFF,), True)]


def test_seconds_that_take_a_share_back_are_left_beside_it() -> None:
    found = one_sided([step((), 0.3, CERTAIN, share=True), step((ON,), -0.1, CERTAIN)], look([PAIR], [PAIR]))
    assert {(s.term, s.share, s.size) for s in found} == {
        ((), True, 0.3),
        ((), False, -0.1),
        ((OFF,), False, 0.1),
    }


def test_what_only_takes_back_what_another_option_moves_is_not_told() -> None:
    found = names(step((OTHER,), -0.3, CERTAIN), step((THIRD,), 0.2, CERTAIN))
    assert found == [((OTHER,), -0.3, True), ((THIRD,), 0.2, False)]


def test_what_takes_back_more_than_others_move_or_moves_some_by_itself_is_told() -> None:
    for moved, back, whole in (((THIRD,), 0.5, False), ((ON,), 0.2, True)):
        found = names(step((OTHER,), -0.3, CERTAIN), step(moved, back, CERTAIN))
        assert [certain for *_, certain in found] == [whole, True]


def test_a_change_is_told_with_what_is_not_told_of_whom_it_moves() -> None:
    back = step((THIRD,), 0.1, CERTAIN)
    ratios = []
    for found in (
        [step((OTHER,), -0.3, CERTAIN), replace(back, outweighed=True)],
        [step((OTHER,), -0.2, CERTAIN)],
    ):
        (point,) = told(found, look([PAIR], [PAIR]), 8)
        ratios.append(point.ratio)
    assert ratios[0] == pytest.approx(ratios[1]) and ratios[0] < 1.0
