"""What history changes in a decision, and what it can not: bounded, whatever it says."""

from collections.abc import Sequence

import numpy as np
import pytest

from bot.analysis.candidates import Candidates, candidates
from bot.analysis.diagnose import PairedEstimator
from bot.analysis.experience import KIN, MOST_SIZES, MOST_WEIGHT, Expected, Experience
from bot.analysis.pairs import scales, trust
from bot.analysis.past_changes import PastChange
from bot.analysis.past_steps import CHANGES
from bot.model.space import Configuration
from tests.unit.analysis.worlds import CPU, feed, flags, mixed, never, planted, sample

SPACE = flags(6)


def hot(*terms: tuple[str, ...], times: int = 3, revisions: int = 20) -> Expected:
    changes = [PastChange(i, i - 1, 0.05, {term: 1.0}) for i in range(1, times + 1) for term in terms]
    return Expected(tuple(changes), revisions)


def prior_of(found: Candidates) -> dict[tuple[str, ...], float]:
    return {t: m for group in found.groups for t, m in zip(group.terms, group.masses, strict=True)}


def grid(rng: np.random.Generator, count: int = 32) -> tuple[list[Configuration], Candidates]:
    chosen = sample(SPACE, count, rng)
    return chosen, candidates(SPACE, chosen, never)


def test_what_changed_often_is_likelier_and_nothing_becomes_impossible() -> None:
    _, found = grid(np.random.default_rng(0))
    informed = hot(("a",), ("b", "c")).informed(found, SPACE)
    before, after = prior_of(found), prior_of(informed)
    assert informed.prior.sum() == pytest.approx(1.0)
    assert informed.prior == pytest.approx([sum(group.masses) for group in informed.groups])
    assert after["a",] > 3 * before["a",] and after["b", "c"] > 10 * before["b", "c"]
    assert all(after[term] >= (1 - MOST_WEIGHT) * before[term] - 1e-12 for term in before)
    assert after["b",] / before["b",] > after["f",] / before["f",]  # kin of a pair that changes


def test_options_whose_changes_take_other_terms_each_time_speak_for_their_other_terms() -> None:
    _, found = grid(np.random.default_rng(0))
    partners = "bcdef"
    same = hot(("a", "b"), times=5)
    other = Expected(
        tuple(PastChange(i, i - 1, 0.05, {("a", p): 1.0}) for i, p in enumerate(partners, 1)), 20
    )
    assert same.kin(SPACE) == pytest.approx(1 / 8) and other.kin(SPACE) == pytest.approx(5 / 8)
    assert Expected().kin(SPACE) == hot((), times=9).kin(SPACE) == KIN
    before, repeating, wandering = (
        prior_of(c) for c in (found, *(e.informed(found, SPACE) for e in (same, other)))
    )
    assert wandering["!d", "a"] > repeating["!d", "a"] and wandering["a",] > before["a",]
    assert repeating["a", "b"] > wandering["a", "b"] > before["a", "b"]


def test_the_weight_of_history_grows_with_the_changes_it_knows_up_to_a_bound() -> None:
    weights = [hot(("a",), times=n).weight for n in range(30)]
    assert weights[0] == 0.0 and weights == sorted(weights)
    assert weights[2] == pytest.approx(2 / (2 + CHANGES)) and weights[-1] == MOST_WEIGHT


def test_without_known_changes_the_prior_stays_as_it_is() -> None:
    _, found = grid(np.random.default_rng(0))
    assert Expected().informed(found, SPACE) is found
    elsewhere = Expected((PastChange(1, 0, 0.1, {("no such", "term"): 1.0}),), 10)
    space_without = candidates(flags(6), [(False,) * 6, (True,) * 6], never)
    with pytest.raises(KeyError):  # terms of the past are terms of today's options
        elsewhere.informed(space_without, SPACE)


