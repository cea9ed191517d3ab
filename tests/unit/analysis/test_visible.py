"""What a run could have seen."""

import numpy as np

from bot.analysis.candidates import candidates
from bot.analysis.visible import LISTED, smallest_visible, visible
from tests.unit.analysis.worlds import estimator, feed, flags, holds, never, sample


def smallest(pairs: int, noise: float) -> float:
    found = smallest_visible(
        np.ones((1, 8)), np.full(8, noise), np.full(8, pairs), margin=0.01, needed=np.array([9.0])
    )
    return float(found[0])


def test_more_pairs_and_less_noise_see_smaller_changes() -> None:
    assert smallest(40, 0.02) < smallest(10, 0.02) < smallest(4, 0.02)
    assert smallest(10, 0.01) < smallest(10, 0.02)
    assert smallest(400, 0.02) > 0.01


def test_too_few_pairs_see_nothing() -> None:
    assert smallest(1, 0.0001) == np.inf


def test_a_change_of_the_stated_size_is_seen_in_about_four_runs_of_five() -> None:
    space = flags(5)
    configurations = sample(space, 16, np.random.default_rng(0))
    quiet = feed(
        estimator(space, configurations), {"cpu": np.zeros(16)}, rounds=8, rng=np.random.default_rng(1)
    )
    stated = {v.option: v.slow_down for v in quiet.judge().visible.options}["c"]
    assert stated is not None
    truth = np.log1p(stated) * holds(space, ("c",), configurations)
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        alarms += feed(
            estimator(space, configurations), {"cpu": truth}, rounds=8, rng=rng
        ).judge().verdict == ("regression")
    assert 36 <= alarms <= 59


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
