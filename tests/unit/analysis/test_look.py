"""Looks at all pairs, before the end and at it."""

import numpy as np
import pytest

from bot.analysis.candidates import candidates
from bot.analysis.diagnose import PairedEstimator
from bot.analysis.look import EARLY, FIRST, NEXT, needed_score, standing_out
from tests.unit.analysis.worlds import estimator, feed, flags, never, planted, sample

SPACE = flags(5)
SAMPLE = sample(SPACE, 16, np.random.default_rng(0))
FOUND = candidates(SPACE, SAMPLE, never)
MARGIN = 0.01


@pytest.mark.parametrize("noise", ["normal", "cauchy", "two points"])
def test_changes_at_the_margin_rarely_stand_out(noise: str) -> None:
    needed = needed_score(0.05, FOUND.prior)
    alarms = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        draws = {
            "normal": rng.standard_normal((16, 10)),
            "cauchy": rng.standard_cauchy((16, 10)),
            "two points": rng.choice([-1.0, 1.0], (16, 10)),
        }
        values = MARGIN + 0.02 * draws[noise]
        alarms += bool((standing_out(FOUND, values, np.full(16, 0.02), MARGIN)[:, 0] >= needed).any())
    assert alarms <= 25


def test_a_change_beyond_the_margin_stands_out_in_its_term_and_direction() -> None:
    rng = np.random.default_rng(1)
    truth = planted(SPACE, {("a",): -0.04}, SAMPLE)
    values = truth[:, None] + 0.02 * rng.standard_normal((16, 10))
    scores = standing_out(FOUND, values, np.full(16, 0.02), MARGIN)
    assert FOUND.terms[int(np.argmax(scores[:, 1]))] == ("a",)
    assert scores[:, 0].max() < scores[:, 1].max()


def test_configurations_without_pairs_count_for_nothing() -> None:
    values = np.full((16, 3), np.nan)
    values[0] = 0.05
    scores = standing_out(FOUND, values, np.full(16, 0.02), MARGIN)
    assert np.isfinite(scores).all()
    assert scores[0, 0] == pytest.approx(np.sqrt(3.0))


@pytest.mark.parametrize(("seeds", "most"), [(20, 1), pytest.param(60, 3, marks=pytest.mark.soak)])
def test_looking_again_and_again_keeps_the_error_rate(seeds: int, most: int) -> None:
    alarms = 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        found = estimator(SPACE, SAMPLE)
        for _ in range(12):
            feed(found, {"cpu": np.full(16, MARGIN)}, rounds=1, rng=rng)
            verdict = found.judge().verdict
        alarms += verdict in ("regression", "mixed")
    assert alarms <= most


def lately(rng: np.random.Generator, *, rounds: int) -> PairedEstimator:
    """A pair of options, held by four of 16 configurations, that nine rounds hardly show."""
    truth = planted(SPACE, {("a", "b"): 0.05}, SAMPLE)
    return feed(estimator(SPACE, SAMPLE), {"cpu": truth}, rounds=rounds, rng=rng, noise=0.03)


def test_a_look_before_the_end_alarms_where_bets_need_more_pairs() -> None:
    found = lately(np.random.default_rng(3), rounds=9)
    assert not found.alarmed_
    assert found.look(3).alarmed_


def test_a_turn_to_look_is_spent_once() -> None:
    rng = np.random.default_rng(3)
    found = lately(rng, rounds=8)
    assert not found.look(3).alarmed_
    feed(found, {"cpu": planted(SPACE, {("a", "b"): 0.05}, SAMPLE)}, rounds=1, rng=rng, noise=0.03)
    assert not found.look(3).alarmed_


def test_a_look_before_the_end_leaves_what_is_measured_next_and_what_the_end_sees() -> None:
    plain, looked = (lately(np.random.default_rng(3), rounds=6) for _ in range(2))
    for turn in range(len(EARLY)):
        looked.look(turn)
    assert looked.active_ == plain.active_
    assert looked.judge() == plain.judge()


def test_looks_before_and_at_the_end_share_the_error_rate() -> None:
    assert sum(EARLY) + FIRST / (1.0 - NEXT) == pytest.approx(1.0)
