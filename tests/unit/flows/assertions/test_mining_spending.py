"""What mining's trials cost, and what follows for the next."""

from __future__ import annotations

import pytest

from bot.flows.assertions.mining_spending import CALL, LEAST_CALL, MOST_RESTS, MOST_SHIFT, Spending
from bot.model.profiles import Profile, Tool


def trial(*, added: float, call: float = 1e-6, plain: float = 1.0, bias: float = 0.0) -> Profile:
    tool = Tool("fine", "1", "fine", frozenset(), seconds_per_call=call, bias=bias, left=0.5)
    return Profile(tool, "ok", plain + added, unprofiled=plain)


def test_a_call_costs_what_the_tool_says_unless_all_calls_together_added_less() -> None:
    spending = Spending(0.1)
    assert spending.price(2.0).call == CALL and spending.price(2.0).trial == 2.0
    spending.book(trial(added=0.5), [100_000, 100_000], 1)
    assert spending.price(2.0).call == 1e-6 and spending.price(2.0).trial == 1.0
    spending.book(trial(added=0.1, call=8e-6), [1_000_000], 1)
    assert spending.price(2.0).call == pytest.approx(0.6 / 1_200_000)
    spending.book(trial(added=-2.0), [10], 1)
    assert spending.price(2.0).call == LEAST_CALL


def test_trials_rest_until_the_share_over_all_of_them_is_what_was_asked_for() -> None:
    spending = Spending(0.1)
    assert spending.rests(1) == 1 and spending.share is None and not spending.measured
    spending.book(trial(added=0.2), [10], 1)
    assert spending.share == pytest.approx(0.1)
    assert spending.rests(1) == 1  # 0.4 s of what will be four trials
    spending.book(trial(added=0.5), [10], 1)
    assert spending.rests(1) == 6  # 1.05 s of what will be eleven
    spending.book(trial(added=2.0), [10], 1)
    assert spending.rests(1) == MOST_RESTS


def test_the_less_watching_may_cost_the_more_trials_may_rest() -> None:
    assert [Spending(share).most_rests for share in (0.5, 0.1, 0.05)] == [MOST_RESTS, 9, 19]


def test_the_shortest_call_is_one_that_what_is_left_of_the_tool_cannot_shift_too_far() -> None:
    spending = Spending(0.1)
    assert spending.price(1.0).shortest == 0.0
    spending.book(trial(added=0.1, bias=1e-7), [10], 1)
    assert spending.price(1.0).shortest == pytest.approx(0.5e-7 / MOST_SHIFT)
