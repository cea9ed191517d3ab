"""The published profile: what it finds, and why its comparison gates nothing."""

from __future__ import annotations

import numpy as np

from bot.analysis.published.utilisation import PublishedProfile, ranked_difference
from tests.unit.analysis.machines.hardware import STRESSORS, world


def test_what_a_program_waits_for_has_the_largest_importance() -> None:
    here = world(16)
    found = PublishedProfile(seeds=range(4)).fit(here.rates, here.seconds({"disk-1": 1.0}))
    assert STRESSORS[int(found.importances_.argmax())].startswith("disk")
    assert found.importances_.max() == 100 and found.by_seed_.shape == (4, 12)


def test_seeds_are_fixed() -> None:
    here = world(10)
    seconds = here.seconds({"kernel-1": 1.0})
    one, two = (PublishedProfile(seeds=range(3)).fit(here.rates, seconds) for _ in range(2))
    assert (one.importances_ == two.importances_).all()


def test_trees_that_overfit_are_seen_by_the_machines_left_out() -> None:
    noise = np.exp(np.random.default_rng(1).normal(0, 0.5, 12))
    found = PublishedProfile(seeds=range(2)).fit(world(12).rates, noise)
    assert found.own_error_ < 0.05 < 0.2 < found.error_


def test_the_ranked_comparison_stops_at_the_first_feature_that_differs() -> None:
    base, head = np.array([5.0, 100.0, 60.0, 40.0]), np.array([50.0, 95.0, 75.0, 0.0])
    assert ranked_difference(base, head) == 2
    assert ranked_difference(base, head, epsilon=15) == 3
    assert ranked_difference(base, head, epsilon=50) is None
    assert ranked_difference(base, head, epsilon=42, most=None) == 0
