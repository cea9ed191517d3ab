"""Profiles find what a program's time goes with, and refuse where it cannot be known."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.machines.alternatives import Factors, by_class
from bot.analysis.machines.profile import UtilisationProfile, summed
from bot.analysis.machines.pursuit import MOST, pursue
from tests.unit.analysis.machines.hardware import STRESSORS, World, world


def profile(here: World, seconds: np.ndarray) -> UtilisationProfile:
    return UtilisationProfile(draws=40).fit(here.rates, seconds, rng=np.random.default_rng(1))


def test_shares_of_the_time_are_found() -> None:
    here = world()
    found = profile(here, here.seconds({"memory-1": 0.7, "disk-2": 0.3}))
    assert found.refusal_ == "" and found.fitting_ == ""
    shares = dict(zip(STRESSORS, found.shares_, strict=True))
    assert shares["memory-1"] == pytest.approx(0.7, abs=0.1)
    assert shares["disk-2"] == pytest.approx(0.3, abs=0.1)
    assert found.shares_.sum() == pytest.approx(1) and found.cluster_shares_.sum() == pytest.approx(1)


def test_the_interval_of_a_clusters_share_has_the_truth() -> None:
    here = world(own=0.05)
    found = profile(here, here.seconds({"memory-1": 0.7, "disk-2": 0.3}, noise=0.02))
    code = found.clusters_[STRESSORS.index("memory-1")]
    low, high = found.intervals_[code]
    assert low <= 0.7 <= high and high - low < 0.5


def test_the_right_stressor_and_its_group_are_first_nearly_always() -> None:
    """Right by chance would be one in twelve, and one in four."""
    rng, first, group = np.random.default_rng(8), 0, 0
    for seed in range(20):
        here, name = world(10, seed=seed), str(rng.choice(STRESSORS))
        found = profile(here, here.seconds({name: 0.8, str(rng.choice(STRESSORS)): 0.2}, noise=0.03))
        best = STRESSORS[int(found.shares_.argmax())]
        first += best == name
        group += best[:-1] == name[:-1]
    assert group >= 19 and first >= 15


def test_fewer_than_nine_types_are_refused_however_many_machines_there_are() -> None:
    here = world(8)
    seconds = here.seconds({"memory-1": 1.0})
    often = World(np.vstack([here.rates] * 3), here.rng)
    found = profile(often, np.tile(seconds, 3))
    assert "8 types of hardware are known, 9 are needed" in found.refusal_ and not found.shares_.any()


def test_times_that_no_stressor_describes_are_refused_as_underfitting() -> None:
    here = world(14)
    found = profile(here, np.exp(np.random.default_rng(4).normal(0, 0.9, 14)))
    assert found.refusal_ and found.fitting_ in {"under", "over"}


def test_a_fit_that_does_not_reach_new_hardware_is_overfitting() -> None:
    """Of noise on nine machines, some stressors of twelve describe a part: of these, and of no others."""
    seen = []
    for seed in range(10):
        here = world(9, seed=seed, own=0.3)
        seen.append(profile(here, np.exp(here.rng.normal(0, 0.25, 9))))
    over = [found for found in seen if found.fitting_ == "over"]
    assert over and all(found.own_error_ <= 0.15 < found.error_ for found in over)
    assert all("and no other" in found.refusal_ for found in over)
    assert all(found.refusal_ for found in seen)


def test_a_program_that_takes_as_long_everywhere_has_no_profile() -> None:
    found = profile(world(), np.exp(np.random.default_rng(2).normal(0, 0.01, 12)))
    assert "takes as long on every machine" in found.refusal_ and found.fitting_ == "under"


def test_the_same_generator_gives_the_same_profile() -> None:
    here = world()
    seconds = here.seconds({"kernel-0": 0.5, "compute-0": 0.5})
    assert (profile(here, seconds).intervals_ == profile(here, seconds).intervals_).all()


def test_a_pursuit_takes_no_more_stressors_than_it_needs() -> None:
    here = world(12)
    work = 1 / here.rates
    one = pursue(work, work[:, 4] * 2)
    assert np.flatnonzero(one).tolist() == [4] and one[4] == pytest.approx(2)
    three = pursue(work, work[:, [0, 4, 9]] @ (1 / work[:, [0, 4, 9]].mean(axis=0)))
    assert np.flatnonzero(three).tolist() == [0, 4, 9]
    assert np.count_nonzero(pursue(work, np.exp(here.rng.normal(0, 1, 12)))) <= MOST


def test_two_columns_that_are_one_are_not_both_taken() -> None:
    work = np.repeat(1 / world(12).rates[:, :3], 2, axis=1)
    assert np.count_nonzero(pursue(work, work[:, 0] + work[:, 2] / work[:, 2].mean())) <= 2


def test_classes_share_stressors_that_are_in_several() -> None:
    found = by_class({"stream": 0.5, "msync": 0.5})
    assert found == {"vm": 0.5, "cpu": 0.25, "memory": 0.25}


def test_factors_are_fewer_than_stressors_and_go_with_their_programs() -> None:
    here = world(14, own=0.05)
    found = Factors().fit(here.rates, here.seconds({"disk-0": 1.0}))
    assert len(found.explained_) <= 5 and found.explained_.sum() >= 0.95
    disk = [abs(found.loadings_[:, STRESSORS.index(f"disk-{k}")]) @ abs(found.weights_) for k in range(3)]
    other = [abs(found.loadings_[:, j]) @ abs(found.weights_) for j in range(9)]
    assert min(disk) > np.median(other)
    assert all(len(name.split(", ")) == 3 for name in found.names(STRESSORS))


def test_shares_are_added_up_by_code() -> None:
    assert summed(np.array([0.5, 0.25, 0.25]), np.array([0, 1, 0])).tolist() == [0.75, 0.25]
