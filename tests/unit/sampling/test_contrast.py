"""Configurations near a wanted one leave out what fails, unless they are asked for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.model.space import Configuration
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator
from tests.unit.flows.change_points.test_search import flags

EMPTY = (False,) * 5


def configurator(
    failing: Sequence[Sequence[str]], *constraints: str, candidates: Sequence[Configuration] | None = None
) -> Configurator:
    space = flags(5, *constraints)
    solver, rng = ConstraintSolver(space), np.random.default_rng(1)
    choose = Configurator(space, solver, rng=rng, candidates=candidates)
    apart = tuple(tuple(space.level_of[text] for text in levels) for levels in failing)
    choose.failing = lambda: apart
    return choose


def near(choose: Configurator, *levels: str) -> Configuration | None:
    space = flags(5)
    return choose.near([space.level_of[text] for text in levels], EMPTY)


def on(*options: int) -> Configuration:
    return tuple(i in options for i in range(5))


def test_what_an_option_needs_comes_with_it() -> None:
    choose = configurator([("o1", "!o3"), ("o3", "!o4")])
    assert near(choose, "o0") == on(0)
    assert near(choose, "o1") == on(1, 3, 4)


def test_a_level_with_which_nothing_works_is_left_out() -> None:
    assert near(configurator([("!o2",)]), "o0") == on(0, 2)


def test_what_is_asked_for_is_there_though_it_fails() -> None:
    assert near(configurator([("!o2",), ("o1", "!o3")]), "!o2", "o1", "!o3") == on(1)


def test_where_it_cannot_be_left_out_there_is_a_configuration_all_the_same() -> None:
    assert near(configurator([("o1", "o2")], "o1 implies o2"), "o1") == on(1, 2)


def test_of_a_table_those_that_fail_are_left_out() -> None:
    choose = configurator([("o1", "!o3")], candidates=[EMPTY, on(1), on(1, 3), on(1, 2, 4)])
    assert near(choose, "o1") == on(1, 3)
    assert near(configurator([("o1",)], candidates=[EMPTY, on(1)]), "o1") == on(1)


def test_what_fails_is_asked_for_anew_each_time() -> None:
    choose = configurator([])
    assert near(choose, "o1") == on(1)
    space = flags(5)
    choose.failing = lambda: ((space.level_of["o1"], space.level_of["!o3"]),)
    assert near(choose, "o1") == on(1, 3)


def test_what_failed_at_a_level_is_tried_without_all_that_came_along_each_time() -> None:
    choose, space = configurator([]), flags(5)
    without = space.level_of["!o1"]
    assert choose.otherwise(without, [on(), on(3, 4), on(2, 3)]) == [on(0)]
    assert choose.otherwise(without, [on(), on(0, 2, 3, 4), on(1)]) == []
    assert choose.otherwise(without, []) == []


def test_where_the_emptiest_configuration_needs_an_option_a_level_is_tried_instead_of_it() -> None:
    choose, space = configurator([]), flags(5)
    choose.sparse = on(1)
    assert choose.needed == [1]
    assert choose.otherwise(space.level_of["o3"], [on(1, 3), on(0, 1, 3, 4), on(2, 3)]) == [on(3)]
