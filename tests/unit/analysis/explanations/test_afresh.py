"""Whether other units, or steps instead of noise, explain trials better."""

from __future__ import annotations

import pytest

from bot.analysis.explanations.afresh import wide
from bot.analysis.explanations.cells import Cells


@pytest.mark.parametrize(("slowest", "asked"), [(3.5, False), (5.0, True), (7.0, True)])
def test_units_are_compared_where_configurations_take_quite_unlike_times(slowest: float, asked: bool) -> None:
    cells = Cells(anchor=3)
    for configuration, seconds in enumerate((1.0, 2.0, slowest)):
        for revision in range(3):
            cells.add((configuration, revision), 1.0, seconds)
    assert wide(cells.table()) is asked
    cells.relative = True
    assert wide(cells.table()), "what is told in shares may be seconds after all"


@pytest.mark.parametrize(("before", "asked"), [(2.0, False), (3.0, True)])
def test_units_are_compared_where_a_program_became_several_times_as_fast(before: float, asked: bool) -> None:
    cells = Cells(anchor=3)
    for configuration in range(6):
        for revision, ratio in enumerate((before, before, 1.0)):
            spoilt = configuration == revision  # by a machine that stalls
            cells.add((configuration, revision), 20.0 if spoilt else ratio, 1.0)
    assert wide(cells.table()) is asked
