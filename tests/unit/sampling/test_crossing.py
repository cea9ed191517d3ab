"""Configurations between two."""

from __future__ import annotations

import numpy as np

from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.crossing import crossings

SPACE = Space(tuple(Option(name, "flag", (False, True), False) for name in "abcdef"), ("a implies b",))
ONE, OTHER = (True,) * 6, (False, False, False, True, True, True)


def test_each_value_is_that_of_either_and_all_are_valid_and_distinct() -> None:
    solver = ConstraintSolver(SPACE)
    found = crossings(ONE, [OTHER], lambda c: solver.complete(near=c), count=60, rng=np.random.default_rng(1))
    assert 4 <= len(found) == len(set(found))
    assert all(solver.valid(c) and c[3:] == ONE[3:] for c in found)


def test_without_a_partner_or_a_valid_configuration_there_is_none() -> None:
    rng = np.random.default_rng(2)
    assert crossings(ONE, [], lambda c: c, count=9, rng=rng) == []
    assert crossings(ONE, [OTHER], lambda _c: None, count=9, rng=rng) == []
