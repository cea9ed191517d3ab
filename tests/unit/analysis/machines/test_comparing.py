"""Two revisions' profiles: a change is seen and named, and the same profile gives no alarm."""

from __future__ import annotations

import numpy as np

from bot.analysis.machines.comparing import ProfileComparison
from tests.unit.analysis.machines.hardware import STRESSORS, World, world

BEFORE = {"compute-0": 0.6, "memory-1": 0.4}


def comparison(here: World, base: np.ndarray, head: np.ndarray, seed: int = 0) -> ProfileComparison:
    return ProfileComparison().fit(here.rates, base, head, rng=np.random.default_rng(seed))


def test_what_a_revision_added_is_named_with_its_size() -> None:
    here = world(14)
    base = here.seconds(BEFORE)
    found = comparison(here, base, base + here.seconds({"disk-1": 0.3}))
    assert found.moved_ is not None and STRESSORS[found.moved_].startswith("disk") and found.grew_
    low, high = found.interval_
    assert low <= found.share_ <= high and 0.15 < found.share_ < 0.5
    assert found.probability_ <= 0.01


def test_what_a_revision_took_away_is_named() -> None:
    here = world(14)
    head = here.seconds(BEFORE)
    found = comparison(here, head + here.seconds({"disk-1": 0.4}), head)
    assert found.moved_ is not None and STRESSORS[found.moved_].startswith("disk")
    assert not found.grew_ and found.share_ < 0


def test_a_program_that_is_as_much_slower_everywhere_has_the_same_profile() -> None:
    here = world(14)
    found = comparison(here, here.seconds(BEFORE), 1.5 * here.seconds(BEFORE))
    assert found.moved_ is None and 1.4 < found.ratio_ < 1.6


def test_the_same_profile_rarely_gives_an_alarm() -> None:
    """At 1 % of false alarms eight of 200 are less probable than one in a thousand."""
    alarms = 0
    for seed in range(200):
        here = world(10, seed=seed)
        pair = here.seconds(BEFORE, noise=0.03), here.seconds(BEFORE, noise=0.03)
        alarms += comparison(here, *pair, seed=seed).moved_ is not None
    assert alarms < 8


def test_too_few_types_are_refused() -> None:
    here = world(8)
    found = comparison(here, here.seconds(BEFORE), here.seconds({"disk-0": 1.0}))
    assert found.moved_ is None and "8 types of hardware, 9 are needed" in found.refusal_


def test_equal_times_are_no_change() -> None:
    here = world(12)
    base = here.seconds(BEFORE)
    assert comparison(here, base, base).moved_ is None
