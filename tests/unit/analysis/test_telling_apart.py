"""A certain change without a sure name: who may carry it, and what would tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bot.analysis.diagnose import PairedEstimator
from bot.analysis.telling_apart import Doubt, doubt, telling
from bot.model.space import Configuration, Space, Term
from tests.unit.analysis.worlds import estimator, feed, flags, holds, mixed, sample

MARGIN = 0.01


def doubtful(
    space: Space,
    configurations: Sequence[Configuration],
    term: Term,
    *,
    size: float = 0.2,
    noise: float = 0.004,
) -> Doubt | None:
    """After a few pairs of this noise, where nothing has a name; base takes a second everywhere."""
    n = len(configurations)
    harm = size * holds(space, term, configurations) + noise * np.random.default_rng(1).standard_normal(n)
    return doubt(
        space, configurations, harm, np.full(n, noise**2), base=np.ones(n), margin=MARGIN, scale=2 * noise
    )


@pytest.mark.parametrize(
    "term", [("a",), ("a", "b"), ("!a", "b"), ("a", "b", "c"), ("a", "level>=6", "mode=safe")]
)
def test_the_guilty_term_is_among_those_that_may_carry_the_change(term: Term) -> None:
    space = mixed()
    configurations = sample(space, 24, np.random.default_rng(2))
    found = doubtful(space, configurations, term)
    assert found is not None
    assert space.carries(term, found.changed)
    assert not any(space.carries(term, c) for c in found.spared)
    assert term in found.terms
    assert found.chances[found.terms.index(term)] > 0.01


def test_where_nothing_surely_changed_or_everything_did_nobody_is_asked_for() -> None:
    space = flags(5)
    configurations = sample(space, 16, np.random.default_rng(3))
    assert doubtful(space, configurations, ("a",), size=0.0) is None
    assert doubtful(space, configurations, ()) is None


def test_a_change_that_is_small_beside_the_noise_takes_more_pairs_to_see() -> None:
    space = flags(5)
    configurations = sample(space, 16, np.random.default_rng(4))
    large = doubtful(space, configurations, ("a", "b"))
    small = doubtful(space, configurations, ("a", "b"), size=0.06, noise=0.01)
    assert large is not None and small is not None
    assert large.pairs < small.pairs


def test_what_is_asked_for_splits_the_likely_terms_and_three_tell_up_to_eight_groups() -> None:
    space = flags(6)
    configurations = [(True,) * 6, (False,) * 6, *sample(space, 6, np.random.default_rng(5))]
    found = doubtful(space, configurations, ("a", "b", "c"))
    assert found is not None
    pool = sample(space, 64, np.random.default_rng(6))
    chosen = telling(found, space, pool, most=3, least=0.1)
    assert len(set(chosen)) == len(chosen) <= 3
    first = np.array([space.carries(term, pool[chosen[0]]) for term in found.terms])
    share = float(found.chances @ first / found.chances.sum())
    assert 0.2 < share < 0.8


def test_nothing_is_asked_for_that_tells_nothing() -> None:
    space = flags(6)
    configurations = sample(space, 16, np.random.default_rng(7))
    found = doubtful(space, configurations, ("a", "b"))
    assert found is not None
    assert telling(found, space, [(True,) * 6], most=3, least=0.1) == []
    assert telling(found, space, [], most=3, least=0.1) == []


def measured(found: PairedEstimator, places: range, rounds: int, slower: float) -> PairedEstimator:
    """Rounds of pairs in some configurations; those with `a` are so much slower."""
    rng = np.random.default_rng(8)
    for _ in range(rounds):
        for i in places:
            size = slower if found.configurations[i][0] else 0.0
            found.partial_fit(i, {"cpu": float(size + 0.01 * rng.standard_normal())})
    return found


def test_a_sure_name_leaves_no_doubt() -> None:
    space = flags(5)
    found = measured(estimator(space, sample(space, 16, np.random.default_rng(8))), range(16), 8, 0.2)
    assert [effect.term for effect in found.judge().options] == [("a",)]
    assert found.doubt() is None


def test_a_name_is_doubted_while_a_longer_term_fits_the_same_configurations() -> None:
    space, rng = flags(6), np.random.default_rng(9)
    every = sample(space, 64, rng)
    # All that holds the pair holds c as well.
    configurations = [c for c in every if c[2] or not (c[0] and c[1])][:32]
    found = feed(
        estimator(space, configurations),
        {"cpu": np.where(holds(space, ("a", "b"), configurations), 0.2, 0.0)},
        rounds=6,
        rng=rng,
        noise=0.005,
    )
    assert [effect.term for effect in found.judge().options] == [("a", "b")]
    doubted = found.doubt()
    assert doubted is not None
    assert doubted.terms[0] == ("a", "b")
    assert ("a", "b", "c") in doubted.terms
    [chosen] = telling(doubted, space, [(True, True, False, True, True, True)], most=3, least=0.1)
    assert chosen == 0


def test_what_is_added_because_of_what_was_seen_proves_nothing() -> None:
    space = flags(5)
    every = sample(space, 32, np.random.default_rng(8))
    found = measured(estimator(space, every[:16]), range(16), 8, 0.0).extend(every[16:])
    measured(found, range(16, 32), 20, 0.5)
    assert not found.alarmed_
    assert found.judge().verdict == "none"
    assert found.doubt() is None