def test_the_rate_is_that_of_the_past_once_there_is_one() -> None:
    assert Expected().rate == pytest.approx(0.05)
    assert hot(("a",), times=50, revisions=500).rate == pytest.approx(0.1, abs=0.01)
    assert Expected((), 1000).rate < 0.01


def test_what_surely_changed_and_holds_seldom_is_rare_the_most_often_changed_first() -> None:
    changes = [("a",), ("level>=6",), ("mode=safe",), ("a", "level=3"), ("a", "level=3")] * 2 + [("b", "c")]
    found = Experience({"cpu": hot(*changes, times=1), "wall": hot(("mode=safe",), times=3)})
    assert found.rare(mixed()) == (("a", "level=3"), ("mode=safe",), ("b", "c"))


def test_what_may_have_changed_is_not_exercised() -> None:
    doubtful = Expected((PastChange(1, 0, 0.05, {("mode=safe",): 0.6, ("level=3",): 0.4}),), 20)
    assert Experience({"cpu": doubtful}).rare(mixed()) == Experience().rare(mixed()) == ()


def test_the_pattern_of_noise_is_relative_bounded_and_needs_repetitions() -> None:
    chosen = sample(SPACE, 5, np.random.default_rng(0))
    noise = {c: (sd, n) for c, sd, n in zip(chosen, (0.01, 0.02, 0.04, 9.0), (50, 50, 1, 50), strict=False)}
    pattern = Expected(noise=noise).pattern(chosen)
    assert pattern[1] / pattern[0] == pytest.approx(2.0, rel=0.2)
    assert pattern[3] == pytest.approx(4.0, rel=0.1) and pattern.max() <= 4.0
    assert 1 / 2 < pattern[4] < 2.0 and 1 / 2 < pattern[2] < 2.0  # little is known of these
    assert (Expected().pattern(chosen) == 1.0).all()


@pytest.mark.parametrize("noisy", [True, False])
def test_the_noise_of_a_new_configuration_is_that_of_others_with_its_values(noisy: bool) -> None:
    rng = np.random.default_rng(2)
    chosen = sample(SPACE, 64, rng)
    sd = {c: 0.01 * (3.0 if noisy and c[2] else 1.0) for c in chosen}
    steps = {c: np.abs(rng.normal(0.0, sd[c], 3)) for c in chosen[:40]}
    noise = {c: (1.4826 * float(np.median(steps[c])), 3) for c in steps}
    pattern = dict(zip(chosen[40:], Expected(noise=noise).pattern(chosen[40:]), strict=True))
    held, other = (np.median([p for c, p in pattern.items() if bool(c[2]) == on]) for on in (True, False))
    assert (1.5 < held / other < 3.0) if noisy else (0.8 < held / other < 1.25)


@pytest.mark.parametrize("right", [True, False])
def test_a_pattern_of_noise_is_followed_as_far_as_this_runs_pairs_bear_it_out(right: bool) -> None:
    rng = np.random.default_rng(2)
    sd = 0.01 * np.exp(0.7 * rng.standard_normal(32))
    values = sd[:, None] * rng.standard_normal((32, 4))
    counts = np.full(32, 4)
    pattern = sd / np.median(sd) if right else rng.permutation(sd) / np.median(sd)
    assert (trust(values, counts, pattern) > 0.7) == right
    assert (trust(values, counts, pattern) < 0.3) != right
    plain, told = (np.abs(np.log(scales(values, counts, 1e-3, p) / sd)).mean() for p in (None, pattern))
    assert told < 0.75 * plain if right else told < 1.1 * plain


def test_a_configuration_is_never_taken_for_quieter_than_its_own_pairs_show() -> None:
    values = np.random.default_rng(0).normal(0, 0.02, (16, 12))
    pattern = np.where(np.arange(16) % 2, 1.0, 0.25)
    told = scales(values, np.full(16, 12), 1e-3, pattern)
    assert (told > 0.5 * np.abs(values).std(axis=1)).all()
    assert np.median(told) == pytest.approx(0.02, rel=0.25)


