"""What the steps of an explanation move, and levels without it."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.explanations.afresh import of_steps, worth
from bot.analysis.explanations.cells import Cells, Table
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.findings import Found
from bot.analysis.explanations.moves import Moves
from bot.model.space import Level
from tests.unit.analysis.explanations.test_evidence import ON, SCALES, TERMS, evidence, measured

REVISIONS = 8
ON_O0 = Level("o0", "on")


def halves() -> Table:
    """Two configurations that lose a quarter of 4 s: one was seen before that, the other after."""
    cells = Cells()
    for revision in range(4):
        cells.add((0, revision), 4.0)
        cells.add((1, 4 + revision), 3.0)
    return cells.table()


def quarter(clarity: float = 9.0) -> Found:
    return Found((), True, 4, 4, 4, -2 / 7, clarity, 1.0)


def moves(*steps: Found) -> Moves:
    """Of steps that all configurations hold, in units of a second."""
    return Moves(steps, np.ones((len(steps), 2)), np.array([3.5, 3.5]))


def test_a_level_is_the_same_wherever_in_the_range_a_configuration_was_measured() -> None:
    table = halves()
    assert table.levels() == {0: 4.0, 1: 3.0}
    levels = table.levels(moves(quarter()).beyond_average(table, REVISIONS))
    assert levels == pytest.approx({0: 3.5, 1: 3.5})


def test_a_step_that_is_not_clear_changes_no_level() -> None:
    table = halves()
    assert table.levels(moves(quarter(clarity=2.0)).beyond_average(table, REVISIONS)) == table.levels()


def test_a_level_stays_positive_whatever_is_taken_from_it() -> None:
    table = halves()
    assert min(table.levels(np.full(8, 100.0)).values()) > 0.0


def test_steps_of_one_revision_hide_each_other_from_nobody() -> None:
    up, down = Found((ON_O0,), False, 4, 4, 4, 3.0, 9.0, 1.0), Found((), False, 4, 4, 4, -4.0, 9.0, 1.0)
    moved = moves(up, down).by_revision(REVISIONS)
    assert moved[:, 4].tolist() == [5.0, 5.0] and not moved[:, :4].any()


def test_steps_are_believed_afresh_only_where_they_say_much_more_than_what_is_believed() -> None:
    table = evidence(measured(moved=0.8, repeats=3))
    nothing = worth(table, [], ON, scales=SCALES, moved=None)
    ensemble = Ensemble(np.random.default_rng(1))
    believed = of_steps(lambda _: table, ensemble, ON, beforehand=table.scales, known=nothing)
    assert believed is not None
    step = table.candidate(1 + TERMS.levels.index(ON_O0), 5)
    known = worth(table, [step], ON, scales=believed, moved=None)
    assert known > nothing + 10.0
    ensemble = Ensemble(np.random.default_rng(1))
    assert of_steps(lambda _: table, ensemble, ON, beforehand=table.scales, known=known) is None
