"""Explanations take over what others say of a place where trials decide, and only there."""

from __future__ import annotations

import numpy as np

from bot.analysis.explanations.cells import Cells, Table
from bot.analysis.explanations.crossing import take_over
from bot.analysis.explanations.evidence import Evidence
from tests.unit.analysis.explanations.test_evidence import ON, TERMS, evidence, measured

OPTION, ONE, OTHER = (1 + [str(level) for level in TERMS.levels].index(name) for name in ("o0", "o1", "o2"))


def taken(table: Evidence, chains: list[list[int]]) -> list[list[int]]:
    """The chains after they took over what they would."""
    found = [list(chosen) for chosen in chains]
    take_over(table, found, np.random.default_rng(0))
    return found


def with_two_always_together() -> Table:
    """`o1` and `o2` are on in the same configurations, and there something moves at the fifth revision."""
    rng, cells = np.random.default_rng(3), Cells()
    for c, row in enumerate(ON):
        for r in range(8):
            cells.add((c, r), 2.0 + float(row.sum()) + 0.8 * row[1] * (r >= 5) + 0.02 * rng.standard_normal())
    return cells.table()


def test_a_chain_takes_over_what_another_says_of_a_place_where_that_is_clearly_more_probable() -> None:
    table = evidence(measured(moved=0.8, repeats=3))
    true, by_chance = table.candidate(OPTION, 5), table.candidate(ONE, 2)
    assert taken(table, [[true], [by_chance]]) == [[true], [by_chance, true]]


def test_a_chain_gives_up_a_name_for_what_is_clearly_more_probable_and_keeps_what_it_says_elsewhere() -> None:
    table = evidence(measured(moved=0.8, repeats=3))
    true, wrong, elsewhere = table.candidate(OPTION, 5), table.candidate(0, 5), table.candidate(ONE, 2)
    assert taken(table, [[elsewhere, wrong], [true]]) == [[elsewhere, true], [true]]


def test_chains_keep_names_that_no_trial_tells_apart() -> None:
    table = evidence(with_two_always_together())
    chains = [[table.candidate(ONE, 5)], [table.candidate(OTHER, 5)]]
    assert taken(table, chains) == chains


def test_what_a_chain_holds_by_chance_is_not_taken_over() -> None:
    table = evidence(measured(moved=0.8, repeats=3))
    true, by_chance = table.candidate(OPTION, 5), table.candidate(ONE, 5)
    assert taken(table, [[true, by_chance], [true]]) == [[true, by_chance], [true]]
