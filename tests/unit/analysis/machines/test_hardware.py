"""Machines of the same hardware are one, noise and gaps are masked, stressors that go together are told."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.machines.hardware import clusters_of, steady, types_of
from tests.unit.analysis.machines.hardware import GROUPS, MEMBERS, world


def test_machines_that_differ_by_less_than_five_percent_are_one_type() -> None:
    here = world(6)
    twice = np.vstack([here.rates, here.rates[2] * 1.03, here.rates[4] * 0.98])
    found = types_of(twice)
    assert [sorted(rows.tolist()) for rows in found.members] == [[0], [1], [2, 6], [3], [4, 7], [5]]
    assert found.merged(np.array([1.0, 1, 4, 1, 1, 1, 9, 1]))[2] == pytest.approx(6.0)


def test_a_stressor_that_one_machine_lacks_is_masked_on_all() -> None:
    rates = world(10).rates
    rates[3, 5] = np.nan
    found = types_of(rates)
    assert len(found.members) == 10 and 5 not in found.stressors and found.rates.shape == (10, 11)


def test_a_machine_that_lacks_most_stressors_is_left_out() -> None:
    rates = world(10).rates
    rates[3, :8] = np.nan
    found = types_of(rates)
    assert list(found.dropped) == [3] and found.rates.shape == (9, 12)


def test_a_machine_without_anything_in_common_is_no_other_ones_type() -> None:
    rates = world(4).rates
    rates[0, :6], rates[1, 6:] = np.nan, np.nan
    assert all(len(rows) == 1 for rows in types_of(rates).members)


def test_no_machine_is_no_type() -> None:
    found = types_of(np.empty((0, 5)))
    assert found.members == [] and found.rates.shape[0] == 0


def test_what_varies_by_more_than_ten_percent_is_left_out_and_what_gave_nothing_is_unknown() -> None:
    nan = float("nan")
    kept, unsteady = steady(
        {"cpu": np.array([9.0, 10.0, 9.5]), "vm": np.array([5.0, 9.0, 7.0]), "numa": np.array([nan, nan])}
    )
    assert kept == {"cpu": 9.5} and unsteady == ["vm"]


def test_stressors_of_a_group_are_a_cluster() -> None:
    codes = clusters_of(world(14, own=0.05).rates).reshape(len(GROUPS), MEMBERS)
    assert [len(set(row)) for row in codes.tolist()] == [1] * len(GROUPS)
    assert len(set(codes[:, 0].tolist())) == len(GROUPS)


def test_a_stressor_that_is_equal_everywhere_is_alone() -> None:
    rates = world(10, own=0.05).rates
    rates[:, 0] = 7.0
    codes = clusters_of(rates).tolist()
    assert codes.count(codes[0]) == 1
