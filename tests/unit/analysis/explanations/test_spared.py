"""Whom a told step misses, by what the missed configurations share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.analysis.explanations.cells import Cells
from bot.analysis.explanations.findings import Found
from bot.analysis.explanations.spared import spared
from bot.model.space import Level, Term
from tests.unit.analysis.explanations.test_evidence import ON, TERMS, evidence, look_at

MOVED = 0.2
WHOLE = Found((), True, 5, 5, 5, MOVED, 9.0, 1.0)


def missed_by(
    *missing: int, unknown: int | None = None, hardly: int | None = None, beside: Sequence[Found] = ()
) -> Term | None:
    """What is told of a step of everything that some of the four configurations do not make.

    unknown: one not measured before it. hardly: one that makes two fifths of it. beside: other steps.
    """
    cells = Cells()
    for c, row in enumerate(ON):
        for r in range(5 if c == unknown else 0, 8):
            moved = MOVED * (0.4 if c == hardly else 1.0) * (r >= 5 and c not in missing)
            cells.add((c, r), (2.0 + row.sum()) * (1.0 + moved))
    found = spared(
        [0],
        1.0 + MOVED,
        found=[WHOLE, *beside],
        look=look_at(evidence(cells.table())),
    )
    return None if found is None else TERMS.named(found.term)


def test_who_uses_none_of_several_options_is_told_though_it_is_a_single_configuration() -> None:
    assert missed_by(0) in [("!o0", "!o1"), ("!o0", "!o2")]


def test_a_single_configuration_shows_no_term_of_several_options_that_are_on() -> None:
    assert missed_by(2) is None


def test_configurations_that_share_one_level_show_it() -> None:
    assert missed_by(0, 1) in [("!o1",), ("!o2",)]


def test_where_nobody_is_missed_nobody_is_told() -> None:
    assert missed_by() is None


def test_who_was_not_measured_before_neither_shows_nor_hides_who_is_missed() -> None:
    assert missed_by(0, unknown=1) in [("!o0", "!o1"), ("!o0", "!o2"), ("!o1",), ("!o2",)]


def test_who_hardly_seems_to_move_neither_shows_nor_hides_who_is_missed() -> None:
    assert missed_by(0, hardly=1) in [("!o1",), ("!o2",)]


def test_a_step_that_takes_another_one_back_says_whom_that_misses_though_trials_alone_do_not() -> None:
    absent = Level("o1", "off", False), Level("o2", "off", False)
    back = Found(absent, True, 5, 5, 5, -MOVED, 9.0, 1.0, outweighed=True)
    assert missed_by(beside=[back]) == ("!o1", "!o2")
    assert missed_by(beside=[replace(back, size=-MOVED / 2)]) is None
    assert missed_by(beside=[replace(back, outweighed=False)]) is None
