from __future__ import annotations

import itertools

import numpy as np

from bot.model.space import Level, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.published.configurations import N_EXPLOIT, Acquisition
from tests.unit.sampling.spaces import MIXED, flag, flags


def _on(*names: str) -> list[Level]:
    return [Level(name, "on") for name in names]


def test_new_configurations_are_valid_distinct_and_unknown() -> None:
    solver = ConstraintSolver(MIXED)
    acquisition = Acquisition(MIXED, solver)
    rng = np.random.default_rng(1)
    known = acquisition.initial(20, rng=rng)
    found = acquisition.next(30, [_on("o0", "o3")], known=known, rng=rng)
    assert len(known) == 20
    assert found
    assert len(set(found) | set(known)) == len(found) + len(known)
    assert all(solver.valid(c) for c in found)


def test_under_approximation_keeps_the_blamed_options_and_varies_at_most_half_of_the_others() -> None:
    space = flags(20)
    acquisition = Acquisition(space, ConstraintSolver(space))
    drawn = list(acquisition._around(_on("o3", "o7"), np.random.default_rng(2)))[::2]
    assert len(drawn) == N_EXPLOIT
    for configuration in drawn:
        assert configuration is not None
        assert configuration[3]
        assert configuration[7]
        assert sum(on is True for on in configuration) <= 2 + 9
    assert len(set(drawn)) > 1


def test_over_approximation_varies_only_the_blamed_options() -> None:
    space = flags(20)
    acquisition = Acquisition(space, ConstraintSolver(space))
    rng = np.random.default_rng(3)
    drawn = [c for _ in range(30) for c in list(acquisition._around(_on("o3", "o7", "o9", "o11"), rng))[1::2]]
    kept = [{i for i, on in enumerate(c) if on} for c in drawn if c is not None]
    assert all(on <= {3, 7, 9, 11} and len(on) >= 2 for on in kept)
    assert {frozenset(on) for on in kept} > {frozenset({3, 7, 9, 11})}


def test_blamed_options_that_exclude_each_other_give_no_configuration() -> None:
    space = Space((flag("a"), flag("b"), flag("c")), ("not (a and b)",))
    acquisition = Acquisition(space, ConstraintSolver(space))
    found = acquisition.next(8, [_on("a", "b")], known=(), rng=np.random.default_rng(1))
    assert all(not (c[0] and c[1]) for c in found)


def test_exploration_and_exploitation_take_turns() -> None:
    space = flags(12)
    acquisition = Acquisition(space, ConstraintSolver(space))
    found = acquisition.next(6, [_on("o5")] * 4, known=(), rng=np.random.default_rng(4))
    assert sum(bool(c[5]) for c in found) >= 2
    assert len(found) == 6


def test_of_a_table_the_nearest_unused_configurations_are_taken_once() -> None:
    space = flags(6)
    table = [c for c in itertools.product((False, True), repeat=6) if sum(c) in (1, 2)]
    acquisition = Acquisition(space, ConstraintSolver(space), table)
    rng = np.random.default_rng(5)
    known = acquisition.initial(6, rng=rng)
    more = acquisition.next(100, [_on("o0")], known=known, rng=rng)
    assert set(known) <= set(table)
    assert set(more) <= set(table)
    assert not set(known) & set(more)
    for _ in range(5):
        more += acquisition.next(100, [_on("o0")], known={*known, *more}, rng=rng)
    assert sorted([*known, *more]) == sorted(table)
    assert acquisition.next(100, [], known={*known, *more}, rng=rng) == []


def test_what_history_knows_of_a_table_is_not_new() -> None:
    space = flags(3)
    table = list(itertools.product((False, True), repeat=3))
    acquisition = Acquisition(space, ConstraintSolver(space), table)
    found = acquisition.next(8, [], known=set(table[:6]), rng=np.random.default_rng(6))
    assert set(found) <= set(table[6:])
