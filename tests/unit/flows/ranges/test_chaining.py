"""Ratios to one anchor become seconds that add up."""

from __future__ import annotations

import math

from bot.flows.ranges.chaining import Chain
from bot.model.change_points import Observation, Probe

ONE, BOTH = (True, False), (True, True)


def seen(configuration: tuple[bool, bool], revision: int, ratio: float, anchor: float = 1.0) -> Observation:
    return Observation(Probe(configuration, revision), ratio, anchor=anchor)


def test_steps_of_one_second_are_equally_large_in_a_fast_and_in_a_slow_configuration() -> None:
    found = Chain().seconds(
        [seen(c, r, s / a, a) for c, a in ((ONE, 2.0), (BOTH, 4.0)) for r, s in enumerate((a - 1, a))]
    )
    assert [o.value for o in found] == [1.0, 2.0, 3.0, 4.0]


def test_one_figure_of_the_anchor_serves_all_ratios_of_a_configuration() -> None:
    chain = Chain()
    first = chain.seconds([seen(ONE, 0, 0.5, 2.0), seen(ONE, 1, 1.0, 2.2), seen(ONE, 1, 1.0, 1.9)])
    later = chain.seconds([seen(ONE, 2, 1.0, 9.0), seen(BOTH, 2, 1.0, 3.0)])
    assert [o.value for o in (*first, *later)] == [1.0, 2.0, 2.0, 2.0, 3.0]


def test_what_failed_stays_failed_and_says_nothing_of_the_anchor() -> None:
    chain = Chain()
    (failed,) = chain.seconds([seen(ONE, 0, math.nan)])
    (later,) = chain.seconds([seen(ONE, 0, 0.5, 4.0)])
    assert math.isnan(failed.value) and later.value == 2.0


def test_what_failed_beside_a_failing_anchor_still_says_so() -> None:
    chain = Chain()
    (lost,) = chain.seconds([seen(ONE, 0, math.nan, 0.0)])
    chain.seconds([seen(ONE, 0, 0.5, 4.0)])
    assert [lost.anchor, *(o.anchor for o in chain.seconds([seen(ONE, 1, math.nan, 0.0)]))] == [0.0, 0.0]


def test_what_is_in_seconds_already_does_not_change() -> None:
    given = [Observation(Probe(ONE, 0), 0.1), Observation(Probe(ONE, 1), 0.3, built=False)]
    assert Chain().seconds(given) == given
