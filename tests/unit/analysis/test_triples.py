"""Several options lead through the same code: who uses none of them is spared, and is not told otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.candidates import candidates
from bot.analysis.judgement import Judgement
from bot.analysis.triples import MASS, with_triples
from bot.model.report import Effect
from bot.model.space import Configuration, Term
from tests.unit.analysis.worlds import estimator, flags, holds, never, sample

SPARED: Term = ("!a", "!b", "!c")
SPACE = flags(7)


def judged(moved: float, spared: float, *, seed: int, rounds: int = 3) -> Judgement:
    """Runs with any of a, b and c take 14 units, the others 6; these log ratios, a pair's noise is 2.5 %."""
    rng = np.random.default_rng(seed)
    configurations = sample(SPACE, 80, rng)
    untouched = holds(SPACE, SPARED, configurations)
    truth, seconds = np.where(untouched, spared, moved), np.where(untouched, 6.0, 14.0)
    found = estimator(SPACE, configurations)
    for _ in range(rounds):
        for i, (size, base) in enumerate(zip(truth, seconds, strict=True)):
            noise = 0.025 * rng.standard_normal()
            found.partial_fit(i, {"cpu": float(size + noise)}, {"cpu": float(base)})
    return found.judge()


def named(judgement: Judgement) -> dict[Term, Effect]:
    """By their terms."""
    return {effect.term: effect for effect in judgement.options}


@pytest.mark.parametrize("seed", range(4))
def test_what_all_but_the_plainest_gain_is_told_with_who_is_spared(seed: int) -> None:
    told = named(judged(-0.05, 0.0, seed=seed, rounds=5))
    assert set(told) == {()}
    low, high = told[()].interval
    assert low < np.exp(-0.05) < high
    assert told[()].spared == (SPARED,)


@pytest.mark.parametrize("seed", range(4))
def test_who_loses_what_all_others_gain_is_told_what_is_seen_there(seed: int) -> None:
    told = named(judged(-0.06, 0.06, seed=seed, rounds=6))
    assert set(told) == {(), SPARED}
    low, high = told[SPARED].interval
    assert low < np.exp(0.06) < high, "not the difference from all others, which is twice as much"
    assert told[()].spared == (SPARED,)
    assert told[()].ratio == pytest.approx(np.exp(-0.06), abs=0.012)


def test_who_gains_less_than_the_others_is_not_told_to_lose() -> None:
    assert set(named(judged(-0.12, -0.04, seed=1, rounds=6))) == {()}


def test_a_change_of_everything_spares_nobody() -> None:
    told = named(judged(0.05, 0.05, seed=2))
    assert set(told) == {()}
    assert told[()].spared == ()


def test_three_levels_are_tried_at_the_prior_of_all_that_could_be() -> None:
    configurations = sample(SPACE, 80, np.random.default_rng(3))
    location = np.where(holds(SPACE, SPARED, configurations), 0.1, 0.0)
    plain = candidates(SPACE, configurations, never)
    found = with_triples(plain, SPACE, configurations, location, np.full(80, 1e-4))
    new = [i for i, kind in enumerate(found.kinds) if kind == "triple"]
    assert SPARED in [found.terms[i] for i in new]
    assert all(len(found.terms[i]) == 3 for i in new)
    assert found.prior[new].sum() < MASS
    assert found.prior[: len(plain.terms)] == pytest.approx(plain.prior * (1 - MASS))
    assert [found.told(i).term for i in new] == [found.terms[i] for i in new]


def test_without_three_options_there_is_no_third_level() -> None:
    configurations: list[Configuration] = [(a, b) for a in (False, True) for b in (False, True)]
    plain = candidates(flags(2), configurations, never)
    assert with_triples(plain, flags(2), configurations, np.zeros(4), np.ones(4)) is plain


def test_three_levels_that_the_sample_cannot_tell_apart_are_told_as_such() -> None:
    rng = np.random.default_rng(4)
    configurations = [c for c in sample(SPACE, 128, rng) if c[2] == c[3]]
    location = np.where(holds(SPACE, ("a", "b", "c"), configurations), 0.1, 0.0)
    plain = candidates(SPACE, configurations, never)
    n = len(configurations)
    found = with_triples(plain, SPACE, configurations, location, np.full(n, 1e-4))
    (told,) = (found.told(i) for i, term in enumerate(found.terms) if term == ("a", "b", "c"))
    assert [term for term, _ in told.alike] == [("a", "b", "d")]
    assert told.share == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_amount_in_everything_is_told_by_those_whom_nothing_spares(
    seed: int,
) -> None:
    """What every start takes longer is a share of the cheap runs; those of `a` take 20 times as long."""
    rng = np.random.default_rng(seed)
    configurations = sample(SPACE, 80, rng)
    dear = holds(SPACE, ("a",), configurations)
    truth, seconds = np.where(dear, -0.05, 0.04), np.where(dear, 20.0, 1.0) * rng.uniform(0.9, 1.1, len(dear))
    found = estimator(SPACE, configurations)
    for _ in range(4):
        for i, (size, base) in enumerate(zip(truth, seconds, strict=True)):
            found.partial_fit(i, {"cpu": float(size + 0.02 * rng.standard_normal())}, {"cpu": float(base)})
    told = named(found.judge())
    assert set(told) in ({(), ("a",)}, {("!a",), ("a",)})
    if () in told:
        assert told[()].spared == (("a",),)
        assert ("!a",) not in told[()].aliases, "which says the same"
    low, high = next(effect for term, effect in told.items() if term != ("a",)).interval
    assert low < np.exp(0.04) < high


def test_where_the_middle_of_those_not_spared_is_not_worth_telling_their_mean_is_told() -> None:
    rng = np.random.default_rng(0)
    space = flags(5)
    configurations = sample(space, 32, rng)
    seconds = np.where(holds(space, ("b",), configurations), 1.0, 3.2)
    truth = np.log1p(0.027 / seconds) * ~holds(space, ("a", "b"), configurations)
    found = estimator(space, configurations)
    for _ in range(8):
        for i, (size, base) in enumerate(zip(truth, seconds, strict=True)):
            noise = 0.003 * rng.standard_t(5)
            found.partial_fit(i, {"cpu": float(size + noise)}, {"cpu": float(base)})
    told = named(found.judge())
    assert told[()].spared == (("a", "b"),)
    mean = np.exp(truth[truth > 0.0].mean())
    assert told[()].ratio == pytest.approx(mean, abs=0.002), "the middle one is +0.8 %, of a 1 % threshold"
