"""What a run could have seen."""

import numpy as np

from bot.analysis.candidates import candidates
from bot.analysis.visible import LISTED, visible
from tests.unit.analysis.worlds import flags, never


def test_levels_and_possible_pairs_without_a_configuration_are_listed() -> None:
    space = flags(3)
    configurations = [(False, False, False), (True, False, False), (False, True, False)]
    found = visible(
        space,
        configurations,
        np.array([True, True, True]),
        found=candidates(space, configurations, never),
        smallest=lambda covers, _: np.full(len(covers), 0.02),
        possible=lambda term: term != ("a", "b"),
    )
    assert found.levels_not_exercised == ("c",)
    assert found.pairs_not_exercised == ()
    assert found.pairs_not_exercised_count == 0
    assert {v.option: v.slow_down for v in found.options} == {"a": 0.02, "b": 0.02, "c": None}


def test_a_long_list_of_pairs_is_cut_and_counted() -> None:
    space = flags(20)
    configurations = [tuple(i == j for j in range(20)) for i in range(20)]
    found = visible(
        space,
        configurations,
        np.ones(20, dtype=bool),
        found=candidates(space, configurations, never),
        smallest=lambda covers, _: np.full(len(covers), 0.02),
        possible=None,
    )
    assert len(found.pairs_not_exercised) == LISTED
    assert found.pairs_not_exercised_count == 190
