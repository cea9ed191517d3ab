"""Larger terms that are proposed where neither a level nor a pair says who moved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bot.analysis.change_points.terms import Term, Terms, in_order
from bot.analysis.explanations.cells import Cells
from bot.analysis.explanations.conjunctions import MOST, conjunctions, none_of, who_moved
from bot.analysis.explanations.evidence import MOST_GROWN, Kinds
from bot.analysis.explanations.findings import Found
from bot.model.space import Level, Option, Space
from tests.unit.flows.change_points.test_search import flags

OPTIONS = 5
SPACE = flags(OPTIONS)
TERMS = Terms(SPACE, possible=lambda _: True, equivalent=lambda a, b: a == b)
NOISE, AROUND = 0.01, (2, 3, 7, 8)
THREE = {"11100", "11110", "11101", "11111"}


def on(*places: int) -> Term:
    return in_order(Level(f"o{i}", "on") for i in places)


def off(*places: int) -> Term:
    return in_order(Level(f"o{i}", "off", False) for i in places)


def step(*term: Level, at: int = 5, size: float = 0.1) -> Found:
    return Found(in_order(term), False, at, at, at, size, 9.0, 1.0)


def proposed(
    measured: Sequence[str], moved: set[str], *, size: float = 0.3, costs: float = 0.0, noise: float = NOISE
) -> list[Term]:
    """Where each of some configurations is measured around 5, and those of `moved` move there."""
    cells = Cells()
    for c, options in enumerate(measured):
        level = 1.0 + costs * options.count("1")
        for revision in AROUND:
            cells.add((c, revision), level * (1.0 + size * (options in moved and revision >= 5)))
    rows = [tuple(x == "1" for x in options) for options in measured]
    holds = np.array([[SPACE.holds(level, row) for level in TERMS.levels] for row in rows])
    return conjunctions(who_moved(cells.table(), np.full(len(measured), noise)), holds, TERMS)


def test_what_all_who_moved_hold_and_nobody_else_is_proposed() -> None:
    pairs = ["11000", "10100", "01100", "01011", "10011"]
    assert proposed([*pairs, "11100", "11111"], THREE) == [on(0, 1, 2)]


def test_all_sets_of_the_smallest_number_of_levels_are_proposed_while_trials_leave_them_open() -> None:
    pairs = ["11000", "10100", "10010", "01100", "01010", "00110", "00001"]
    assert set(proposed([*pairs, "11110"], {"11110"})) == {
        on(0, 1, 2),
        on(0, 1, 3),
        on(0, 2, 3),
        on(1, 2, 3),
    }


def test_none_of_several_options_is_proposed_where_any_of_them_moves_something() -> None:
    none = ["00000", "00010", "00001", "00011"]
    assert proposed([*none, *(alone := ["10000", "01000", "00100"])], set(alone)) == [off(0, 1, 2)]


def test_none_of_the_options_that_steps_of_one_revision_and_direction_blame_is_proposed() -> None:
    several = [step(*on(0)), step(*on(1), *off(0)), step(*on(2), *off(0))]
    assert none_of(several, TERMS) == [off(0, 1, 2)]
    assert none_of(several[:2], TERMS) == none_of([*several[:2], step(*on(2), at=6)], TERMS) == []
    assert none_of([*several[:2], step(*on(2), size=-0.1)], TERMS) == []


@pytest.mark.parametrize("moved", [{"11111"}, {"11111", "11000"}, {"10000", "11000", "11111"}])
def test_nothing_larger_is_proposed_where_a_level_or_a_pair_says_who_moved(moved: set[str]) -> None:
    assert not proposed(["00000", "01000", "00100", "10000", "11000", "11111"], moved)


def test_nothing_is_proposed_where_all_or_none_moved_or_moves_are_noise() -> None:
    measured = ["11000", "10100", "01100", "11100"]
    assert not proposed(measured, set(measured)) and not proposed(measured, set())
    assert not proposed(measured, {"11100"}, size=0.03) and not proposed(measured, {"11100"}, noise=0.1)


@pytest.mark.parametrize(("spoilt", "found"), [((7,), []), ((7, 8), [on(0, 1, 2)])])
def test_a_trial_that_was_spoilt_asks_for_no_larger_term(spoilt: tuple[int, ...], found: list[Term]) -> None:
    cells = Cells()
    measured = ["00000", "11000", "10100", "01100", "01011", "10011", "11100"]
    for c, options in enumerate(measured):
        for revision in AROUND:
            cells.add((c, revision), 3.0 if options == "11100" and revision in spoilt else 1.0)
    rows = [tuple(x == "1" for x in options) for options in measured]
    holds = np.array([[SPACE.holds(level, row) for level in TERMS.levels] for row in rows])
    sides = who_moved(cells.table(), np.full(len(measured), NOISE))
    assert [t for t in conjunctions(sides, holds, TERMS) if all(x.operator == "on" for x in t)] == found


def test_moves_by_a_share_of_unlike_levels_are_one_move() -> None:
    pairs = ["11000", "10100", "01100", "01011", "10011"]
    assert proposed([*pairs, "11100", "11111"], THREE, costs=0.4, size=-0.2) == [on(0, 1, 2)]


@pytest.mark.parametrize(
    ("values", "expected"), [((6,), [["level=6", "o0", "o1"]]), ((3, 6), [])], ids=["one value", "a range"]
)
def test_a_term_has_one_level_of_an_option(values: tuple[int, ...], expected: list[list[str]]) -> None:
    space = Space((Option("level", "number", (1, 3, 6, 9), 1), *flags(2).options))
    terms = Terms(space, possible=lambda _: True, equivalent=lambda a, b: a == b)
    every = [(n, x, y) for n in (1, 3, 6, 9) for x in (False, True) for y in (False, True)]
    cells = Cells()
    for c, (level, x, y) in enumerate(every):
        for revision in AROUND:
            cells.add((c, revision), 1.3 if level in values and x and y and revision >= 5 else 1.0)
    holds = np.array([[space.holds(level, row) for level in terms.levels] for row in every])
    sides = who_moved(cells.table(), np.full(len(every), NOISE))
    found = conjunctions(sides, holds, terms)
    assert [[str(level) for level in term] for term in found] == expected


def test_larger_terms_are_kinds_of_their_own_and_leave_the_numbers_of_others() -> None:
    kinds = Kinds.of(TERMS)
    grown = kinds.grow([on(0, 1, 2)]).grow([on(0, 1, 2), on(1, 2, 3)])
    assert [grown.name(k) for k in range(len(kinds))] == [kinds.name(k) for k in range(len(kinds))]
    added = [(grown.name(k), bool(grown.share[k])) for k in range(len(kinds), len(grown))]
    assert added == [(on(*t), share) for t in ((0, 1, 2), (1, 2, 3)) for share in (False, True)]
    assert (grown.log_prior[len(kinds) :] < kinds.log_prior.max()).all()


def test_any_of_several_options_is_everything_and_none_of_them_in_the_same_units() -> None:
    kinds = Kinds.of(TERMS).grow([on(0, 1, 2), off(0, 1, 2)])
    of = [next(k for k in range(len(kinds)) if kinds.name(k) == term) for term in (on(0), on(1), on(2), ())]
    pairs = [
        (kinds.name(a), kinds.name(b), bool(kinds.share[a] == kinds.share[b]))
        for a, b in kinds.exceptions(of)
    ]
    assert pairs == [((), off(0, 1, 2), True)] * 2
    assert kinds.exceptions(of[:2]) == []


def test_there_is_an_end_of_larger_terms() -> None:
    space = flags(14)
    terms = Terms(space, possible=lambda _: True, equivalent=lambda a, b: a == b)
    levels = [level for level in terms.levels if level.operator == "on"]
    many = [(a, b, c) for a in levels for b in levels for c in levels if a.option < b.option < c.option]
    kinds = Kinds.of(terms)
    assert len(many) > MOST_GROWN > MOST
    assert len(kinds.grow(many)) == len(kinds) + 2 * MOST_GROWN
