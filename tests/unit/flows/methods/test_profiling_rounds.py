"""What the profiles of one configuration are good for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from bot.flows.methods.profiling_rounds import Profiled, ProfilingRounds
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile, Tool
from bot.model.space import Configuration
from bot.model.trials import Side


class Unfinished:
    """A profiler whose trials are stopped, and which saw nothing of them."""

    def profile(self, side: Side, configuration: Configuration, *, seconds: float = math.inf) -> Profile:
        tool = Tool("perf", "6.1", "coarse", frozenset({"seconds"}))
        return Profile(tool, "cut", 1.0, {}, notes=("No process was seen.",))

    def missing(self) -> Sequence[str]:
        return ()

    def watch(self, *_: object, **__: object) -> Profile:
        raise NotImplementedError

    def bodies(self, *_: object) -> Mapping[Method, str]:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("shares", "nameless"),
    [({"[program]": 0.97, "main": 0.03}, True), ({"[libc.so.6]": 0.5, "main": 0.5}, False), ({}, False)],
)
def test_a_stripped_program_is_known_before_its_profiles_are_finished(
    shares: dict[str, float], nameless: bool
) -> None:
    methods = {Method(name): MethodCost(self_share=share) for name, share in shares.items()}
    one = Profiled((True,))
    one.sides["base"].append(
        Profile(Tool("perf", "6.1", "coarse", frozenset({"seconds"})), "ok", 1.0, methods)
    )
    assert one.nameless is nameless and not one.enough


def test_counts_are_left_out_of_all_profiles_of_a_configuration_when_one_has_none() -> None:
    main, start, hot = Method("main"), Method("_start"), Method("hot")
    tool = Tool("callgrind + perf", "3 + 6", "coarse", frozenset({"seconds", "calls", "instructions"}))
    counted = Profile(
        tool,
        "ok",
        2.0,
        {
            main: MethodCost(0.9, 0.1, calls=1, instructions=900),
            start: MethodCost(0.0, 0.0, calls=1, instructions=5),
            hot: MethodCost(0.1, 0.3, calls=7, instructions=95),
        },
        {(main, hot): EdgeCost(7, 95.0)},
        samples=400,
    )
    sampled = Profile(tool, "ok", 1.0, {main: MethodCost(0.2, 0.1), hot: MethodCost(0.8, 0.4)}, samples=500)
    one = Profiled((True,))
    for profile in (counted, counted):
        one.add("base", profile)
    assert one.sides["base"] == [counted, counted]
    one.add("head", sampled)
    one.add("base", counted)
    assert one.sides["head"] == [sampled] and len(one.sides["base"]) == 3
    for profile in one.sides["base"]:
        assert {m: cost.self_share for m, cost in profile.methods.items()} == pytest.approx(
            {main: 0.25, hot: 0.75}
        )
        assert all(cost.calls is cost.instructions is None for cost in profile.methods.values())
        assert not profile.edges and profile.samples == 400


def test_counts_stay_where_nothing_else_is_known() -> None:
    tool = Tool("callgrind", "3", "coarse", frozenset({"calls", "instructions"}))
    counted = Profile(tool, "ok", 2.0, {Method("main"): MethodCost(1.0, calls=1, instructions=900)})
    one = Profiled((True,))
    one.add("base", counted)
    one.add("head", Profile(tool, "ok", 1.0, {Method("main"): MethodCost(1.0, 0.1)}, samples=9))
    assert one.sides["base"] == [counted]


def test_what_a_profile_that_was_cut_did_not_see_is_not_told() -> None:
    bench, told = Unfinished(), list[str]()
    rounds = ProfilingRounds(
        bench, clock=lambda: 0.0, until=2.4, kept=0.0, settled=lambda one: one.enough, tell=told.append
    )
    rounds.run([Profiled((True,))])
    assert rounds.notes == ("A profile of base was not finished within the 0.8 s that were left for it.",)
