"""The schedule against a simulated clock."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bot.model.at_fault import LEAST
from bot.model.report import LEAST_FAILED_PAIRS
from bot.model.space import Configuration
from bot.model.trials import Pair, Trial, Wish
from bot.sampling.schedule import BLIND, FAILURES, HOPELESS, MORE_OF_DEFAULT, MOST, ROUNDS, Schedule

SAMPLE: list[Configuration] = [(i,) for i in range(200)]


@dataclass
class SimulatedClock:
    """Runs wishes one after the other; a pair takes `cost(configuration)` seconds."""

    cost: Callable[[Configuration], float] = lambda _c: 0.1
    fails: Callable[[Configuration], bool] = lambda _c: False
    base_works: bool = False
    head_only: bool = False
    now: float = 0.0
    served: list[Wish] = field(default_factory=list)

    def run(self, schedule: Schedule) -> None:
        for wish in schedule.wishes():
            if wish is None:
                continue
            seconds = self.cost(wish.configuration)
            self.now += seconds
            works = (self.base_works and wish.control) or not self.fails(wish.configuration)
            trial = Trial("ok" if works else "exit", exit_code=0)
            self.served.append(wish)
            first = Trial("ok", exit_code=0) if self.head_only else trial
            schedule.observe(Pair(wish, first, trial, seconds))

    def counts(self) -> Counter[Configuration]:
        return Counter(w.configuration for w in self.served if not w.control)


def scheduled(clock: SimulatedClock, budget: float, seed: int = 1) -> Schedule:
    return Schedule(SAMPLE, 1, budget, lambda: clock.now, np.random.default_rng(seed))


def test_the_first_round_grows_to_what_the_budget_holds_at_the_wanted_rounds() -> None:
    clock = SimulatedClock()
    schedule = scheduled(clock, budget=30.0)
    clock.run(schedule)
    assert 35 <= len(schedule.configurations) <= 40
    assert min(clock.counts().values()) >= ROUNDS


def test_a_large_budget_does_not_grow_the_sample_beyond_its_limit() -> None:
    clock = SimulatedClock()
    schedule = scheduled(clock, budget=600.0)
    clock.run(schedule)
    assert len(schedule.configurations) == MOST


def test_the_budget_is_never_overrun_by_more_than_one_pair() -> None:
    clock = SimulatedClock(cost=lambda c: 0.05 + 0.4 * (int(c[0]) % 3))
    clock.run(scheduled(clock, budget=20.0))
    assert clock.now <= 20.0 + 0.9


def test_a_pair_that_cannot_end_in_time_is_not_started() -> None:
    clock = SimulatedClock(cost=lambda _c: 3.0)
    clock.run(scheduled(clock, budget=10.0))
    assert clock.now <= 12.0


def test_rounds_are_shuffled_and_cover_every_configuration_equally() -> None:
    clock = SimulatedClock()
    schedule = scheduled(clock, budget=30.0)
    clock.run(schedule)
    size = len(schedule.configurations)
    pairs = [w.configuration for w in clock.served if not w.control]
    second = pairs[size : 2 * size + MORE_OF_DEFAULT]
    assert pairs[:size] == SAMPLE[:size]
    assert second != sorted(second)
    assert Counter(second) == Counter(SAMPLE[:size] + [SAMPLE[0]] * MORE_OF_DEFAULT)


def test_the_default_configuration_gets_more_pairs_than_any_other() -> None:
    clock = SimulatedClock()
    clock.run(scheduled(clock, budget=60.0))
    assert clock.counts().most_common(1)[0][0] == SAMPLE[0]


def test_the_same_seed_gives_the_same_order() -> None:
    orders = []
    for _ in range(2):
        clock = SimulatedClock()
        clock.run(scheduled(clock, budget=20.0, seed=7))
        orders.append(clock.served)
    assert orders[0] == orders[1]


def test_about_one_pair_in_twelve_is_a_control() -> None:
    clock = SimulatedClock()
    clock.run(scheduled(clock, budget=60.0))
    share = sum(w.control for w in clock.served) / len(clock.served)
    assert 0.06 <= share <= 0.1


def test_a_configuration_that_only_fails_is_given_up() -> None:
    clock = SimulatedClock(fails=lambda c: c == (3,))
    clock.run(scheduled(clock, budget=30.0))
    assert clock.counts()[(3,)] <= FAILURES + 1


def test_the_only_configuration_in_which_head_alone_fails_is_tried_until_that_is_told() -> None:
    clock = SimulatedClock(fails=lambda c: c == (3,), base_works=True, head_only=True)
    schedule = scheduled(clock, budget=30.0)
    clock.run(schedule)
    assert clock.counts()[(3,)] >= LEAST_FAILED_PAIRS
    pairs = [w.configuration for w in clock.served if not w.control]
    assert pairs[: len(schedule.configurations) + LEAST_FAILED_PAIRS].count((3,)) == LEAST_FAILED_PAIRS
    rare = SimulatedClock(fails=lambda c: c == (3,))
    rare.run(scheduled(rare, budget=30.0))
    assert rare.counts()[(3,)] == FAILURES
    several = SimulatedClock(fails=lambda c: c in {(3,), (7,)}, base_works=True, head_only=True)
    several.run(scheduled(several, budget=30.0))
    assert several.counts()[(3,)] + several.counts()[(7,)] >= LEAST_FAILED_PAIRS


def test_a_configuration_that_takes_far_more_than_its_share_sits_out() -> None:
    clock = SimulatedClock(cost=lambda c: 4.0 if c == (2,) else 0.1)
    clock.run(scheduled(clock, budget=60.0))
    counts = clock.counts()
    assert counts[(2,)] < counts[(5,)]


def test_nothing_more_is_started_once_the_run_is_decided() -> None:
    clock = SimulatedClock()
    schedule = scheduled(clock, budget=60.0)
    schedule.finished = lambda: len(clock.served) >= 50
    clock.run(schedule)
    assert len(clock.served) == 50


def test_retired_configurations_are_left_out_of_later_rounds() -> None:
    clock = SimulatedClock()
    schedule = scheduled(clock, budget=30.0)
    schedule.active = lambda: schedule.configurations[:5]
    clock.run(schedule)
    assert clock.counts()[(20,)] == 1
    assert clock.counts()[(2,)] > ROUNDS


def test_without_any_result_only_a_few_configurations_are_started() -> None:
    schedule = Schedule(SAMPLE, 4, 30.0, lambda: 0.0, np.random.default_rng(1))
    wishes = []
    for wish in schedule.wishes():
        if wish is None:
            break
        wishes.append(wish)
    assert len({w.configuration for w in wishes}) == BLIND


def test_a_second_track_gets_its_share_in_blocks_and_spreads_over_configurations() -> None:
    clock = SimulatedClock()
    schedule = scheduled(clock, budget=60.0)
    schedule.slots = 4
    schedule.second_track = True
    clock.run(schedule)
    pairs = [w for w in clock.served if not w.control]
    share = sum(w.track == "wall" for w in pairs) / len(pairs)
    switches = sum(a.track != b.track for a, b in itertools.pairwise(pairs))
    on_wall = Counter(w.configuration for w in pairs if w.track == "wall")
    assert 0.1 <= share <= 0.25
    assert switches <= 4 * len(pairs) / len(schedule.configurations)
    assert max(on_wall.values()) - min(on_wall.values()) <= 1


def test_a_value_with_which_nothing_works_is_no_longer_tried() -> None:
    sample = [(number, number % 2 == 1) for number in range(200)]
    clock = SimulatedClock(fails=lambda c: c[1] is True)
    schedule = Schedule(sample, 1, 12.0, lambda: clock.now, np.random.default_rng(1))
    clock.run(schedule)
    failing = [c for c in schedule.configurations if c[1]]
    assert len(failing) == LEAST and len(schedule.configurations) >= 3 * LEAST


def test_a_value_that_only_failed_beside_others_is_tried_with_little_else() -> None:
    drawn = np.random.default_rng(5).integers(0, 2, (90, 8)).astype(bool).tolist()
    bad = [(True, number % 2 > 0, number % 2 == 0, *one[3:]) for number, one in enumerate(drawn[:5])]
    sample = [(False,) * 8, *bad, *(tuple(one) for one in drawn[5:])]
    clock = SimulatedClock(fails=lambda c: bool(c[0]) and bool(c[1] or c[2]))
    schedule = Schedule(sample, 1, 60.0, lambda: clock.now, np.random.default_rng(1))
    clock.run(schedule)
    assert sum(bool(c[0] and not c[1] and not c[2]) for c in schedule.configurations) >= 3


def test_a_value_that_only_failed_beside_another_is_tried_alone_where_no_sample_has_it_so() -> None:
    drawn = np.random.default_rng(5).integers(0, 2, (90, 8)).astype(bool).tolist()
    sample = [(False,) * 8, *((one[0], one[0] or one[1], *one[2:]) for one in drawn)]  # 0 never without 1
    alone = (True, *(False,) * 7)
    clock = SimulatedClock(fails=lambda c: bool(c[0] and c[1]))
    schedule = Schedule(
        sample, 1, 60.0, lambda: clock.now, np.random.default_rng(1), served=lambda wished: wished
    )
    clock.run(schedule)
    assert alone in schedule.configurations and clock.counts()[alone] >= ROUNDS


def test_failing_configurations_take_no_room_from_those_that_work() -> None:
    found = {}
    for failing in (0, 4):
        clock = SimulatedClock(fails=SAMPLE[1 : failing + 1].__contains__)
        schedule = scheduled(clock, budget=12.0)
        clock.run(schedule)
        found[failing] = len(schedule.configurations) - failing
    assert found[4] >= found[0] - 1


def test_a_program_that_never_works_is_given_up_soon() -> None:
    clock = SimulatedClock(fails=lambda _c: True)
    sample = [(number % 2 == 1, number) for number in range(200)]
    schedule = Schedule(sample, 1, 60.0, lambda: clock.now, np.random.default_rng(1))
    clock.run(schedule)
    assert len(clock.served) <= 2 * FAILURES * LEAST + 2


def test_a_program_of_many_options_that_never_works_is_given_up_soon() -> None:
    clock = SimulatedClock(fails=lambda _c: True, base_works=True)
    options = np.random.default_rng(3).integers(0, 2, (200, 14)).tolist()
    schedule = Schedule([tuple(o) for o in options], 1, 600.0, lambda: clock.now, np.random.default_rng(1))
    clock.run(schedule)
    assert len(clock.counts()) <= HOPELESS and len(clock.served) <= 1.2 * FAILURES * HOPELESS


def test_of_two_values_that_failed_together_each_is_tried_alone() -> None:
    both = [(number % 2 == 1, number % 2 == 1, number) for number in range(8)]
    sample = [*both, *((True, False, number) for number in range(8, 12))]
    clock = SimulatedClock(fails=lambda c: c[1] is True)
    schedule = Schedule(sample, 1, 60.0, lambda: clock.now, np.random.default_rng(1))
    clock.run(schedule)
    assert sum(c[:2] == (True, False) for c in schedule.configurations) == 4


def test_what_is_added_is_measured_before_the_round_under_way_goes_on() -> None:
    clock = SimulatedClock()
    schedule = scheduled(clock, budget=30.0)
    new: list[Configuration] = [(1000,), (1001,)]
    added = 0
    schedule.active = lambda: new if added and clock.counts()[new[0]] < 2 else None
    for wish in schedule.wishes():
        assert wish is not None
        clock.now += 0.1
        clock.served.append(wish)
        schedule.observe(Pair(wish, Trial("ok"), Trial("ok"), 0.1))
        if schedule.settled and not added and len(clock.served) > 60:
            schedule.extend(new)
            added = len(clock.served)
    soon = [w.configuration for w in clock.served[added:] if not w.control][:4]
    assert sorted(soon) == sorted(new * 2)
