"""A night by the published pipeline: its sample five times each, over several nights, and its filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from bot.compose.nights import AskedNight, Remembered
from bot.compose.published_nights import with_estimator
from bot.flows.influences.known_costs import Known
from bot.flows.influences.profiles import HOPELESS
from bot.flows.night import night as run_night
from bot.flows.nights.teaching import Taught, Teaching
from bot.flows.nights.watching import TWICE
from bot.flows.published.teaching import PLANNING, REPETITIONS, PublishedTeaching, remaining
from bot.model.duration_history import DurationTable
from bot.model.history import Measurements
from bot.model.profile_history import ProfileTable
from bot.model.space import Configuration, Space
from bot.model.subject import Subject
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.published.influences import influence_sample
from bot.settings import Settings
from tests.fakes import FakeBench, FakeProfiles
from tests.flows.nights import MemoryStore, Moving, job
from tests.flows.test_night_profiles import TIP
from tests.flows.test_night_watching import SORT, moody, profiler
from tests.profiled import DRAW, MAIN, PRICE, SPACE, SUBJECT, drawn, night, record, shop

DESIGN = influence_sample(SPACE, ConstraintSolver(SPACE), rng=np.random.default_rng(0))
WHOLE = f"Published sample: {len(DESIGN)} of {len(DESIGN)} configurations profiled {REPETITIONS} times."
PLENTY = 100_000.0


def steady(takes: float = 1.0) -> FakeProfiles:
    """The shop, in which every method but one is learnt."""

    def seconds(_: object, configuration: Configuration) -> Mapping[str, float]:
        return {m.name: cost for m, cost in shop(SPACE.as_dict(configuration)).items()}

    return FakeProfiles(FakeBench(np.random.default_rng(5), 1e9, {}), seconds, takes=takes)


def taught(
    tools: FakeProfiles,
    *past: Taught,
    seconds: float = PLENTY,
    subject: Subject = SUBJECT,
    also: ProfileTable | None = None,
) -> Taught:
    """One night more at the tip, which knows the earlier ones."""
    space = subject.space
    design = influence_sample(space, ConstraintSolver(space), rng=np.random.default_rng(0))
    profiles = ProfileTable.concatenated(
        [one.profiles for one in past] + ([also] if also is not None else [])
    )
    tables = [one.durations.table(record(7 + i)) for i, one in enumerate(past)]
    teaching = PublishedTeaching(
        Known(profiles, durations=DurationTable.concatenated(tables)),
        np.random.default_rng(3),
        profiler=tools,
        wanted=lambda _: remaining(design, space, profiles, TIP.revision),
        seconds=seconds,
        design=design,
        tip=TIP.revision,
    )
    return teaching.teach(
        subject,
        TIP,
        record(1 + len(past)),
        trials=Measurements.empty(),
        clock=tools.bench.elapsed,
        seconds={},
    )


def profiled(tools: FakeProfiles) -> list[Configuration]:
    return [configuration for _, configuration in tools.asked]


def test_the_whole_sample_is_profiled_five_times_and_learnt_by_the_published_learner() -> None:
    tools = steady()
    found = taught(tools)
    assert profiled(tools) == [c for c in DESIGN for _ in range(REPETITIONS)]
    assert not found.profiles.drawn.any()
    assert WHOLE in found.notes and PLANNING in found.notes
    assert any(
        note.startswith(f"Learnt by the published pipeline from {len(DESIGN)} ") for note in found.notes
    )
    fancy = next(i for i in found.influences if i.method == DRAW.name and i.term == ("fancy",))
    assert fancy.influence == pytest.approx(0.05, rel=0.3)  # a standard deviation: half of what it adds
    assert fancy.noise_floor is None  # ours would tell one


def test_a_budget_that_is_too_small_is_a_note_and_the_next_nights_go_on_where_it_ended() -> None:
    first = steady()
    one = taught(first, seconds=100.0)
    done = len(first.asked) // REPETITIONS
    assert 0 < done < len(DESIGN) and len(first.asked) % REPETITIONS
    said = f"{done} of {len(DESIGN)} configurations profiled 5 times; the next nights at this tip go on."
    assert f"Published sample: {said}" in one.notes
    second = steady()
    two = taught(second, one)
    assert profiled(first) + profiled(second) == [c for c in DESIGN for _ in range(REPETITIONS)]
    assert WHOLE in two.notes and two.influences
    third = steady()
    assert WHOLE in taught(third, one, two).notes and not third.asked


def test_what_was_profiled_at_another_tip_does_not_count() -> None:
    tools = steady()
    taught(tools, also=night(0, DESIGN, repetitions=5))
    assert len(tools.asked) == REPETITIONS * len(DESIGN)


def test_learnt_from_is_the_sample_at_the_tip_alone_and_there_is_no_probe() -> None:
    tip = night(1, [*DESIGN[:20], *drawn(30)], repetitions=5)
    assert tip.drawn.all() and set(DESIGN) - set(drawn(30)) and set(drawn(30)) - set(DESIGN)
    every = Known(ProfileTable.concatenated([tip, night(2, DESIGN)]))
    teaching = PublishedTeaching(every, np.random.default_rng(0), steady(), design=DESIGN, tip=TIP.revision)
    rows = teaching.known_of(every, SPACE)[0].profiles
    assert {rows.revisions[code].revision for code in rows.revision} == {TIP.revision}
    left = {tuple(rows.configurations[code].values()) for code in rows.configuration}
    assert left == set(DESIGN[:20]) | (set(DESIGN) & set(drawn(30)))
    assert not rows.drawn.any()


def test_the_filter_chooses_what_is_watched_in_the_same_configurations() -> None:
    tools = profiler()
    found = taught(tools)
    watched = [c for _, c, _ in tools.watched]
    assert {m.name for _, _, methods in tools.watched for m in methods} == {SORT.name}
    assert watched == [c for k, c in enumerate(DESIGN) for _ in range(2 if k < TWICE else 1)]
    assert any(
        note.startswith("1 hard methods were learnt again from single calls")
        and f"in {len(DESIGN)} conf" in note
        for note in found.notes
    )


def test_methods_that_the_filter_passes_are_not_watched() -> None:
    tools = steady()
    constant = replace(tools, seconds=lambda _side, _c: {MAIN.name: 0.05, PRICE.name: 0.5})
    taught(constant)
    assert len(constant.asked) == REPETITIONS * len(DESIGN) and not constant.watched


def test_nothing_is_watched_before_the_sample_is_whole_and_watching_goes_on_the_next_night() -> None:
    first = profiler()
    one = taught(first, seconds=290.0)
    assert first.asked and not first.watched
    second = profiler()
    two = taught(second, one, seconds=30.0)
    assert 0 < len({c for _, c, _ in second.watched}) < len(DESIGN)
    third = profiler()
    three = taught(third, one, two)
    earlier, later = ({c for _, c, _ in tools.watched} for tools in (second, third))
    assert not earlier & later and earlier | later == set(DESIGN) and not third.asked
    assert any("were learnt again" in n and f"in {len(DESIGN)} conf" in n for n in three.notes)


def test_a_configuration_that_fails_under_the_profiler_is_left_out_and_counted() -> None:
    tools = profiler(outcome="signal")
    one = taught(tools)
    assert len(tools.asked) == HOPELESS
    assert any(f"0 of {len(DESIGN)} configurations" in n and "3 failed under" in n for n in one.notes)
    second = steady()
    two = taught(second, one)
    assert profiled(second) == [c for c in DESIGN[HOPELESS:] for _ in range(REPETITIONS)]
    assert any("3 failed under the profiler." in n for n in two.notes) and two.influences


@pytest.mark.parametrize("options", [0, 1])
def test_with_hardly_any_option_the_sample_is_whole_and_too_small_to_learn_from(options: int) -> None:
    few = SUBJECT.model_copy(update={"options": dict(list(SUBJECT.options.items())[:options])})
    assert few.space.names == SPACE.names[:options]
    tools = steady()
    tools.seconds = lambda _side, _c: {
        m.name: cost for m, cost in moody(SPACE.as_dict(SPACE.default)).items()
    }
    found = taught(tools, subject=few)
    assert len(tools.asked) == REPETITIONS and not found.influences and not tools.watched
    assert "Published sample: 1 of 1 configurations profiled 5 times." in found.notes
    assert any("Configurations that were profiled: 1; 12 are needed." in note for note in found.notes)


def test_the_order_of_the_sample_does_not_depend_on_what_was_profiled() -> None:
    space: Space = SPACE
    some = night(1, DESIGN[3:6], repetitions=2)
    left = list(remaining(DESIGN, space, some, TIP.revision))
    assert [one.configuration for one in left] == DESIGN
    assert [one.times for one in left] == [3 if 3 <= k < 6 else 5 for k in range(len(DESIGN))]


def test_a_program_without_methods_repeats_the_sample_that_its_tip_always_has() -> None:
    store = MemoryStore()
    asked = AskedNight(Settings(), estimator="published")
    plain = replace(job(Moving(), store, 40), teaching=Teaching(Known(), np.random.default_rng(0)))
    remembered = Remembered(store, Measurements.empty(), Measurements.empty(), ProfileTable.empty())
    first, again = (with_estimator(asked, remembered, plain).teaching for _ in range(2))
    assert isinstance(first, PublishedTeaching) and isinstance(again, PublishedTeaching)
    assert first.design == again.design and first.tip == plain.revisions[-1].id
    assert list(first.sample) == [c for c in first.design for _ in range(REPETITIONS)]
    some = with_estimator(asked, remembered, plain, candidates=first.design[:2]).teaching
    assert some is not None and set(some.sample) == set(first.design[:2])
    assert with_estimator(AskedNight(Settings()), remembered, plain) is plain
    report = run_night(with_estimator(asked, remembered, plain))
    assert PLANNING in report.notes and report.influences[0].term == ("alpha",)
    assert any(n.startswith("Learnt by the published pipeline from trials of ") for n in report.notes)
