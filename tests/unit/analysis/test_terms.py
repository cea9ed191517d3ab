"""Which terms carry a change."""

from itertools import product

import numpy as np
import pytest

from bot.analysis.candidates import Candidates, candidates
from bot.analysis.search import best_start
from bot.analysis.terms import TermFit, credible, single_effects
from bot.model.space import Option, Space, Term
from tests.unit.analysis.worlds import holds, mixed, never, planted, sample

N = 48


def fit(effects: dict[Term, float], *, seed: int = 0, error: float = 0.006) -> tuple[Candidates, TermFit]:
    rng = np.random.default_rng(seed)
    space = mixed()
    configurations = sample(space, N, rng)
    truth = planted(space, effects, configurations)
    found = candidates(space, configurations, never)
    return found, single_effects(found, truth + error * rng.standard_normal(N), np.full(N, error**2))


def named(found: Candidates, result: TermFit) -> set[Term]:
    return {found.terms[e.top] for e in result.effects if e.presence * e.posterior[e.top] > 0.5}


@pytest.mark.parametrize(
    "effects",
    [
        {(): 0.05},
        {("a",): 0.05},
        {("!b",): -0.05},
        {("level>=6",): 0.05},
        {("a", "mode=safe"): 0.07},
        {("a",): 0.05, ("b",): 0.05},
        {("!a",): 0.05, ("c",): 0.05},
        {("a",): 0.05, ("b",): -0.05, ("c", "d"): 0.08},
        {("a",): 0.5, ("c",): 0.04},
    ],
)
def test_planted_terms_are_named_and_no_other(effects: dict[Term, float]) -> None:
    found, result = fit(effects)
    assert named(found, result) == set(effects)


def test_nothing_is_named_where_nothing_was_planted() -> None:
    assert [named(*fit({}, seed=seed)) for seed in range(10)] == [set()] * 10


def test_a_small_shift_of_everything_is_not_an_effect() -> None:
    found, result = fit({(): 0.004})
    assert named(found, result) == set()
    assert result.shift == pytest.approx(0.004, abs=0.002)


def test_the_size_of_an_effect_lies_in_its_interval_nine_times_in_ten() -> None:
    inside = []
    for seed in range(40):
        _, result = fit({("a",): 0.05}, seed=seed)
        low, high = result.effects[0].interval
        inside.append(low <= 0.05 <= high)
    assert np.mean(inside) >= 0.85


def test_an_uneven_effect_is_still_one_effect() -> None:
    rng = np.random.default_rng(3)
    space = mixed()
    configurations = sample(space, N, rng)
    cover = holds(space, ("a",), configurations)
    truth = np.asarray(cover * 0.05 * (1 + 0.4 * rng.standard_normal(N)), dtype=np.float64)
    found = candidates(space, configurations, never)
    result = single_effects(found, truth, np.full(N, 0.004**2))
    assert named(found, result) == {("a",)}


def test_unmeasured_configurations_are_left_out() -> None:
    rng = np.random.default_rng(4)
    space = mixed()
    configurations = sample(space, N, rng)
    truth = planted(space, {("a",): 0.05}, configurations)
    variance = np.where(np.arange(N) % 3 == 0, np.inf, 0.005**2)
    truth[::3] = 9.0
    found = candidates(space, configurations, never)
    assert named(found, single_effects(found, truth, variance)) == {("a",)}


def test_two_options_are_preferred_to_everything_and_a_pair() -> None:
    rng = np.random.default_rng(5)
    space = mixed()
    configurations = sample(space, N, rng)
    truth = planted(space, {("a",): 0.05, ("b",): 0.05}, configurations)
    found = candidates(space, configurations, never)
    chosen, _ = best_start(
        found.covers.astype(float),
        np.log(found.prior),
        truth + 0.004 * rng.standard_normal(N),
        variance=np.full(N, 0.004**2),
        most=4,
    )
    assert {found.terms[k] for k, _ in chosen} == {("a",), ("b",)}


def test_the_credible_set_is_the_smallest_with_its_mass() -> None:
    assert credible(np.array([0.02, 0.7, 0.27, 0.01])) == [1, 2]
    assert credible(np.array([1.0])) == [0]


def test_terms_that_add_up_to_others_are_solved_however_sure_the_pairs_are() -> None:
    """As after 100,000 pairs: with `a`, `!a` and everything in one sum the equations were singular."""
    rng = np.random.default_rng(34)
    space = mixed()
    configurations = sample(space, 96, rng)
    level = str(space.levels[4])
    truth = planted(space, {(level,): 0.02}, configurations)
    found = candidates(space, configurations, never)
    location = truth + 1e-7 * rng.standard_normal(96)
    variance = np.full(96, 1e-14)
    sums, _ = best_start(
        found.covers.astype(np.float64), np.log(found.prior), location, variance=variance, most=4
    )
    assert (level,) in {found.terms[k] for k, _ in sums}


@pytest.mark.parametrize("change", [0.0, 0.2])
def test_a_single_configuration_is_no_reason_to_fail(change: float) -> None:
    space = Space(tuple(Option(name, "flag", (False, True), False) for name in "abc"))
    found = candidates(space, list(product((False, True), repeat=3)), never)
    variance = np.array([0.01**2, *[np.inf] * 7])
    result = single_effects(found, np.array([change, *[0.0] * 7]), variance)
    assert all(effect.interval[0] <= effect.size <= effect.interval[1] for effect in result.effects)
    assert result.fitted[0] == pytest.approx(change, abs=0.02)
