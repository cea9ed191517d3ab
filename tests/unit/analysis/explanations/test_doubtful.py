"""Steps told in the words that explanations share, and places that surely moved without a sure name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bot.analysis.change_points.findings import change_point
from bot.analysis.explanations.cells import Cells
from bot.analysis.explanations.doubtful import doubtful
from bot.analysis.explanations.findings import Found, Look, agreed, steps_of
from bot.model.space import Level, Term
from tests.unit.analysis.explanations.test_evidence import HOLDS, ON, SCALES, TERMS, evidence, measured

TABLE = evidence(measured(moved=0.8, repeats=3))
ON_O0, OTHER = Level("o0", "on"), Level("o1", "on")
OPTION = TABLE.candidate(1 + TERMS.levels.index(ON_O0), 5)
SHARED = TABLE.candidate(1 + TERMS.levels.index(OTHER), 5)
NARROW = TABLE.candidate(TERMS.number((ON_O0, Level("o1", "off", False))) or 0, 5)
PAIR = TABLE.candidate(TERMS.number((ON_O0, OTHER)) or 0, 5)


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
    both = [OPTION, NARROW]
    split = replace(look(both, *[[OPTION]] * 12, *[both] * 8), evidence=noisy)
    assert told(steps_of(split)) == [] and told(agreed(split)) == [("o0",)]
    assert agreed(split) == steps_of(replace(split, best=[OPTION]))


def test_a_term_that_is_told_without_a_finer_one_keeps_both_its_amount_and_its_share() -> None:
    noisy = evidence(measured(moved=0.35))
    shares = noisy.candidate(len(TERMS) + 1 + TERMS.levels.index(ON_O0), 5)
    both = [OPTION, shares]
    split = replace(look([*both, NARROW], *[both] * 12, *[[*both, NARROW]] * 8), evidence=noisy)
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


def further(found: Look) -> tuple[Look, list[Found]]:
    """The same explanations of trials in which `o0` moves by .8, and by .4 with `o1`; of `o0` .4 is told."""
    cells, rng = Cells(), np.random.default_rng(4)
    for c, r, _ in product(range(len(ON)), range(8), range(3)):
        moved = (0.0, 0.8, 0.0, 0.4)[c] * (r >= 5)
        cells.add((c, r), (2.0 + ON[c].sum() + moved) * (1.0 + 0.01 * float(rng.standard_normal())))
    seen = replace(found, evidence=evidence(cells.table()))
    (unsure,) = steps_of(replace(seen, best=[NARROW], mass=np.zeros(len(TABLE))))
    known = replace(unsure, term=(ON_O0,), size=0.4 / SCALES.unit, probability=1.0)
    return seen, [known, replace(unsure, probability=0.5)]


def test_a_further_move_that_some_tell_as_the_rest_is_told_once_and_its_way() -> None:
    seen, steps = further(look([NARROW], *[[OPTION, NARROW]] * 10, *[[OPTION, PAIR]] * 10))
    (doubt,) = doubtful(seen, steps)
    assert doubt.terms == (("!o1", "o0"),) and doubt.beside and doubt.ratio == pytest.approx(1.13, abs=0.04)


def test_who_moves_less_far_than_is_told_is_not_told_to_move_the_other_way() -> None:
    seen, (known, unsure) = further(look([NARROW], *[[OPTION, NARROW]] * 10, *[[OPTION, PAIR]] * 10))
    assert not doubtful(seen, [replace(known, size=2.0 * known.size), unsure])


def test_who_is_said_to_be_missed_is_in_no_doubt() -> None:
    seen, (known, unsure) = further(look([NARROW], *[[OPTION, NARROW]] * 10, *[[OPTION, PAIR]] * 10))
    point = change_point(known, TERMS, ratio=1.13, ratio_interval=(1.1, 1.2), shape="step")
    assert doubtful(seen, [known, unsure], [point])
    assert not doubtful(seen, [known, unsure], [replace(point, spared=(("!o1",),))])


def test_a_step_that_all_share_is_at_its_revision_whatever_further_ones_some_hold_near() -> None:
    near = [OPTION + 1, OPTION - 1]
    found = look([OPTION], *[[OPTION, *near]] * 12, *[[OPTION]] * 8)
    assert [(step.low, step.high) for step in steps_of(found)] == [(5, 5)]


def test_the_interval_of_a_step_ends_before_other_steps_of_its_term() -> None:
    beyond = OPTION + 2
    found = look([OPTION, OPTION + 1], *[[OPTION, OPTION + 1]] * 10, *[[beyond, OPTION + 1]] * 10)
    (first, _) = steps_of(found)
    assert (first.at, first.low, first.high) == (5, 5, 5) and first.probability < 0.9
