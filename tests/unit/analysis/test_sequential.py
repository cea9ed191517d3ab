"""Alarms at any time, and what is retired."""

import numpy as np
import pytest

from bot.analysis.candidates import candidates
from bot.analysis.sequential import WORTH, Bettor
from tests.unit.analysis.worlds import flags, never, sample

MARGIN = 0.01
BOUND = float(np.log(2 / 0.01))


def bettor(rng: np.random.Generator) -> Bettor:
    space = flags(5)
    return Bettor(candidates(space, sample(space, 16, rng), never), MARGIN)


def play(found: Bettor, centre: np.ndarray, rounds: int, rng: np.random.Generator) -> Bettor:
    rows = np.arange(16)
    for _ in range(rounds):
        found.bet(rows, centre + 0.02 * rng.standard_t(3, 16), np.full(16, 0.02))
        found.weigh()
    return found


def test_the_mean_of_a_bet_is_at_most_one_for_any_symmetric_noise_at_the_margin() -> None:
    rng = np.random.default_rng(0)
    for noise in (
        rng.standard_normal(20_000),
        rng.standard_cauchy(20_000),
        rng.choice([-50.0, 50.0], 20_000),
    ):
        space = flags(1)
        found = Bettor(candidates(space, [(False,)], never), MARGIN)
        won = []
        for value in noise[:4000]:
            before = found._wealth.copy()
            found.bet(np.array([0]), np.array([MARGIN + 0.02 * value]), np.array([0.02]))
            won.append(np.exp(found._wealth - before)[0, 0, 0])
        mean = np.mean(won, axis=0)
        assert (mean < 1 + 4 * np.std(won, axis=0) / np.sqrt(len(won)) + 1e-9).all()


def test_changes_at_the_margin_do_not_alarm() -> None:
    alarms = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        alarms += bool((play(bettor(rng), np.full(16, MARGIN), 15, rng).alarm >= BOUND).any())
    assert alarms <= 4


@pytest.mark.parametrize("direction", [0, 1])
def test_a_change_beyond_the_margin_alarms_in_its_direction_only(direction: int) -> None:
    rng = np.random.default_rng(1)
    sign = 1 if direction == 0 else -1
    alarm = play(bettor(rng), np.full(16, sign * 0.05), 6, rng).alarm
    assert alarm[direction] > BOUND
    assert alarm[1 - direction] < 1


def test_the_alarm_does_not_go_back() -> None:
    rng = np.random.default_rng(2)
    found = play(bettor(rng), np.full(16, 0.05), 6, rng)
    reached = found.alarm.copy()
    play(found, np.full(16, -0.05), 6, rng)
    assert (found.alarm >= reached).all()


def test_an_unchanged_program_is_retired_completely() -> None:
    rng = np.random.default_rng(3)
    assert not play(bettor(rng), np.zeros(16), 40, rng).open.any()


def test_a_change_worth_finding_is_not_retired() -> None:
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        found = bettor(rng)
        cover = found._covers[1] > 0
        play(found, np.where(cover, 1.05 * WORTH * MARGIN, 0.0), 30, rng)
        wrong += not found.open[cover].all()
    assert wrong <= 1


def test_one_wild_pair_wins_at_most_a_factor_of_two() -> None:
    rng = np.random.default_rng(4)
    found = bettor(rng)
    found.bet(np.array([0]), np.array([np.log(10.0)]), np.array([0.02]))
    found.weigh()
    assert found.alarm[0] <= np.log(2.0) + 1e-9


def test_leading_small_candidates_are_measured_more() -> None:
    rng = np.random.default_rng(5)
    found = bettor(rng)
    small = next(k for k, n in enumerate(found._covers.sum(axis=1)) if n == 4)
    cover = found._covers[small] > 0
    play(found, np.where(cover, 0.05, 0.0), 4, rng)
    focus = found.promising(6)
    assert focus.sum() <= 6
    assert focus[cover].all()


def test_what_shows_a_hoped_for_change_soonest_are_the_configurations_that_hold_it() -> None:
    rng = np.random.default_rng(1)
    space = flags(5)
    configurations = sample(space, 16, rng)
    found = candidates(space, configurations, never)
    bets = Bettor(found, MARGIN)
    a, rare = found.terms.index(("a",)), found.terms.index(("b", "c"))
    only_a = bets.shown(np.arange(len(found.terms)) == a)
    assert (only_a == found.covers[a] / found.covers[a].sum() * only_a.sum()).all() and only_a.any()
    both = bets.shown(np.isin(np.arange(len(found.terms)), (a, rare)))
    held = found.covers[rare] & ~found.covers[a]
    assert not held.any() or both[held].min() > 0.0
    centre = np.where(found.covers[rare], 0.2, 0.0)
    for _ in range(3):
        bets.bet(np.arange(16), centre, np.full(16, 0.02))
    bets.weigh()
    after = bets.shown(np.isin(np.arange(len(found.terms)), (a, rare)))
    assert after[found.covers[rare]].min() > 0.99 > 0.01 > after[~found.covers[rare]].max()


def test_what_stood_out_is_bet_on_whatever_it_has_in_common() -> None:
    rng = np.random.default_rng(7)
    few, all_of_them = np.zeros(16), np.arange(16)
    few[:3] = 0.3  # a term of three levels, say: no candidate
    alone, following = bettor(rng), bettor(rng)
    standing = np.stack([few > 0, np.zeros(16, dtype=bool)], axis=1)
    for _ in range(6):
        values = few + 0.02 * rng.standard_normal(16)
        alone.bet(all_of_them, values, np.full(16, 0.02))
        following.bet(all_of_them, values, np.full(16, 0.02), standing)
    alone.weigh()
    following.weigh()
    assert alone.alarm[0] < BOUND < following.alarm[0]
    assert following.alarm[1] < 1


def test_following_what_stands_out_by_chance_does_not_alarm() -> None:
    alarms = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        found, total = bettor(rng), np.zeros(16)
        for played in range(1, 16):
            values = MARGIN + 0.02 * rng.standard_t(3, 16)
            beyond = total / played > MARGIN
            found.bet(np.arange(16), values, np.full(16, 0.02), np.stack([beyond, ~beyond], axis=1))
            found.weigh()
            total += values
        alarms += bool((found.alarm >= BOUND).any())
    assert alarms <= 4


def test_further_configurations_win_no_bets() -> None:
    rng = np.random.default_rng(8)
    found = play(bettor(rng), np.zeros(16), 3, rng)
    found.extend(2)
    before = found.alarm.copy()
    found.bet(np.array([16, 17] * 30), np.full(60, 0.5), np.full(60, 0.02))
    found.weigh()
    assert (found.alarm == before).all()
    assert not found.open[16:].any()
