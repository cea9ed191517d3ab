"""What is asked of a name that explanations of a short range agree about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bot.analysis.change_points.terms import Terms
from bot.analysis.explanations.cells import Cells
from bot.analysis.explanations.findings import Found
from bot.analysis.explanations.scales import Scales
from bot.flows.short_ranges.doubts import doubts, noise_in_doubt, spared_in_doubt
from bot.flows.short_ranges.pool import Pool
from bot.model.change_points import ChangePoint, Probe
from bot.model.space import Configuration, Level
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator
from tests.unit.flows.change_points.test_search import flags

SPACE = flags(4)
ON = [Level(name, "on") for name in SPACE.names]
PAIR = (ON[0], ON[3])
BOTH_ALONE, FIRST_ALONE, LAST_ALONE, FIRST_AND_SECOND, FIRST_AND_THIRD, ALL = (
    (True, False, False, True),
    (True, False, False, False),
    (False, False, False, True),
    (True, True, False, False),
    (True, False, True, False),
    (True, True, True, True),
)


def step(*term: Level, probability: float = 1.0) -> Found:
    return Found(term, False, at=12, low=12, high=12, size=0.5, clarity=50.0, probability=probability)


def trials(*probes: Probe) -> tuple[Pool, Cells, Terms]:
    """What they show when all take as long, beside one of the emptiest configuration."""
    solver = ConstraintSolver(SPACE)
    terms = Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent)
    choose = Configurator(SPACE, solver, rng=np.random.default_rng(1))
    pool, cells = Pool(SPACE, terms, choose, 20, candidates=None), Cells()
    for configuration, revision in ((choose.sparse, 3), *((p.configuration, p.revision) for p in probes)):
        cells.add((pool.number(configuration), revision), 1.0)
    return pool, cells, terms


def asked(*found: Found, known: tuple[Probe, ...] = (), anchor: int | None = None) -> set[Probe]:
    """The trials that are wished when these are known beside one of the emptiest configuration."""
    pool, cells, terms = trials(*known)
    wished = doubts(found, cells.table(), pool, terms, anchor=anchor)
    return {Probe(pool.configurations[c], r) for c, r in wished}


def around(configuration: Configuration) -> tuple[Probe, Probe]:
    return Probe(configuration, 11), Probe(configuration, 12)


def test_a_pair_is_tried_alone_and_each_option_of_it_without_the_other_next_to_the_step() -> None:
    assert asked(step(*PAIR)) == {*around(BOTH_ALONE), *around(FIRST_ALONE), *around(LAST_ALONE)}


def test_that_a_pair_moves_with_further_options_does_not_tell_that_it_moves_alone() -> None:
    more = (True, True, False, True)
    known = (*around(more), *around(ALL), *around(FIRST_ALONE), *around(LAST_ALONE))
    assert asked(step(*PAIR), known=known) == {*around(BOTH_ALONE)}


def test_single_options_and_names_that_are_not_sure_are_not_doubted() -> None:
    assert not asked(step(ON[0]), step(), step(*PAIR, probability=0.6))


def test_what_was_compared_alone_or_in_two_configurations_is_not_asked_again() -> None:
    once = *around(BOTH_ALONE), *around(FIRST_AND_SECOND)
    twice = *once, *around(FIRST_AND_THIRD)
    assert asked(step(*PAIR), known=twice) == {*around(LAST_ALONE)}
    assert asked(step(*PAIR), known=once) == {*around(FIRST_ALONE), *around(LAST_ALONE)}
    alone = *around(BOTH_ALONE), *around(FIRST_ALONE), *around(LAST_ALONE)
    assert not asked(step(*PAIR), known=alone)


def test_a_configuration_that_another_step_of_the_place_moves_says_nothing() -> None:
    told = step(*PAIR), step(ON[1])
    known = *around(BOTH_ALONE), *around(FIRST_AND_SECOND)
    assert asked(*told, known=known) == {*around(FIRST_ALONE), *around(LAST_ALONE)}


def test_the_anchor_is_known_beforehand() -> None:
    assert {p.revision for p in asked(step(*PAIR), anchor=12)} == {11}


def test_whom_a_step_is_told_to_miss_is_tried_beside_all_else_that_they_may_have() -> None:
    point = ChangePoint(12, (12, 12), ("o0",), (), 1.2, (1.1, 1.3), 1.0, spared=(("!o1", "!o2"),))
    for known in ((), around(LAST_ALONE), around(BOTH_ALONE)):
        pool, cells, terms = trials(*known)
        wished = spared_in_doubt([point], cells.table(), pool, terms, anchor=None)
        assert set(wished) == {*around(BOTH_ALONE)} - {*known}
    pool, cells, terms = trials()
    pool.failures.answered((pool.number(BOTH_ALONE), 12), built=True, worked=False)
    assert not spared_in_doubt([point], cells.table(), pool, terms, anchor=None)
    assert not spared_in_doubt([replace(point, spared=())], cells.table(), pool, terms, anchor=None)


def test_an_option_that_may_be_noisy_is_measured_again_beside_its_farthest_move_until_it_is_known() -> None:
    cells, noisy = Cells(), Scales(suspected=(1,))
    on = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=np.float64)
    for c, values in enumerate([(1.0, 5.0), (1.0, 1.0), (2.0, 2.1, 3.0, 2.9), (3.0, 3.5)]):
        for r, value in enumerate(values):
            cells.add((c, r), value)
    assert not noise_in_doubt(Scales(), cells.table(), on)
    for value in (2.11, 2.12):
        assert noise_in_doubt(noisy, cells.table(), on) == [(2, 1), (2, 2)]
        cells.add((2, 1), value)
        cells.add((2, 2), 1.0 + value)
    assert not noise_in_doubt(noisy, cells.table(), on)


def test_the_anchor_is_exact_and_not_measured_again() -> None:
    cells = Cells(anchor=2)
    for r, value in enumerate((1.0, 1.1, 1.0)):
        cells.add((0, r), value)
    assert noise_in_doubt(Scales(suspected=(0,)), cells.table(), np.ones((1, 1))) == [(0, 0), (0, 1)]
    cells = Cells(anchor=1)
    for r, value in enumerate((1.0, 1.0, 1.1)):
        cells.add((0, r), value)
    assert noise_in_doubt(Scales(suspected=(0,)), cells.table(), np.ones((1, 1))) == [(0, 2)]


def test_where_values_repeat_noise_is_not_measured_again() -> None:
    cells = Cells(repeats=False)
    for r, value in enumerate((1.0, 1.1, 1.0)):
        cells.add((0, r), value)
    assert not noise_in_doubt(Scales(suspected=(0,)), cells.table(), np.ones((1, 1)))
