"""How large a change must be to be seen."""

import numpy as np

from bot.analysis.power import smallest_visible
from tests.unit.analysis.worlds import estimator, feed, flags, holds, sample


def smallest(pairs: int, noise: float) -> float:
    found = smallest_visible(
        np.ones((1, 8)),
        np.full(8, noise),
        np.full(8, pairs),
        margin=0.01,
        evidence=np.array([9.0]),
        score=np.array([4.5]),
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
