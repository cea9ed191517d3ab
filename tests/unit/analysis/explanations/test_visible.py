"""How small a change the trials of a short range would have shown."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bot.analysis.explanations.cells import Cells, Table
from bot.analysis.explanations.scales import Scales
from bot.analysis.explanations.visible import visible_changes
from bot.model.report import Visible
from tests.unit.analysis.explanations.test_evidence import ON, SCALES, SPACE, evidence, look_at, measured

LAST = 7


def of_ratios(*places: int, compared: int = len(ON)) -> Table:
    """One ratio to the last revision at each of these; in the other configurations at the last one alone."""
    cells = Cells(anchor=LAST)
    for c in range(len(ON)):
        for r in places if c < compared else (LAST,):
            cells.add((c, r), 1.0, 2.0 + ON[c].sum())
    return cells.table()


def seen(table: Table, scales: Scales = SCALES) -> Visible:
    return visible_changes(look_at(evidence(table, scales)), SPACE)


def least(found: Visible) -> list[float]:
    return [option.slow_down or 0.0 for option in found.options]


def test_more_trials_and_less_noise_show_smaller_changes() -> None:
    once, often = seen(measured(moved=0.0)), seen(measured(moved=0.0, repeats=6))
    quiet = seen(measured(moved=0.0, noise=0.002), replace(SCALES, noise=0.002))
    assert all(0.0 < a < b for a, b in zip(least(often), least(once), strict=True))
    assert all(0.0 < a < b for a, b in zip(least(quiet), least(once), strict=True))
    assert once.everything is not None and once.levels_not_exercised == ()


def test_one_ratio_beside_the_anchor_shows_what_changed_between_them() -> None:
    assert all(0.0 < size < 1.0 for size in least(seen(of_ratios(0))))
    # Nothing was tried before what became slower early on.
    assert seen(of_ratios(4)).everything is None


def test_the_blur_of_small_changes_in_every_revision_bounds_what_exact_counts_show() -> None:
    exact = replace(SCALES, noise=5e-4)
    calm, lively = (seen(of_ratios(0, 3), replace(exact, lively=x)) for x in (0.25, 4.0))
    assert all(0.001 < a < b for a, b in zip(least(calm), least(lively), strict=True))


def test_a_level_that_no_compared_configuration_holds_is_named_and_promises_nothing() -> None:
    found = seen(of_ratios(0, 3, compared=2))
    assert found.levels_not_exercised == ("o1", "o2")
    assert [option.slow_down is None for option in found.options] == [False, True, True]


def test_an_option_that_works_late_is_judged_by_the_revisions_where_it_works() -> None:
    cells = Cells(anchor=LAST)
    for c in range(len(ON)):
        for r in range(4 if c else 0, LAST):
            cells.add((c, r), 1.0, 2.0 + ON[c].sum())
    look = look_at(evidence(cells.table()))
    late = look.usable.copy()
    late[1:, :4] = False
    judged, lost = (least(visible_changes(replace(look, usable=u), SPACE)) for u in (late, look.usable))
    assert all(0.0 < a < (b or math.inf) for a, b in zip(judged, lost, strict=True))


def test_changes_that_do_not_matter_are_not_claimed() -> None:
    look = replace(look_at(evidence(of_ratios(0, 3))), least=0.9)
    assert least(visible_changes(look, SPACE)) == pytest.approx([0.9] * 3)
