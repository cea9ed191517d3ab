"""Names where all valid configurations of a small space were measured."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.diagnose import Judgement
from bot.analysis.exhausted import exhausted
from bot.model.space import Option, Space, Term
from tests.unit.analysis.worlds import estimator, feed, flags, planted, sample

CHOICE = Space((Option("mode", "choice", ("a", "b", "c", "d", "e"), "a"),))


def judged(space: Space, effects: dict[Term, float], *, seed: int = 0, count: int = 99) -> Judgement:
    rng = np.random.default_rng(seed)
    known = sample(space, count, rng)
    truth = planted(space, effects, known)
    return feed(estimator(space, known), {"cpu": truth}, rounds=40, rng=rng, noise=0.012).judge()


@pytest.mark.parametrize(
    ("space", "term", "size"),
    [
        (flags(1), ("!a",), -0.04),
        (flags(1), ("a",), 0.03),
        (CHOICE, ("mode=b",), 0.04),
        (flags(2), ("!b", "a"), 0.2),
        (flags(3), ("a", "b"), 0.15),
        (flags(3), ("a", "b", "c"), -0.3),
    ],
)
def test_what_just_these_configurations_hold_is_named_though_they_are_few(
    space: Space, term: Term, size: float
) -> None:
    found = judged(space, {term: size})
    (effect,) = found.options
    assert effect.term == term and effect.significant and effect.probability > 0.9
    assert effect.interval[0] < effect.ratio < effect.interval[1]
    assert effect.ratio == pytest.approx(np.exp(size), abs=0.01)
    assert not any("single out" in note for note in found.notes)


@pytest.mark.parametrize("seed", range(4))
def test_a_small_change_of_two_options_is_not_told_as_one_of_them(seed: int) -> None:
    space, rng = flags(3), np.random.default_rng(seed)
    known = sample(space, 8, rng)
    truth = planted(space, {("a", "b"): 0.03}, known)
    found = feed(estimator(space, known), {"cpu": truth}, rounds=15, rng=rng, noise=1e-5).judge()
    assert [effect.term for effect in found.options] == [("a", "b")]


def test_a_change_that_no_term_of_three_levels_holds_stays_without_a_name() -> None:
    either: dict[Term, float] = {("!a", "!b"): 0.2, ("a", "b"): 0.2}
    found = judged(flags(2), either)
    assert found.verdict == "regression" and found.options == ()


def test_nothing_is_named_where_nothing_changed() -> None:
    for space in (flags(1), flags(2), flags(3), CHOICE):
        assert all(judged(space, {}, seed=seed).options == () for seed in range(8))


def test_all_valid_configurations_are_those_that_no_constraint_forbids() -> None:
    space, known = flags(2), [(False, False), (False, True), (True, True)]

    def possible(term: Term) -> bool:
        return term != ("!b", "a")

    assert exhausted(space, known, possible) and not exhausted(space, known, None)
    assert not exhausted(space, known[1:], possible)
    assert not exhausted(flags(7), sample(flags(7), 128, np.random.default_rng(0)), None)
