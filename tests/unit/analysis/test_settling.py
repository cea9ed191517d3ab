"""How many more pairs would settle a run is about how many do."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from bot.analysis.diagnose import Judgement, PairedEstimator
from tests.unit.analysis.worlds import estimator, feed, mixed, planted, sample

SPACE = mixed()
SAMPLE = sample(SPACE, 16, np.random.default_rng(11))
QUIET = planted(SPACE, {}, SAMPLE)
CLAIM = re.compile(r"about ([\d,]+) more pairs")


def short_run(size: float, *, seed: int) -> tuple[PairedEstimator, np.random.Generator]:
    rng = np.random.default_rng(seed)
    truth = planted(SPACE, {("a",): size}, SAMPLE)
    found = feed(estimator(SPACE, SAMPLE), {"cpu": truth}, rounds=1, rng=rng, noise=0.04)
    return found, rng


def claimed(judgement: Judgement) -> int:
    (told,) = (found for note in judgement.notes if (found := CLAIM.search(note)))
    return int(told[1].replace(",", ""))


@pytest.mark.parametrize("seed", range(6))
def test_a_large_change_of_which_there_is_one_pair_each_is_told_about_what_it_lacks(
    seed: int,
) -> None:
    found, rng = short_run(0.17, seed=seed)
    first = found.judge()
    assert first.verdict == "inconclusive"
    more = claimed(first)
    rounds = 0
    truth = planted(SPACE, {("a",): 0.17}, SAMPLE)
    while found.judge().verdict == "inconclusive":
        feed(found, {"cpu": truth}, rounds=1, rng=rng, noise=0.04)
        rounds += 1
    needed = rounds * len(SAMPLE)
    assert needed / 3 <= more <= 3 * needed, (more, needed)


def test_how_many_times_this_run_is_told_with_what_it_had_already() -> None:
    found, _ = short_run(0.17, seed=0)
    judgement = found.judge()
    (told,) = (note for note in judgement.notes if CLAIM.search(note))
    factor = re.search(r"would settle it \(([\d.]+) times this run's measuring in all\)", told)
    assert factor is not None, told
    assert abs((float(factor[1]) - 1.0) * len(SAMPLE) - claimed(judgement)) <= 2.0


NOTHING = re.compile(r"and about ([\d,]+) if nothing changed")


def still(noise: float, *, seed: int, rounds: int) -> tuple[PairedEstimator, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return feed(estimator(SPACE, SAMPLE), {"cpu": QUIET}, rounds=rounds, rng=rng, noise=noise), rng


@pytest.mark.parametrize("seed", range(4))
def test_a_run_too_noisy_to_rule_anything_out_does_not_promise_that_a_few_more_pairs_do(seed: int) -> None:
    found, _ = still(0.5, seed=seed, rounds=5)
    (told,) = (note for note in found.judge().notes if CLAIM.search(note))
    assert "if what stands out most is real; if nothing changed, runs differed too much to say so" in told


def test_without_a_change_about_as_many_more_pairs_settle_it_as_are_told_for_that() -> None:
    early: list[str] = []
    late: list[str] = []
    for seed in range(6):
        found, rng = still(0.06, seed=seed, rounds=2)
        (note,) = (note for note in found.judge().notes if CLAIM.search(note))
        claim = NOTHING.search(note) or CLAIM.search(note)
        assert claim is not None, note
        more = int(claim[1].replace(",", "")) / len(SAMPLE)
        for verdicts, rounds in ((early, more / 3), (late, more * 3 - more / 3)):
            feed(found, {"cpu": QUIET}, rounds=math.ceil(rounds), rng=rng, noise=0.06)
            verdicts.append(found.judge().verdict)
    assert early.count("inconclusive") >= 4, early
    assert late.count("none") >= 5, late
