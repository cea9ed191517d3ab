"""Mining of programs whose call paths and durations are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pytest

from bot.flows.assertions.mining import HOPELESS, MOST_OBSERVATIONS, Mining
from bot.flows.assertions.mining_state import LEAST_OBSERVATIONS, UNSETTLED, Mined
from bot.model.assertions import NamedPath
from bot.model.profiles import CallSeries, EdgeCost, Method, MethodCost, Profile, Tool
from bot.model.space import Configuration
from bot.model.trials import Outcome, Side

FAST, SLOW = 1e-3, 1e-2
SECONDS = 20.0
"""CPU seconds of a trial."""
NONE, NO_COUNTS = np.zeros(0), np.zeros(0, np.int64)
COARSE = Tool("coarse", "1", "coarse", frozenset({"calls", "edges"}))


def method(name: str) -> Method:
    return Method(name, f"{name}.c")


@dataclass
class World:
    """A program, a tool for it, and a clock that its trials move.

    calls: by path (names, the method last), the median seconds of its calls. every: whether the tool sees
    callers that are not watched. cost: seconds of the tool in each call. altered: of a fine profile.
    """

    calls: Mapping[NamedPath, Sequence[float]]
    every: bool = True
    cost: float = 1e-7
    outcome: Outcome = "ok"
    lacks: Sequence[str] = ()
    altered: Callable[[Profile], Profile] = lambda seen: seen
    now: float = 0.0
    asked: list[tuple[str, ...]] = field(default_factory=list)
    rested: list[int] = field(default_factory=list)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    def missing(self) -> Sequence[str]:
        return self.lacks

    def profile(self, side: Side, configuration: Configuration, *, seconds: float = math.inf) -> Profile:
        self.now += SECONDS
        spent = {name: 0.0 for path in self.calls for name in path}
        times = dict.fromkeys(spent, 0)
        for path, seconds_ in self.calls.items():
            spent[path[-1]] += sum(seconds_)
            times[path[-1]] += len(seconds_)
        methods = {
            method(name): MethodCost(own / max(sum(spent.values()), 1e-9), calls=times[name] or 1)
            for name, own in spent.items()
        }
        edges = {(method(a), method(b)): EdgeCost(1, 1.0) for path in self.calls for a, b in pairwise(path)}
        return Profile(COARSE, self.outcome, SECONDS, methods, edges)

    def watch(
        self,
        side: Side,
        configuration: Configuration,
        methods: Sequence[Method],
        coarse: Profile,
        *,
        seconds: float = math.inf,
        overhead: float | None = None,
        rests: int = 1,
    ) -> Profile:
        self.now += SECONDS
        watched = {m.name for m in methods}
        self.asked.append(tuple(m.name for m in methods))
        self.rested.append(rests)
        tool = Tool(
            "fine", "1", "fine", frozenset({"durations"}), seconds_per_call=self.cost, callers=self.every
        )
        if self.outcome != "ok":
            return Profile(tool, self.outcome, 0.0)
        series, total = [], 0
        for path, medians in self.calls.items():
            if path[-1] in watched:
                seen = path[:-1] if self.every else tuple(n for n in path[:-1] if n in watched)
                durations = np.array(medians) * self.rng.lognormal(0.0, 0.1, len(medians))
                total += len(durations)
                series.append(
                    CallSeries(
                        method(path[-1]),
                        tuple(map(method, seen)),
                        len(durations),
                        float(durations.sum()),
                        durations,
                        NONE,
                        NO_COUNTS,
                    )
                )
        return self.altered(
            Profile(tool, "ok", SECONDS + total * self.cost, series=series, unprofiled=SECONDS)
        )

    def bodies(self, side: Side, methods: Iterable[Method]) -> Mapping[Method, str]:
        return {}


TWO_WAYS: Mapping[NamedPath, Sequence[float]] = {
    ("main", "load", "read"): [FAST] * 300,
    ("main", "save", "read"): [SLOW] * 200,
    ("main", "load"): [FAST] * 60,
    ("main", "save"): [FAST] * 60,
    ("main",): [1.0],
}
"""`read` is slow when `save` calls it."""


def mine(
    world: World, *, until: float = 1e4, clock: Callable[[], float] | None = None, **how: object
) -> Mined:
    job = Mining(world, (), clock or (lambda: world.now), until)
    for name, value in how.items():
        setattr(job, name, value)
    return job.run()


def groups(mined: Mined, name: str) -> set[frozenset[NamedPath]]:
    (found,) = [m for m in mined.models if m.method == name]
    return {frozenset(group.paths) for group in found.groups}


@pytest.mark.parametrize("every", [True, False])
def test_a_method_that_is_slow_over_one_caller_gets_two_groups(every: bool) -> None:
    mined = mine(World(TWO_WAYS, every=every))
    assert mined.finished and groups(mined, "read") == {
        frozenset({("main", "load", "read")}),
        frozenset({("main", "save", "read")}),
    }


def test_callers_are_watched_only_where_the_tool_needs_it_and_clusters_exist() -> None:
    blind = World(TWO_WAYS, every=False)
    mine(blind, hints=["read"])
    assert blind.asked[0] == ("read",) and any({"main", "load", "save"} < set(a) for a in blind.asked)
    seeing = World(TWO_WAYS)
    mine(seeing, hints=["read"])
    assert seeing.asked[-1][0] != "read" or len(seeing.asked[-1]) == 1


def test_a_method_with_one_cluster_is_known_without_its_paths() -> None:
    world = World(
        {("main", "load", "read"): [FAST] * 300, ("main", "save", "read"): [FAST] * 200}, every=False
    )
    mined = mine(world, hints=["read"])
    (found,) = [m for m in mined.models if m.method == "read"]
    assert found.borders == () and not any("main" in asked for asked in world.asked)


def test_callers_of_a_known_method_are_mined_next() -> None:
    world = World(TWO_WAYS)
    mined = mine(world, hints=["read"])
    assert {m.method for m in mined.models} == {"read", "load", "save"}
    assert next(iter(mined.refused)).startswith("called less than 20 times in a trial")


def test_the_overhead_decides_how_many_are_watched_at_once() -> None:
    many: Mapping[NamedPath, Sequence[float]] = {("main", f"f{i}"): [FAST] * 100 for i in range(30)}
    dear, cheap = World(many, cost=0.008), World(many, cost=1e-6)
    mined = mine(dear)
    mine(cheap)
    assert max(len(asked) for asked in cheap.asked) > 10
    assert max(len(asked) for asked in dear.asked[1:]) <= 5
    assert mined.overhead is not None and mined.overhead < 0.13


def test_more_rests_make_up_for_a_tool_that_takes_more_than_it_should() -> None:
    world = World(TWO_WAYS, altered=lambda seen: replace(seen, seconds=1.4 * SECONDS))
    mined = mine(world)
    assert world.rested[0] == 1 and max(world.rested) <= 9
    assert mined.overhead is not None and mined.overhead <= 0.12


def test_a_method_whose_callees_perturb_it_is_watched_alone() -> None:
    world = World(
        {("main", "load"): [FAST] * 100, ("main", "load", "read"): [FAST / 100] * 2000}, cost=1e-5, every=True
    )
    mined = mine(world)
    assert ("load",) in world.asked and any(m.method == "load" for m in mined.models)
    assert world.asked.count(("load",)) >= 3


def test_what_failing_trials_leave_is_said_and_ends() -> None:
    world = World(TWO_WAYS)
    working = world.profile("head", ())

    class Failing(World):
        def profile(self, side: Side, configuration: Configuration, *, seconds: float = math.inf) -> Profile:
            return working

    failing = Failing(TWO_WAYS, outcome="timeout")
    mined = mine(failing)
    assert len(failing.asked) == HOPELESS and not mined.models and not mined.finished


def test_without_a_profiler_or_a_profile_nothing_is_mined_and_why_is_said() -> None:
    assert "No tool." in mine(World(TWO_WAYS, lacks=["No tool."])).notes
    assert any("ended as exit" in note for note in mine(World(TWO_WAYS, outcome="exit")).notes)
    cut = mine(World(TWO_WAYS, outcome="cut")).notes
    assert "Nothing was mined: the profile was not finished within the time that was left for it." in cut, cut


def test_a_method_that_the_tool_cannot_see_is_refused() -> None:
    def without_read(seen: Profile) -> Profile:
        return replace(seen, series=[s for s in seen.series if s.method.name != "read"])

    mined = mine(World(TWO_WAYS, altered=without_read))
    assert [
        m.name
        for m in mined.refused["its calls were not seen: too short, or too many to be watched in this time"]
    ] == ["read"]


def test_it_ends_in_time_and_says_that_it_was_not_done() -> None:
    world = World(TWO_WAYS)
    mined = mine(world, until=100.0)
    assert world.now <= 100.0 and not mined.finished
    assert any(note.startswith("Mining stopped before all was known") for note in mined.notes)


def test_how_much_of_the_hot_time_was_mined_is_told() -> None:
    mined = mine(World(TWO_WAYS))
    hot, covered = mined.hot
    assert hot == pytest.approx(1.0) and covered == pytest.approx(2.42 / 3.42, abs=0.01)


def test_an_unknown_hint_is_said() -> None:
    assert any("`nothing`" in note for note in mine(World(TWO_WAYS), hints=["nothing"]).notes)


def test_calls_that_are_too_short_for_the_tool_are_refused() -> None:
    mined = mine(World(TWO_WAYS, altered=lambda seen: replace(seen, tool=replace(seen.tool, bias=FAST / 5))))
    assert {m.method for m in mined.models} == {"read"} or not mined.models
    assert any("too short" in reason or "so short" in reason for reason in mined.refused)
    assert all(shift <= 0.1 for shift in mined.shifts.values())


def test_a_method_whose_groups_are_others_in_every_other_trial_is_watched_longer_and_then_refused() -> None:
    world = World(TWO_WAYS)

    def in_turns(seen: Profile) -> Profile:
        """In every other trial of `read` it is slow whoever calls it."""
        odd = sum("read" in asked for asked in world.asked) % 2
        series = [
            replace(s, durations=s.durations * SLOW / FAST) if odd and s.path[-1].name == "load" else s
            for s in seen.series
        ]
        return replace(seen, series=series)

    world.altered = in_turns
    mined = mine(world, hints=["read"])
    assert [m.name for m in mined.refused[UNSETTLED]] == ["read"]
    assert "read" not in {m.method for m in mined.models}
    assert "read" in {m.name for m in mined.observations}
    assert sum("read" in asked for asked in world.asked) == 2 * MOST_OBSERVATIONS["paths"]


def test_a_method_that_is_too_short_is_not_watched_again() -> None:
    world = World(TWO_WAYS, altered=lambda seen: replace(seen, tool=replace(seen.tool, bias=SLOW)))
    mined = mine(world)
    assert not mined.models and len(world.asked) < LEAST_OBSERVATIONS
