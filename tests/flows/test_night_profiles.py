"""What a night profiles, what it learns from that, and what it says when it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from typing import Any

import numpy as np
import pytest

from bot.analysis.influences import fitting
from bot.analysis.influences.models import KINDS
from bot.analysis.influences.selection import choose
from bot.flows.influences import profiles
from bot.flows.influences.known_costs import Known
from bot.flows.influences.learning import NO_TIME, NOTHING
from bot.flows.influences.profiles import (
    ANCHORS,
    COMPARED,
    FEWEST,
    HOPELESS,
    REPEATED,
    Profiling,
    Wanted,
    plan,
    repeated,
)
from bot.flows.night import night as run_night
from bot.flows.nights.teaching import Taught, Teaching
from bot.model.history import Measurements
from bot.model.profile_history import MOST_METHODS, ProfileTable
from bot.model.profiles import Method, MethodCost, Profile
from bot.model.report import RevisionRef
from bot.model.space import Configuration, Option, Space, Value
from bot.model.trials import Outcome, Side
from bot.sampling.constraints import ConstraintSolver
from tests.flows.nights import MemoryStore, Moving, job
from tests.profiled import DRAW, SPACE, SUBJECT, TOOL, Costs, drawn, night, profile, record, shop

SOLVER = ConstraintSolver(SPACE)
TIP = RevisionRef(revision=f"{1:040x}", label="v1")


@dataclass
class FakeProfiler:
    """The port ProfileBench: each profile of the shop takes `takes` seconds of its own clock."""

    takes: float = 1.0
    outcome: Outcome = "ok"
    fails: Callable[[Mapping[str, Value]], bool] = lambda options: False
    costs: Callable[[Mapping[str, Value]], Costs] = shop
    asked: list[Configuration] = field(default_factory=list)
    now: float = 0.0

    def missing(self) -> Sequence[str]:
        return ()

    def profile(self, side: Side, configuration: Configuration, *, seconds: float = np.inf) -> Profile:
        assert side == "head"
        self.asked.append(configuration)
        self.now += min(self.takes, seconds)
        note = (f"{len(self.asked)} samples are few.",)
        outcome = "exit" if self.fails(SPACE.as_dict(configuration)) else self.outcome
        if self.takes > seconds or outcome != "ok":
            return Profile(TOOL, "cut" if self.takes > seconds else outcome, 0.1, notes=note)
        rng = np.random.default_rng(len(self.asked))
        return replace(profile(self.costs(SPACE.as_dict(configuration)), noise=0.02, rng=rng), notes=note)

    def watch(
        self,
        side: Side,
        configuration: Configuration,
        methods: Sequence[Method],
        coarse: Profile,
        *,
        seconds: float = np.inf,
        overhead: float | None = None,
        rests: int = 1,
    ) -> Profile:
        """What is hard to learn from few profiles is watched in vain."""
        del side, configuration, methods, coarse, overhead, rests
        self.now += min(self.takes, seconds)
        return Profile(TOOL, "ok", 0.1)

    def bodies(self, side: Side, methods: Iterable[Method]) -> Mapping[Method, str]:
        raise AssertionError("not asked for")


def large(options: Mapping[str, Value]) -> dict[Method, float]:
    """The shop with forty more methods, all of which vary."""
    more = {Method(f"shop.work:f{k}", "shop/work.py"): 0.02 + 0.01 * bool(options["tax"]) for k in range(40)}
    return {**shop(options), **more}


class Flat(Teaching):
    """Brings profiles of the shop whatever the subject is."""

    def teach(self, *arguments: Any, **named: Any) -> Taught:
        (_, _, run), found = arguments, super().teach(*arguments, **named)
        return replace(found, profiles=replace(night(0, drawn(3)), runs=(run,)))


def wanted(count: int, *past: ProfileTable, tip: str = TIP.revision, seed: int = 0) -> list[Wanted]:
    joined = ProfileTable.concatenated(past)
    return list(islice(plan(SPACE, SOLVER, joined, tip, rng=np.random.default_rng(seed)), count))


def teaching(profiler: FakeProfiler, *past: ProfileTable, seconds: float = 100.0) -> Teaching:
    table = ProfileTable.concatenated(past)
    rng = np.random.default_rng(1)
    return Teaching(
        Known(table),
        rng,
        profiler=profiler,
        wanted=lambda measured: plan(SPACE, SOLVER, table, TIP.revision, measured=measured, rng=rng),
        seconds=seconds,
    )


def taught(found: Teaching, seconds: Mapping[Configuration, Sequence[float]] | None = None) -> Taught:
    assert isinstance(found.profiler, FakeProfiler)
    profiler = found.profiler
    return found.teach(
        SUBJECT,
        TIP,
        record(1),
        trials=Measurements.empty(),
        clock=lambda: profiler.now,
        seconds=seconds or {},
    )


def test_a_long_night_tries_all_kinds_of_models_and_a_short_one_those_that_are_quick() -> None:
    efforts = [teaching(FakeProfiler(), seconds=seconds).effort for seconds in (10.0, 60.0, 600.0)]
    assert [(set(one.kinds) == set(KINDS), one.most) for one in efforts] == [
        (False, 10),
        (False, 30),
        (True, 60),
    ]


def test_a_first_night_begins_with_the_default_and_mixes_random_and_designed_configurations() -> None:
    found = wanted(31)
    assert found[0] == Wanted(SPACE.default)
    assert 10 <= sum(one.drawn for one in found[1:21]) <= 13  # a designed one may have been drawn
    chosen = [one.configuration for one in found]
    assert len(set(chosen)) == len(chosen) and all(map(SOLVER.valid, chosen))
    pairs = {pair for one in chosen for pair in combinations(enumerate(one), 2)}
    possible = (pair for one in SOLVER.configurations(1000) or [] for pair in combinations(enumerate(one), 2))
    assert pairs == set(possible)


def test_with_too_many_options_for_pairs_a_night_turns_each_on_alone() -> None:
    space = Space(tuple(Option(f"o{k}", "flag", (False, True), False) for k in range(200)))
    rng = np.random.default_rng(1)
    found = plan(space, ConstraintSolver(space), ProfileTable.concatenated([]), TIP.revision, rng=rng)
    ons = [sum(map(bool, one.configuration)) for one in islice(found, 40) if not one.drawn]
    assert len(ons) > 15 and set(ons) <= {0, 1}


def test_a_night_at_a_new_tip_looks_at_some_known_configurations_again_and_then_at_new_ones() -> None:
    known = [SPACE.default, *drawn(20)]
    found = wanted(20, night(0, known))
    anchors = [one.configuration for one in found[:ANCHORS]]
    assert anchors[0] == SPACE.default and set(anchors) <= set(known)
    assert not {one.configuration for one in found[ANCHORS:]} & set(known)


def test_some_of_tonights_trials_are_repeated_under_the_profiler() -> None:
    trials = drawn(20, seed=5)
    found = list(
        islice(
            plan(SPACE, SOLVER, ProfileTable.empty(), "", measured=trials, rng=np.random.default_rng(0)), 30
        )
    )
    chosen = {one.configuration for one in found}
    assert set(trials[:COMPARED]) <= chosen and sum(not one.drawn for one in found[:15]) >= 6


def test_a_night_at_the_same_tip_goes_on_where_the_last_one_ended() -> None:
    known = [SPACE.default, *drawn(20)]
    again = wanted(10, night(0, known), tip=f"{0:040x}")
    assert not {one.configuration for one in again} & set(known)


def test_a_space_that_is_known_is_profiled_again_the_oldest_first() -> None:
    every = SOLVER.configurations(100)
    assert every is not None
    found = wanted(200, night(0, every[30:]), night(1, every[:30]))
    fresh = {one.configuration for one in found[ANCHORS : len(every) - 30]}
    assert fresh <= set(every[30:]) and len(found) == len(every) == len({w.configuration for w in found})


def test_the_first_configurations_are_profiled_twice_once_there_are_enough_to_learn_from() -> None:
    profiler = FakeProfiler()
    taught(teaching(profiler, seconds=40.0))
    assert len(set(profiler.asked[:FEWEST])) == FEWEST
    assert profiler.asked[FEWEST : FEWEST + REPEATED] == profiler.asked[:REPEATED]
    times = [profiler.asked.count(c) for c in dict.fromkeys(profiler.asked)]
    assert times[:REPEATED] == [2] * REPEATED and set(times[REPEATED:]) == {1}
    later = FakeProfiler()
    taught(teaching(later, night(0, [SPACE.default, *drawn(REPEATED)]), seconds=40.0))
    assert len(set(later.asked)) == len(later.asked)


def test_repetitions_are_counted_by_run_and_configuration() -> None:
    once = night(0, drawn(5), repetitions=1)
    assert repeated(ProfileTable.concatenated([once, night(1, drawn(3))])) == 3
    assert repeated(ProfileTable.empty()) == 0


def test_profiles_end_with_their_share_of_the_time_and_none_is_begun_that_would_be_cut() -> None:
    profiler = FakeProfiler(takes=7.0)
    found = taught(teaching(profiler, seconds=100.0))
    assert profiler.now <= 65.0 and len(profiler.asked) == 9
    assert "9 profiles were made at the tip." in found.notes
    assert sum("samples are few" in note for note in found.notes) == 1


def test_one_profile_is_counted_as_one() -> None:
    found = taught(teaching(FakeProfiler(takes=7.0), seconds=12.0))
    assert "1 profile was made at the tip." in found.notes


def test_a_profile_that_takes_longer_than_there_is_time_ends_the_profiles() -> None:
    profiler = FakeProfiler(takes=100.0)
    found = taught(teaching(profiler, seconds=50.0))
    assert len(profiler.asked) == 1 and not len(found.profiles)
    assert NOTHING in found.notes


def test_a_program_that_fails_under_the_profiler_is_given_up() -> None:
    profiler = FakeProfiler(outcome="signal")
    found = taught(teaching(profiler))
    assert len(profiler.asked) == HOPELESS
    assert "0 profiles were made at the tip; 3 failed." in found.notes
    assert "Methods were not profiled: trials fail under the profiler." in found.notes


def test_what_fails_again_and_again_under_the_profiler_is_left_out() -> None:
    profiler = FakeProfiler(fails=lambda options: options["fancy"] is True)
    found = taught(teaching(profiler, seconds=60.0))
    failed = [c for c in profiler.asked if SPACE.as_dict(c)["fancy"]]
    assert len(failed) < 6 < len(profiler.asked) - len(failed)
    assert any("others with `fancy` were left out" in note for note in found.notes)


def test_a_night_tells_the_influences_of_all_nights() -> None:
    past = night(0, [SPACE.default, *drawn(30)], noise=0.02)
    found = taught(teaching(FakeProfiler(), past, seconds=40.0))
    entry = next(i for i in found.influences if i.method == DRAW.name and i.term == ("fancy",))
    assert entry.influence == pytest.approx(0.1, rel=0.15)
    assert any("at 2 revisions" in note for note in found.notes)
    assert len(found.profiles) and found.profiles.revisions == (TIP,)


@pytest.mark.parametrize("each", [0.5, 2.0, 10.0])
def test_learning_ends_with_the_time_for_it_however_slow_the_machine_is(
    monkeypatch: pytest.MonkeyPatch, each: float
) -> None:
    profiler = FakeProfiler(costs=large)

    def slow(*arguments: Any, **named: Any) -> Any:
        profiler.now += each
        return choose(*arguments, **named)

    monkeypatch.setattr(fitting, "choose", slow)
    found = taught(teaching(profiler, seconds=60.0))
    assert profiler.now <= 60.0 * 1.05 + 3 * each  # of one method: seconds, calls, seconds of a call
    assert found.influences[0].method is None and len(found.profiles)
    assert any("Time was left for no more methods" in note for note in found.notes)


def test_where_no_time_is_left_nothing_is_learnt_and_profiles_are_kept() -> None:
    @dataclass(frozen=True)
    class Slow(Teaching):
        def known_of(self, known: Known, space: Space) -> tuple[Known, tuple[str, ...]]:
            assert isinstance(self.profiler, FakeProfiler)
            self.profiler.now += 100.0
            return super().known_of(known, space)

    profiler = FakeProfiler()
    asked = teaching(profiler, seconds=60.0)
    found = taught(Slow(asked.known, asked.rng, profiler=profiler, wanted=asked.wanted, seconds=60.0))
    assert not found.influences and len(found.profiles)
    assert NO_TIME in found.notes


def test_seconds_of_trials_without_a_profiler_are_kept_where_they_are_known() -> None:
    found = taught(teaching(FakeProfiler(), seconds=40.0), {SPACE.default: [0.3, 0.1, 0.2]})
    first = found.profiles.where(found.profiles.profile == 0)
    assert first.unprofiled.tolist() == [0.2] * len(first)
    assert np.isnan(found.profiles.unprofiled[-1])


def test_time_that_the_search_left_over_goes_into_profiles_while_few_configurations_are_known() -> None:
    early, late = FakeProfiler(), FakeProfiler()
    taught(teaching(early, seconds=20.0))
    taught(replace(teaching(late, seconds=20.0), begins=30.0))
    assert len(late.asked) == len(early.asked) + 30


def test_time_that_the_search_left_over_is_not_spent_once_enough_configurations_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(profiles, "ENOUGH", 30)
    profiler = FakeProfiler()
    taught(replace(teaching(profiler, seconds=20.0), begins=1000.0))
    assert len(profiler.asked) == 30


def test_configurations_that_were_drawn_are_marked() -> None:
    table = taught(teaching(FakeProfiler(), seconds=40.0)).profiles
    assert 0.3 < table.drawn[np.unique(table.profile, return_index=True)[1]].mean() < 0.6


def test_a_cut_profile_is_not_kept() -> None:
    profiler = FakeProfiler(takes=2.0)
    work = Profiling(profiler, [Wanted(SPACE.default)], lambda: 0.0, 1.0)
    work.run(TIP, SPACE, {})
    assert not len(work.recorder) and not work.profiled


@pytest.mark.parametrize(("more", "said"), [(0, False), (1, True)])
def test_a_night_says_when_a_profile_has_more_methods_than_are_kept(more: int, said: bool) -> None:
    class Huge(FakeProfiler):
        def profile(self, side: Side, configuration: Configuration, *, seconds: float = np.inf) -> Profile:
            del side, configuration, seconds
            costs = {Method(f"m{i}"): MethodCost(1e-5) for i in range(MOST_METHODS + more)}
            return Profile(TOOL, "ok", 0.1, costs)

    work = Profiling(Huge(), [Wanted(SPACE.default)], lambda: 0.0, 1.0)
    note = "Of each profile the 10,000 methods with the largest shares are kept."
    assert (note in work.run(TIP, SPACE, {})) == said
    assert len(work.recorder) == MOST_METHODS


def test_a_night_without_methods_learns_the_program_from_its_trials() -> None:
    store = MemoryStore()
    asked = job(Moving(), store, 40)
    solver = ConstraintSolver(asked.subject.space)
    every = solver.configurations(100)
    assert every is not None
    report = run_night(replace(asked, teaching=Teaching(Known(), np.random.default_rng(0), sample=every)))
    told = {i.term: i.influence for i in report.influences}
    assert told["alpha",] == pytest.approx(0.3, rel=0.15) and told["delta",] == pytest.approx(0.2, rel=0.15)
    assert {i.method for i in report.influences} == {None}
    assert not store.tables and len(store.runs[0].configurations) == len(every)


def test_profiles_are_remembered_with_the_trials_of_their_night() -> None:
    store = MemoryStore()
    run_night(replace(job(Moving(), store, 40), teaching=Flat(Known(), np.random.default_rng(0))))
    assert store.tables[0].runs[0].id == store.runs[0].runs[0].id == "night-0"


def test_a_history_that_cannot_be_written_is_told_once() -> None:
    asked = job(Moving(), MemoryStore(full=True), 40)
    report = run_night(replace(asked, teaching=Flat(Known(), np.random.default_rng(0))))
    assert sum("not remembered" in note for note in report.notes) == 1
