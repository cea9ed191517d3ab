"""Configurations that work, as near as can be to one that does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from bot.flows.change_points.asking import Asking
from bot.flows.change_points.nearing import nearest_working
from bot.model.change_points import Probe
from bot.model.space import Configuration
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.contrast import Configurator
from tests.unit.flows.change_points.test_search import flags

FULL, EMPTY = (True,) * 8, (False,) * 8


def reached(
    works: Callable[[Configuration], bool], start: Configuration, wanted: Configuration, *constraints: str
) -> tuple[Configuration, int]:
    """Where one comes from a start, and in how many trials."""
    space = flags(8, *constraints)
    choose = Configurator(space, ConstraintSolver(space), rng=np.random.default_rng(1))

    def attempt(tried: Configuration, _: Sequence[int]) -> Asking[bool]:
        yield [Probe(tried, 0)]
        return works(tried)

    tried, script = 0, nearest_working(choose, start, wanted, attempt)
    try:
        while True:
            tried += len(next(script))
    except StopIteration as end:
        return end.value, tried


def on(*options: int) -> Configuration:
    return tuple(i in options for i in range(8))


def test_from_the_fullest_what_is_needed_stays_and_all_else_goes_in_few_trials() -> None:
    assert reached(lambda c: bool(c[3]), FULL, EMPTY) == (on(3), 8)
    assert reached(lambda c: True, FULL, EMPTY) == (EMPTY, 1)


def test_from_the_emptiest_all_comes_in_but_what_fails_together() -> None:
    found, tried = reached(lambda c: not (c[2] and c[6]), EMPTY, FULL)
    assert found.count(True) == 7 and not (found[2] and found[6]) and tried <= 9


@pytest.mark.parametrize("needed", [(0, 7), (7, 0), (3, 4)])
def test_what_needs_another_option_comes_in_after_it(needed: tuple[int, int]) -> None:
    one, other = needed
    found, _ = reached(lambda c: not (c[one] and not c[other]) and not (c[1] and c[2]), EMPTY, FULL)
    assert found[one] and found[other] and found.count(True) == 7


def test_constraints_hold_on_the_way() -> None:
    found, _ = reached(lambda c: bool(c[3]), FULL, EMPTY, "o3 implies o5", "o1 implies o0")
    assert found == on(3, 5)
