"""Our search for change points where what changed soon passes, and where noise could pass for changes."""

from __future__ import annotations

import pytest

from tests.unit.flows.change_points.test_search import Multiplied, Steps, flags, search, told


@pytest.mark.parametrize("seed", range(6))
def test_ten_revisions_in_which_one_option_was_slower_are_found(seed: int) -> None:
    steps: Steps = {(170, ("o6",)): 0.12, (180, ("o6",)): -0.107}
    found = search(Multiplied(flags(10), steps, spread=1.6, seed=seed))
    assert told(found) == set(steps)
    assert {point.shape for point in found} == {"transient"}


@pytest.mark.parametrize("at", [8, 282])
def test_what_soon_passed_is_found_near_the_ends_of_the_range_too(at: int) -> None:
    steps: Steps = {(at, ()): -0.18, (at + 8, ()): 0.22}
    assert told(search(Multiplied(flags(10), steps, spread=1.6, seed=1), trials=1500)) == set(steps)


@pytest.mark.parametrize("seed", [3, 8, 10, 11, 13])
def test_no_trials_are_spent_on_noise_where_options_make_a_program_take_a_million_times_as_long(
    seed: int,
) -> None:
    steps: Steps = {(40, ()): 0.25, (110, ("o6",)): 0.35, (160, ()): -0.2, (230, ("o1",)): 0.3}
    system = Multiplied(flags(8), steps, spread=20.0, seed=seed)
    assert told(search(system)) == set(steps)
    assert len(system.asked) < 1500