def play(expected: Expected | None, term: tuple[str, ...], size: float, seed: int) -> tuple[float, bool]:
    """Log evidence of an alarm after some rounds, and whether there is one."""
    rng = np.random.default_rng(seed)
    chosen = sample(SPACE, 24, rng)
    estimator = PairedEstimator(
        space=SPACE,
        configurations=chosen,
        rules=CPU,
        false_alarms=0.01,
        equivalent=never,
        rng=rng,
        experience=None if expected is None else Experience({"cpu": expected}),
    )
    feed(estimator, {"cpu": planted(SPACE, {term: size}, chosen)}, rounds=5, rng=rng)
    verdict = estimator.judge().verdict
    return float(estimator._watches["cpu"].bettor.alarm[0]), verdict == "regression"


def test_an_expected_change_needs_less_evidence_and_a_wrong_expectation_costs_a_bounded_amount() -> None:
    for seed in range(5):
        without, helped, misled = (
            play(told, ("b", "c"), 0.05, seed)[0]
            for told in (None, hot(("b", "c"), times=8), hot(("e",), ("!d",), times=8))
        )
        assert helped > without + 1.5
        assert misled > without + np.log(1 - MOST_WEIGHT) + np.log(1 - MOST_SIZES) - 1e-6


def test_no_history_makes_an_unchanged_program_alarm() -> None:
    for seed in range(40):
        assert not play(hot(("a",), ("b", "c"), times=20), (), 0.0, seed)[1]


def expecting_a(chosen: Sequence[Configuration], rng: np.random.Generator) -> PairedEstimator:
    """With a history in which `a` changed often."""
    return PairedEstimator(
        space=SPACE,
        configurations=chosen,
        rules=CPU,
        false_alarms=0.01,
        equivalent=never,
        rng=rng,
        experience=Experience({"cpu": hot(("a",), times=20)}),
    )


def test_a_regression_that_history_does_not_expect_is_still_named() -> None:
    rng = np.random.default_rng(3)
    chosen = sample(SPACE, 24, rng)
    estimator = expecting_a(chosen, rng)
    found = feed(estimator, {"cpu": planted(SPACE, {("f",): 0.05}, chosen)}, rounds=8, rng=rng).judge()
    assert [effect.term for effect in found.options] == [("f",)]
    named = found.options[0]
    assert named.prior is not None and named.prior < 0.05 < 0.9 < named.probability


def test_configurations_of_expected_changes_are_measured_twice_as_often_at_first() -> None:
    rng = np.random.default_rng(3)
    chosen = sample(SPACE, 32, rng)
    estimator = expecting_a(chosen, rng)
    asked: list[set[int]] = []
    for _ in range(3):
        asked.append(set(estimator.active_))
        for c in estimator.active_:
            estimator.partial_fit(c, {"cpu": float(0.02 * rng.standard_normal())})
    everything = set(range(32))
    assert asked[0] == everything  # the first round is everybody's
    assert len(asked[1]) == 16
    assert np.mean([chosen[c][0] for c in asked[1]]) > 0.75


def test_what_history_hopes_for_does_not_delay_what_this_run_shows() -> None:
    rng = np.random.default_rng(3)
    chosen = sample(SPACE, 32, rng)
    guilty = {
        i for i, c in enumerate(chosen) if not c[0] and all(c[1:4])
    }  # three options, none that history knows
    estimator = expecting_a(chosen, rng)
    asked: list[set[int]] = []
    for _ in range(4):
        asked.append(set(estimator.active_))
        for c in estimator.active_:
            estimator.partial_fit(c, {"cpu": 0.2 * (c in guilty) + float(0.01 * rng.standard_normal())})
    assert len(asked[1]) == 16 and asked[2] == asked[1]  # where the expected change would show
    assert asked[3] == guilty
