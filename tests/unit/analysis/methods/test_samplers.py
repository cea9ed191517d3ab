"""Tools that sample stacks and count calls of methods, but not between them: what is blamed with these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.methods.blame import Compared, blame
from bot.analysis.methods.ledger import ledger, timed
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile
from tests.unit.analysis.methods.profiled import TOOL, Program, compared

TWO = Program(
    {"main": 0.3, "hot": 0.3, "warm": 0.3, "leaf": 0.1},
    {"main": 1, "hot": 500, "warm": 500, "leaf": 2000},
    {("main", "hot"): 500, ("main", "warm"): 500, ("hot", "leaf"): 1000, ("warm", "leaf"): 1000},
)


def test_who_calls_more_is_found_by_cost_where_only_calls_in_all_are_counted() -> None:
    often = TWO.changed("leaf", seconds=0.2, calls=4000)
    head = replace(often, edges={**TWO.edges, ("warm", "leaf"): 5000})
    found = blame(compared(TWO, head, "sampled", np.random.default_rng(1), head_trials=2))
    assert [change.method.name for change in found.changes][:2] == ["leaf", "warm"]
    assert any("`warm` makes the additional calls" in note for note in found.notes)


def test_a_caller_that_got_cheaper_is_not_netted_against_a_callee_that_is_called_as_often() -> None:
    head = TWO.changed("leaf", seconds=0.3).changed("warm", seconds=-0.15)
    found = blame(compared(TWO, head, "sampled", np.random.default_rng(2), base_trials=3, head_trials=3))
    first = found.changes[0]
    assert first.method.name == "leaf"
    assert first.share == pytest.approx(2.0, abs=0.4)


def test_shares_of_all_cpu_time_and_seconds_of_methods_are_one_measurement() -> None:
    rng = np.random.default_rng(3)

    def halved(profile: Profile) -> Profile:
        costs = profile.methods.items()
        return replace(profile, methods={m: replace(c, self_share=c.self_share / 2) for m, c in costs})

    profiles = [halved(TWO.profile("sampled", rng)) for _ in range(2)]
    book = ledger(profiles, profiles, ({}, {}))
    assert Method("leaf", "a.c") in book.place and timed(book.base) is None


def test_who_calls_more_of_what_kept_its_text_stands_before_its_rewritten_callers() -> None:
    def profile(leaf: float, calls: int) -> Profile:
        costs = {"main": (0.1, 0.4 + leaf, 1), "warm": (0.3, 0.3 + leaf, 9), "leaf": (leaf, leaf, calls)}
        paths = {("main", "warm"): 0.3 + leaf, ("warm", "leaf"): leaf}
        return Profile(
            TOOL,
            "ok",
            0.4 + leaf,
            {
                Method(name, "a.c", 1): MethodCost(own / (0.4 + leaf), own, total, calls=calls)
                for name, (own, total, calls) in costs.items()
            },
            {(Method(a, "a.c"), Method(b, "a.c")): EdgeCost(None, cost) for (a, b), cost in paths.items()},
            samples=20_000,
        )

    bodies = [{Method("main", "a.c"): side, Method("leaf", "a.c"): "kept"} for side in ("old", "new")]
    sides = [profile(0.1, 1000)] * 2, [profile(0.3, 3000)] * 2
    found = blame(Compared(*sides, (0.5, 0.7), (1.39, 1.41), (bodies[0], bodies[1])))
    assert [(c.method.name, c.with_callees) for c in found.changes] == [("warm", False), ("leaf", False)]


def test_many_small_methods_of_few_samples_do_not_hide_who_got_dearer() -> None:
    rng = np.random.default_rng(4)
    many = {f"f{i}": 0.6 / 300 for i in range(300)}
    base = Program({"hot": 0.2, "warm": 0.2, **many})
    found = blame(compared(base, base.changed("hot", seconds=0.1), "sampled", rng))
    (change,) = found.changes
    assert change.method.name == "hot"
    assert change.share == pytest.approx(1.0, abs=0.3)


def steady(program: Program, samples: int = 100_000) -> Profile:
    """A profile without chance."""
    total = program.total
    costs = {Method(name, "a.c", 1): MethodCost(s / total, s, calls=1) for name, s in program.seconds.items()}
    return Profile(TOOL, "ok", total, costs, samples=samples)


def test_what_a_sampler_did_not_see_of_a_trial_is_no_methods() -> None:
    base, head = steady(TWO), steady(TWO.changed("leaf", seconds=0.2))
    start = 0.6
    found = blame(Compared([base, base], [head], (1.0 + start, 1.2 + start), (1.12, 1.13)))
    assert [(c.method.name, round(c.share, 1)) for c in found.changes] == [("leaf", 1.0)]
    assert found.changes[0].self_seconds == pytest.approx((0.1, 0.3), abs=0.01)


def test_where_only_time_tells_what_a_profile_stretched_is_drawn_towards_the_measured_change() -> None:
    base, head = steady(TWO), steady(TWO.changed("leaf", seconds=0.3))
    found = blame(Compared([base, base], [head], (1.0, 1.2), (1.19, 1.21)))
    (change,) = found.changes
    assert change.method.name == "leaf" and 1.05 < change.share < 1.35
    assert change.interval[0] < 1.0 < change.interval[1]
