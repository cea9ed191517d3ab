"""Which trials of a short range are next."""

from __future__ import annotations

import numpy as np

from bot.flows.short_ranges.wishes import glance

EMPTIEST, FULLEST = 0, 1


def glances(usable: np.ndarray[tuple[int, int], np.dtype[np.bool_]], *seen: int) -> list[tuple[int, int]]:
    """All that are taken one after the other."""
    known, found = [*seen], list[tuple[int, int]]()
    while cells := glance(usable, np.array(sorted(known)), EMPTIEST, FULLEST):
        found += cells
        known += [r for _, r in cells]
    return found


def test_revisions_that_nobody_looked_at_are_halved_by_the_emptiest_configuration() -> None:
    found = glances(np.ones((2, 9), dtype=bool), 0, 8)
    assert found[0][1] == 4 and {r for _, r in found[1:3]} == {2, 6}
    assert sorted(found) == [(EMPTIEST, r) for r in range(1, 8)]


def test_a_revision_where_it_has_no_value_is_looked_at_with_the_fullest_one_and_else_not_at_all() -> None:
    usable = np.array([[True, False, False, True], [True, False, True, True]])
    assert glances(usable, 0, 3) == [(FULLEST, 2)]
