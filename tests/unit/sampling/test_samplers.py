"""What every sampling strategy promises, and what each promises of its own."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.covering import CoveringSampler, pair_wise, three_wise
from bot.sampling.distance import distance_based
from bot.sampling.feature_wise import feature_wise
from bot.sampling.negative_feature_wise import negative_feature_wise
from bot.sampling.one_hot import OneHot
from bot.sampling.plackett_burman import PRIMES, design, plackett_burman, seed
from bot.sampling.pull_request import pull_request_sample
from bot.sampling.random_uniform import random_uniform
from bot.sampling.sampler import SamplingStrategy
from tests.unit.sampling.spaces import MIXED, choice, flag, flags, number, spaces

STRATEGIES: dict[str, SamplingStrategy] = {
    "feature-wise": feature_wise,
    "negative feature-wise": negative_feature_wise,
    "pair-wise": pair_wise,
    "three-wise": three_wise,
    "distance-based": distance_based,
    "random": random_uniform,
    "Plackett-Burman": plackett_burman,
}


def sample(
    strategy: SamplingStrategy, space: Space, count: int | None = None, *, start: int = 0
) -> list[Configuration]:
    return strategy(space, ConstraintSolver(space), count, rng=np.random.default_rng(start))


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=25, deadline=None)
@given(space=spaces(), count=st.one_of(st.none(), st.integers(1, 30)), start=st.integers(0, 1000))
def test_samples_are_valid_distinct_seeded_and_no_larger_than_asked(
    name: str, space: Space, count: int | None, start: int
) -> None:
    strategy = STRATEGIES[name]
    found = sample(strategy, space, count, start=start)
    asked = ConstraintSolver(space)
    assert all(asked.valid(c) for c in found)
    assert len(set(found)) == len(found) > 0
    assert count is None or len(found) <= count
    assert found == sample(strategy, space, count, start=start)


def test_feature_wise_enables_each_option_once_and_alone() -> None:
    found = sample(feature_wise, flags(6))
    assert sorted(c.count(True) for c in found) == [1] * 6
    assert len(found) == 6
    mixed = sample(feature_wise, MIXED)
    for i, option in enumerate(MIXED.options):
        assert {c[i] for c in mixed} == set(option.values)


def test_negative_feature_wise_leaves_each_option_out_once() -> None:
    found = sample(negative_feature_wise, flags(6))
    assert sorted(c.count(False) for c in found) == [1] * 6
    assert len(found) == 6


@pytest.mark.parametrize("t", [2, 3])
@settings(max_examples=20, deadline=None)
@given(space=spaces(), start=st.integers(0, 1000))
def test_covering_samples_hold_every_possible_combination(t: int, space: Space, start: int) -> None:
    asked = ConstraintSolver(space)
    valid = asked.configurations(100_000)
    assert valid is not None
    found = CoveringSampler(t)(space, asked, None, rng=np.random.default_rng(start))
    for places in itertools.combinations(range(len(space.options)), min(t, len(space.options))):
        possible = {tuple(c[i] for i in places) for c in valid}
        assert {tuple(c[i] for i in places) for c in found} == possible


def test_covering_samples_are_small() -> None:
    assert len(sample(pair_wise, flags(20))) <= 16
    assert len(sample(three_wise, flags(10))) <= 28


def test_a_table_of_combinations_that_would_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        sample(three_wise, flags(600))


@pytest.mark.parametrize(("levels", "r"), [(3, 2), (3, 3), (3, 4), (5, 2), (5, 3), (7, 2)])
def test_designs_hold_every_pair_of_levels_equally_often_in_any_two_columns(levels: int, r: int) -> None:
    factors = (levels**r - 1) // (levels - 1)
    rows = design(factors, levels)
    assert rows.shape == (levels**r, factors)
    for a, b in itertools.combinations(range(factors), 2):
        assert set(Counter(zip(rows[:, a], rows[:, b], strict=True)).values()) == {levels ** (r - 2)}
        assert len(set(zip(rows[:, a], rows[:, b], strict=True))) == levels**2


def test_seeds_are_as_long_as_their_period_and_balanced() -> None:
    for levels in PRIMES:
        counts = Counter(seed(levels, 2).tolist())
        assert counts.pop(0) == levels - 1
        assert set(counts.values()) == {levels}


def test_designs_without_factors_or_with_unknown_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="no design"):
        design(0, 3)
    with pytest.raises(ValueError, match="no design"):
        design(3, 4)


def test_plackett_burman_measures_numbers_end_to_end_in_each_background() -> None:
    space = Space((flag("f"), number("n", 0, 3, 6, 9), number("m", *range(1, 12))))
    backgrounds = [(False, 0, 1), (True, 0, 1)]
    found = plackett_burman(
        space, ConstraintSolver(space), None, rng=np.random.default_rng(0), binary=backgrounds
    )
    assert {c[1] for c in found} == {0, 3, 6, 9}
    assert {1, 11} < {c[2] for c in found}
    assert Counter(c[0] for c in found)[True] == len(found) / 2
    assert sample(plackett_burman, flags(3)) == [(False, False, False)]


def test_distances_are_spread_evenly_where_random_ones_crowd_the_middle() -> None:
    def ends(strategy: SamplingStrategy) -> int:
        return sum(not 5 <= c.count(True) <= 15 for c in sample(strategy, flags(20), 200))

    assert ends(distance_based) > 60  # 10 of 21 distances
    assert ends(random_uniform) < 20  # 1.2 % of a binomial distribution


def test_distance_based_selects_options_equally_often() -> None:
    found = sample(distance_based, flags(10), 40)
    on = np.array(found).sum(axis=0)
    assert on.max() - on.min() <= 8


def test_random_is_uniform_over_the_valid_configurations() -> None:
    # Drawing with constraints option by option would favour the configurations with `o0` off.
    space = Space((flag("o0"), *(flag(f"x{i}") for i in range(4))), ("o0 implies x0 and x1 and x2",))
    asked = ConstraintSolver(space)
    first = Counter(random_uniform(space, asked, 1, rng=np.random.default_rng(i))[0] for i in range(3600))
    assert len(first) == 18  # 16 without o0, 2 with it
    expected = 3600 / 18
    chi = sum((n - expected) ** 2 / expected for n in first.values())
    assert chi < 40.8  # 99.9 % of chi-square with 17 degrees of freedom


def test_random_gives_the_whole_space_when_asked_for_more() -> None:
    assert len(sample(random_uniform, flags(4), 100)) == 16
    assert len(sample(distance_based, flags(4), 100)) == 16


def exercised(space: Space, found: list[Configuration], times: int) -> float:
    """Share of the pairs of values of different options that occur in at least `times` configurations."""
    codes = OneHot(space)
    hot = np.zeros((len(found), codes.columns))
    for row, configuration in enumerate(found):
        hot[row, codes.encode(configuration)] = 1
    pairs = (hot.T @ hot)[codes.owner[:, None] < codes.owner[None, :]]
    return float((pairs >= times).mean())


@settings(max_examples=25, deadline=None)
@given(space=spaces(), count=st.integers(1, 40), start=st.integers(0, 1000))
def test_the_pull_request_sample_is_valid_distinct_seeded_and_begins_with_the_default(
    space: Space, count: int, start: int
) -> None:
    asked = ConstraintSolver(space)
    found = pull_request_sample(space, asked, count, rng=np.random.default_rng(start))
    valid = asked.configurations(100_000)
    assert valid is not None
    assert found[0] == asked.default()
    assert set(found) <= set(valid)
    assert len(set(found)) == len(found) == min(count, len(valid))
    again = pull_request_sample(space, ConstraintSolver(space), count, rng=np.random.default_rng(start))
    assert found == again


@settings(max_examples=15, deadline=None)
@given(space=spaces(), start=st.integers(0, 1000))
def test_the_pull_request_sample_exercises_every_possible_level_early(space: Space, start: int) -> None:
    asked = ConstraintSolver(space)
    found = pull_request_sample(space, asked, 24, rng=np.random.default_rng(start))
    for level in space.levels:
        if asked.possible((str(level),)):
            assert any(space.holds(level, c) for c in found)


@pytest.mark.parametrize("options", [8, 13, 20])
def test_every_prefix_has_each_flag_on_in_about_half_of_its_configurations(options: int) -> None:
    space = flags(options)
    found = pull_request_sample(space, ConstraintSolver(space), 48, rng=np.random.default_rng(3))
    for length in (8, 12, 16, 24, 48):
        on = np.array(found[:length]).mean(axis=0)
        assert on.min() >= 0.2
        assert on.max() <= 0.8
    assert np.array(found).mean(axis=0).min() >= 0.45


def test_pairs_reach_three_configurations_earlier_than_by_chance() -> None:
    space = flags(13)
    ours = pull_request_sample(space, ConstraintSolver(space), 24, rng=np.random.default_rng(0))
    chance = sample(random_uniform, space, 24)
    assert exercised(space, ours[:16], 3) > 0.93 > exercised(space, chance[:16], 3)
    assert exercised(space, ours, 3) == 1


def test_a_long_choice_does_not_starve_the_other_options() -> None:
    options: list[Option] = [flag(f"f{i}") for i in range(6)]
    space = Space((*options, choice("c", *"abcdefgh"), number("n", 1, 2, 3)))
    found = pull_request_sample(space, ConstraintSolver(space), 48, rng=np.random.default_rng(0))
    assert exercised(space, found, 1) == 1
    assert exercised(space, found, 3) > 0.75


def test_constraints_that_bind_every_option_still_give_a_full_sample() -> None:
    chain = tuple(f"o{i + 1} implies o{i}" for i in range(29))
    space = Space(flags(30).options, chain)
    asked = ConstraintSolver(space)
    assert len(pull_request_sample(space, asked, 100, rng=np.random.default_rng(0))) == 31


def test_a_constrained_space_too_large_to_list_gives_valid_and_distinct_configurations() -> None:
    rng = np.random.default_rng(7)
    names = [f"o{i}" for i in range(80)]
    allowed = [f"{names[a]} implies {names[b]}" for a, b in np.sort(rng.integers(0, 80, (60, 2)), axis=1)]
    space = Space(tuple(flag(n) for n in names), tuple(allowed))
    asked = ConstraintSolver(space)
    assert asked.size(10_000) is None
    found = pull_request_sample(space, asked, 25, rng=np.random.default_rng(0))
    assert len(set(found)) == 25
    assert all(asked.valid(c) for c in found)


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_option_that_can_never_be_on_does_not_empty_the_sample(name: str) -> None:
    space = Space((Option("never", "flag", (False, True), default=False),), ("not never",))
    assert sample(STRATEGIES[name], space) == [(False,)]
