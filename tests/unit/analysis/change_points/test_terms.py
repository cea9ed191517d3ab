"""Terms and their sums."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.change_points.terms import FEW, Terms
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(
    (
        Option("a", "flag", (False, True), False),
        Option("b", "flag", (False, True), False),
        Option("mode", "choice", ("x", "y", "z"), "x"),
        Option("size", "number", (1, 2, 4), 1),
    )
)


def terms() -> Terms:
    solver = ConstraintSolver(SPACE)
    return Terms(SPACE, possible=solver.possible, equivalent=solver.equivalent)


@pytest.mark.parametrize("columns", [1, 2, FEW + 3])
def test_sums_are_over_the_configurations_that_hold_a_term(columns: int) -> None:
    known, rng = terms(), np.random.default_rng(0)
    holds = rng.integers(0, 2, (30, len(known.levels))).astype(bool)
    values = rng.standard_normal((30, columns))
    values[::3] = 0.0
    a, b, x = known.levels[0], known.levels[2], known.levels[4]
    grown = [(a, b, x)]
    found = known.sums(holds, values, grown)
    assert len(found) == len(known) + 1
    for number in range(len(found)):
        term = known.term(number, grown)
        expected = values[known.cover(term, holds)].sum(axis=0)
        assert found[number] == pytest.approx(expected, abs=1e-5)


def test_relatives_are_everything_all_levels_and_the_pairs_that_share_a_level() -> None:
    known = terms()
    number = len(known.levels) + 5
    mine = set(known.term(number))
    relatives = known.relatives(known.term(number)).tolist()
    assert number in relatives
    for other in range(len(known)):
        term = known.term(other)
        assert (other in relatives) == (len(term) < 2 or bool(mine & set(term)))


def test_covers_of_terms_are_those_of_each_of_them() -> None:
    known, rng = terms(), np.random.default_rng(0)
    for count in (3, 5):  # another list, other terms
        some = [known.term(number) for number in rng.integers(0, len(known), count)]
        holds = rng.integers(0, 2, (9, len(known.levels))).astype(bool)
        for _ in range(2):
            expected = np.stack([known.cover(term, holds) for term in some], axis=1)
            assert (known.covers_of(some, holds) == expected).all()
