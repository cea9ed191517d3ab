"""Which single calls a night watches, in which configurations, and what it says when it cannot."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bot.flows.influences.known_costs import Known
from bot.flows.influences.learning import learnt
from bot.flows.influences.profiles import Wanted
from bot.flows.night import night as run_night
from bot.flows.nights.teaching import Taught, Teaching
from bot.flows.nights.watching import HOPELESS, TWICE, Watching
from bot.model.duration_history import NO_BIN
from bot.model.history import Measurements
from bot.model.profiles import CallSeries, Method, Profile
from bot.model.space import Configuration
from tests.fakes import FINE, FakeBench, FakeProfiles
from tests.flows.nights import MemoryStore, Moving, job
from tests.flows.test_influence_learning import FEW
from tests.flows.test_night_profiles import TIP
from tests.profiled import DRAW, MAIN, PRICE, SPACE, SUBJECT, drawn, night, record, shop

SORT = Method("shop.sorting:sort", "shop/sorting.py", 3)
FRILL = Method("shop.ui:frill", "shop/ui.py", 9)
CONFIGURATIONS = [SPACE.default, *drawn(40)]


def moody(options: Mapping[str, Any]) -> dict[Method, float]:
    """The shop with a method that no model of options can learn, and frills in fancy."""
    found = {**shop(options), **({FRILL: 0.1} if options["fancy"] else {})}
    return {**found, SORT: 0.2 + 0.6 * (zlib.crc32(repr(sorted(options.items())).encode()) % 997) / 997}


def profiler(takes: float = 1.0, **settings: Any) -> FakeProfiles:
    def seconds(_: object, configuration: Configuration) -> Mapping[str, float]:
        return {m.name: cost for m, cost in moody(SPACE.as_dict(configuration)).items()}

    return FakeProfiles(FakeBench(np.random.default_rng(5), 1e9, {}), seconds, takes=takes, **settings)


def watching(found: FakeProfiles, *methods: Method, until: float = 1000.0) -> Watching:
    return Watching(found, [m.name for m in methods], found.bench.elapsed, until)


TONIGHT = night(0, CONFIGURATIONS, moody, noise=0.02)


def test_methods_that_no_model_fits_are_hard_and_others_are_not() -> None:
    found = learnt(Known(TONIGHT), SUBJECT, rng=np.random.default_rng(3), effort=FEW)
    assert found.hard == (SORT.name,)
    plain = learnt(
        Known(night(0, CONFIGURATIONS, noise=0.02)), SUBJECT, rng=np.random.default_rng(3), effort=FEW
    )
    assert plain.hard == ()


def test_the_published_filter_names_hard_methods_of_the_published_pipeline() -> None:
    effort = replace(FEW, published=True)
    found = learnt(Known(TONIGHT), SUBJECT, rng=np.random.default_rng(3), effort=effort)
    assert SORT.name in found.hard and MAIN.name not in found.hard


def test_hard_methods_are_watched_in_tonights_configurations_the_first_twice() -> None:
    tools = profiler()
    work = watching(tools, SORT)
    notes = work.run(TIP, SPACE, TONIGHT)
    asked = [configuration for _, configuration, _ in tools.watched]
    order = list(dict.fromkeys(asked))
    assert order[0] == SPACE.default and set(order) == set(CONFIGURATIONS)
    assert [asked.count(c) for c in order] == [2] * TWICE + [1] * (len(order) - TWICE)
    table = work.recorder.table(record(1))
    assert set(table.methods) == {SORT} and table.count.sum() == 10 * len(asked)
    assert notes == (
        "Watched.",
        f"Single calls of methods that are hard to learn were watched in {len(asked)} trials: `{SORT.name}`.",
    )


def test_a_method_is_watched_where_it_is_called_and_known_not_to_be_elsewhere() -> None:
    tools = profiler()
    work = watching(tools, FRILL, PRICE)
    work.run(TIP, SPACE, TONIGHT)
    for _, configuration, methods in tools.watched:
        assert (FRILL in methods) == SPACE.as_dict(configuration)["fancy"] and PRICE in methods
    table = work.recorder.table(record(1))
    never = table.where(table.bin == NO_BIN)
    assert {table.methods[m] for m in never.method} == {FRILL} and never.count.sum() == 0
    assert not any(never.configurations[c]["fancy"] for c in never.configuration)


def test_where_no_hard_method_is_called_nothing_is_watched() -> None:
    tools = profiler()
    work = watching(tools, DRAW)
    work.run(TIP, SPACE, TONIGHT)
    assert all(SPACE.as_dict(configuration)["fancy"] for _, configuration, _ in tools.watched)
    assert watching(tools, Method("gone")).run(TIP, SPACE, TONIGHT) == ()


def test_methods_outside_of_the_checkout_are_watched_only_where_there_are_no_others() -> None:
    tools = profiler()
    watching(tools, MAIN, SORT).run(TIP, SPACE, TONIGHT)  # main has no file
    assert {methods for _, _, methods in tools.watched} == {(SORT,)}
    alone = profiler()
    watching(alone, MAIN).run(TIP, SPACE, TONIGHT)
    assert {methods for _, _, methods in alone.watched} == {(MAIN,)}


def test_watching_ends_with_its_time_and_a_cut_trial_is_not_kept() -> None:
    tools = profiler(takes=7.0)
    work = watching(tools, SORT, until=30.0)
    work.run(TIP, SPACE, TONIGHT)
    assert len(tools.watched) == 4 and work.watched == 4
    short = watching(profiler(takes=7.0), SORT, until=5.0)
    assert short.run(TIP, SPACE, TONIGHT) == () and not len(short.recorder)


def test_trials_that_fail_under_the_fine_profiler_are_given_up() -> None:
    tools = profiler(outcome="signal")
    (_, note) = watching(tools, SORT).run(TIP, SPACE, TONIGHT)
    assert len(tools.watched) == HOPELESS and "in 0 trials; 3 failed" in note


@pytest.mark.parametrize("hard", [True, False])
def test_a_night_watches_after_it_has_learnt_within_its_time(hard: bool) -> None:
    tools = profiler(takes=0.5)
    if not hard:
        tools.seconds = lambda _, c: {MAIN.name: 0.05}
    past = night(0, CONFIGURATIONS, moody if hard else lambda _: {MAIN: 0.05}, noise=0.02)
    teaching = Teaching(Known(past), np.random.default_rng(1), profiler=tools, wanted=again, seconds=100.0)
    found = taught(teaching, tools)
    assert tools.bench.elapsed() <= 100.0
    if hard:
        watched = found.durations.table(record(1))
        assert SORT.name in {m.name for m in watched.methods}
        assert watched.revisions == (TIP,)
        assert any("hard to learn were watched" in note for note in found.notes)
    else:
        assert not tools.watched and not len(found.durations)


@pytest.mark.parametrize("hard", [True, False])
def test_what_watches_is_made_ready_only_where_there_is_something_to_watch(hard: bool) -> None:
    tools, other = profiler(takes=0.5), profiler(takes=0.5)
    asked = []

    def watcher() -> FakeProfiles:
        asked.append(1)
        return other

    past = night(0, CONFIGURATIONS, moody if hard else lambda _: {MAIN: 0.05}, noise=0.02)
    if not hard:
        tools.seconds = lambda _, c: {MAIN.name: 0.05}
    rng = np.random.default_rng(1)
    taught(Teaching(Known(past), rng, profiler=tools, wanted=again, seconds=100.0, watcher=watcher), tools)
    assert len(asked) == hard and bool(other.watched) == hard and not tools.watched


def again(_: object) -> list[Wanted]:
    return [Wanted(c, drawn=True) for c in CONFIGURATIONS]


def taught(teaching: Teaching, tools: FakeProfiles) -> Taught:
    return teaching.teach(
        SUBJECT, TIP, record(1), trials=Measurements.empty(), clock=tools.bench.elapsed, seconds={}
    )


class Watched(Teaching):
    """Brings durations whatever the subject is."""

    def teach(self, *arguments: Any, **named: Any) -> Taught:
        found = super().teach(*arguments, **named)
        calls = CallSeries(SORT, (), 1, 1.0, np.ones(1), np.zeros(0), np.zeros(0, np.int64))
        found.durations.add(Profile(FINE, "ok", 1.0, series=[calls]), TIP, {})
        return found


def test_durations_are_remembered_with_the_trials_of_their_night() -> None:
    store = MemoryStore()
    run_night(replace(job(Moving(), store, 40), teaching=Watched(Known(), np.random.default_rng(0))))
    assert store.calls[0].runs[0].id == store.runs[0].runs[0].id == "night-0"


def test_durations_that_cannot_be_written_are_told_once() -> None:
    asked = job(Moving(), MemoryStore(full=True), 40)
    report = run_night(replace(asked, teaching=Watched(Known(), np.random.default_rng(0))))
    assert sum("not remembered" in note for note in report.notes) == 1
