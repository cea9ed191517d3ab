"""Which configurations fail, learnt from those that share their values."""

import numpy as np
import pytest

from bot.analysis.reliability import OFTEN, doubts, expected_failures
from bot.model.space import Configuration
from tests.unit.analysis.worlds import flags, sample

SPACE = flags(8)
RNG = np.random.default_rng(0)
EVERY = sample(SPACE, 160, RNG)
KNOWN, NEW = EVERY[:60], EVERY[60:]


def trials(chance: dict[Configuration, float], times: int, seed: int) -> dict[Configuration, tuple[int, int]]:
    rng = np.random.default_rng(seed)
    return {c: (times, int(rng.binomial(times, chance[c]))) for c in KNOWN}


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_configurations_that_were_never_tried_fail_with_the_value_that_failed_in_others(share: float) -> None:
    for seed in range(10):
        past = trials({c: share if c[2] else 0.02 for c in KNOWN}, 4, seed)
        hopeless = expected_failures(past, NEW) > OFTEN
        assert hopeless.tolist() == [bool(c[2]) for c in NEW]


def test_what_merely_came_along_with_a_broken_value_is_not_blamed() -> None:
    known = [c for c in KNOWN if c[2] or not c[3]]  # three of four that have the fourth option fail
    past = {c: (3, 3 if c[2] else 0) for c in known}
    innocent = [c for c in NEW if c[3] and not c[2]]
    assert (expected_failures(past, innocent) < OFTEN).all()


@pytest.mark.parametrize("chance", [0.0, 0.03, 0.15])
def test_accidents_make_no_configuration_hopeless(chance: float) -> None:
    for seed in range(10):
        past = trials(dict.fromkeys(KNOWN, chance), 5, seed)
        assert (expected_failures(past, NEW) < OFTEN).all()


@pytest.mark.parametrize(
    ("tried", "failed", "hopeless"), [(1, 1, False), (3, 3, True), (6, 3, False), (8, 7, True)]
)
def test_a_configuration_whose_values_work_elsewhere_is_judged_by_its_own_trials(
    tried: int, failed: int, hopeless: bool
) -> None:
    past = dict.fromkeys(KNOWN, (3, 0)) | {KNOWN[0]: (tried, failed)}
    found = expected_failures(past, KNOWN[:2])
    assert (found > OFTEN).tolist() == [hopeless, False]


def test_without_trials_nothing_is_expected_to_fail() -> None:
    assert expected_failures({}, NEW[:3]).tolist() == [0.0] * 3
    assert expected_failures({KNOWN[0]: (0, 0)}, NEW[:3]).tolist() == [0.0] * 3
    assert len(expected_failures({KNOWN[0]: (1, 1)}, [])) == 0


def test_the_value_with_which_a_configuration_fails_is_its_cause_and_its_own_trials_have_none() -> None:
    past = {c: (3, 3 if c[2] else 0) for c in KNOWN}
    odd = next(c for c in KNOWN if not c[2])
    found = doubts(past | {odd: (5, 5)}, [*NEW, odd])
    assert found == {c: (2, True) for c in NEW if c[2]} | {odd: None}
