"""Whole nights over a program that moves: what is found, remembered and told, and what goes wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from bot.flows.influences.known_costs import Known
from bot.flows.night import night
from bot.flows.nights.job import NightJob
from bot.flows.nights.teaching import Teaching
from bot.flows.ports import RevisionBench
from bot.model.change_points import Observation, Probe
from bot.model.errors import UsageError
from bot.model.report import Report, Spent
from bot.model.trials import UNREAD
from bot.report.media import markdown
from bot.report.ranges.headline import range_headline
from tests.fakes import RecordingProgress
from tests.flows.nights import FLAGS, MemoryStore, Moving, job


def told(report: Report) -> list[tuple[str, tuple[str, ...]]]:
    return [(point.label, point.term) for point in report.change_points]


def items(report: Report, kind: str) -> str:
    return "\n".join(item for listed in report.lists if listed.kind == kind for item in listed.items)


def test_a_night_without_a_change_says_what_it_would_have_seen() -> None:
    report = night(job(Moving(), MemoryStore(), 40))
    assert report.mode == "nightly" and report.verdict == "none" and report.change_points == ()
    assert "Nothing new moved" in items(report, "learnt") and items(report, "unclear") == ""
    assert items(report, "tomorrow")
    seen = [option.slow_down for option in report.visible.options]
    assert len(seen) == 5 and all(s is not None and 0.0 < s < 0.1 for s in seen)


@pytest.mark.parametrize("duets", [False, True])
def test_the_second_night_finds_the_commit_and_the_third_knows_it(duets: bool) -> None:
    program, store = Moving([(47, ("alpha",), 0.2)]), MemoryStore()
    night(job(program, store, 40, duets=duets))
    second = night(job(program, store, 52, number=1, duets=duets))
    assert told(second) == [("v47", ("alpha",))] and second.verdict == "regression"
    assert second.change_points[0].interval == ("id47", "id47")
    assert "`alpha` became" in items(second, "learnt") and "not accepted" not in items(second, "learnt")
    third = night(job(program, store, 63, number=2, duets=duets))
    assert told(third) == [("v47", ("alpha",))] and third.verdict == "regression"
    assert "Known from earlier nights' trials and not accepted: `alpha`" in items(third, "learnt")


def test_a_night_whose_trials_never_opened_their_input_is_not_green() -> None:
    one = job(Moving(), MemoryStore(), 40)
    bench = Unbuildable(one.bench, [])
    bench.notes = lambda: [f"{UNREAD} `a` (workload `a`)."]
    report = night(replace(one, bench=bench))
    assert report.verdict == "inconclusive"
    assert "no trial opened its input" in markdown(range_headline(report).title)


def test_what_the_budget_did_not_reach_is_named_tonight_where_the_trials_say_it() -> None:
    program, store = Moving([(44, (), 0.1), (49, ("beta",), 0.12)]), MemoryStore()
    night(job(program, store, 40, budget=90.0))
    report = night(job(program, store, 52, number=1, budget=90.0))
    assert told(report) == [("v44", ()), ("v49", ("beta",))]
    assert "`beta` became" in items(report, "learnt") and "`beta` may be" not in items(report, "unclear")
    assert "Ask again whether `beta`" not in items(report, "tomorrow")


def test_a_night_that_ended_before_its_first_value_says_so() -> None:
    program, store = Moving([(47, ("alpha",), 0.2)]), MemoryStore()
    night(job(program, store, 40))
    one = job(program, store, 52, number=1)
    report = night(replace(one, bench=Unfinished(one.bench, [])))
    assert report.verdict == "inconclusive"
    assert any("ended before its first trial gave a value: give it more budget." in n for n in report.notes)
    assert any("What earlier nights know is not told" in n for n in report.notes)


def test_a_night_too_small_for_one_comparison_measured_nothing_says_so_and_begins_nothing_else() -> None:
    one = job(Moving(), MemoryStore(), 40)
    progress, teaching = RecordingProgress(), Teaching(Known(), np.random.default_rng(0))
    bench = Unfinished(one.bench, [])
    bench.elapsed = lambda: 2.0
    bench.spent = lambda: Spent(seconds=2.0, trials=2, pairs=1)
    report = night(replace(one, bench=bench, progress=progress, teaching=teaching))
    assert not report.measured and "profiling the tip" not in progress.stages
    found = range_headline(report)
    assert markdown(found.title) == "Nothing was measured: the budget ended before the first comparison"
    assert "About 1 min would do for a first look." in markdown(found.lead[0])
    assert "raise `budget.nightly`" in markdown(found.action)


def test_a_night_without_time_for_a_pair_still_tells_what_earlier_nights_know() -> None:
    program, store = Moving([(47, ("alpha",), 0.2)]), MemoryStore()
    night(job(program, store, 40))
    night(job(program, store, 52, number=1))
    third = night(job(program, store, 63, number=2, budget=1.0))
    assert told(third) == [("v47", ("alpha",))] and third.verdict == "regression"
    assert "Known from earlier nights' trials and not accepted: `alpha`" in items(third, "learnt")


def test_a_pair_of_options_is_named_as_one_term() -> None:
    program, store = Moving([(45, ("beta", "gamma"), 0.25)]), MemoryStore()
    night(job(program, store, 40))
    report = night(job(program, store, 52, number=1))
    assert told(report) == [("v45", ("beta", "gamma"))]


@pytest.mark.parametrize("factor", [0.75, 1.3])
def test_another_machine_is_told_and_no_commit_is_blamed(factor: float) -> None:
    store = MemoryStore()
    night(job(Moving(), store, 40))
    report = night(job(Moving(machine=factor), store, 52, number=1))
    assert report.change_points == () and report.verdict == "none"
    assert any("The environment moved" in note and "No commit is blamed" in note for note in report.notes)


def test_a_change_on_the_night_of_another_machine_is_still_found() -> None:
    store = MemoryStore()
    night(job(Moving(), store, 40))
    report = night(job(Moving([(47, ("delta",), 0.2)], machine=1.2), store, 52, number=1))
    assert told(report) == [("v47", ("delta",))]


def test_the_anchor_stays_where_it_is() -> None:
    store = MemoryStore()
    jobs: list[NightJob] = []
    for number, tip in enumerate((40, 52, 60)):
        jobs.append(job(Moving(), store, tip, number=number))
        night(jobs[-1])
    assert [one.revisions[0].id for one in jobs] == ["id10", "id10", "id10"]
    assert [one.revisions[one.search.window.reference].id for one in jobs] == ["id10", "id10", "id40"]


def test_a_history_that_cannot_be_written_is_a_note() -> None:
    report = night(job(Moving(), MemoryStore(full=True), 40))
    assert report.verdict == "none"
    assert any("not remembered: the disk is full" in note for note in report.notes)


def test_a_night_that_is_stopped_remembers_what_it_measured() -> None:
    store = MemoryStore()
    asked = iter(range(10**6))
    report = night(job(Moving(), store, 40, stop=lambda: next(asked) > 20))
    assert report.interrupted == "signal" and report.verdict == "inconclusive"
    assert len(store.runs) == 1 and len(store.runs[0]) == report.spent.trials > 10


def test_a_program_that_raises_ends_the_night_after_it_was_remembered() -> None:
    store = MemoryStore()
    calls = iter(range(10**6))

    def breaks(revision: int) -> bool:
        if next(calls) > 15:
            raise ValueError("no more")
        return False

    with pytest.raises(UsageError, match="no more"):
        night(job(Moving(failing=breaks), store, 40))
    assert len(store.runs[0]) == 16


def test_a_tip_at_which_everything_fails_is_not_green() -> None:
    report = night(job(Moving(failing=lambda revision: revision == 40), MemoryStore(), 40))
    assert report.verdict == "inconclusive"
    assert any("Every trial at the tip `v40` failed" in note for note in report.notes)


@pytest.mark.parametrize("level", ["beta", "!beta"])
def test_a_level_that_broke_is_soon_left_alone_and_the_change_beside_it_found(level: str) -> None:
    program, store = Moving([(47, ("alpha",), 0.2)]), MemoryStore()
    night(job(program, store, 40, duets=True))
    program.broken = (level, 44)
    report = night(job(program, store, 52, number=1, duets=True))
    assert told(report) == [("v47", ("alpha",))]
    assert report.spent.failed_trials < 40
    (note,) = [note for note in report.notes if "Nothing works with" in note]
    assert f"`{level}` tonight" in note and "the last time at `v40`: a later revision broke it" in note


def test_a_night_goes_on_where_the_emptiest_and_the_fullest_configuration_fail() -> None:
    def fails(configurations: np.ndarray) -> np.ndarray:
        return np.asarray(configurations[:, 0] == configurations[:, 1])

    class Alike(Moving):
        """Fails where `alpha` and `beta` are alike."""

        def __call__(self, revision: int, configurations: np.ndarray) -> np.ndarray:
            return np.where(fails(configurations), math.nan, super().__call__(revision, configurations))

    program, store = Alike([(47, ("gamma",), 0.2)]), MemoryStore()
    night(job(program, store, 40))
    report = night(job(program, store, 52, number=1))
    assert told(report) == [("v47", ("gamma",))]


def test_a_night_in_which_nothing_works_measured_nothing() -> None:
    report = night(job(Moving(failing=lambda revision: True), MemoryStore(), 40))
    assert report.verdict == "inconclusive" and not report.measured and report.change_points == ()


@pytest.mark.parametrize("seed", [1, 12, 14])
def test_what_became_slower_in_several_commits_is_not_passed_over_as_a_drift_of_the_machine(
    seed: int,
) -> None:
    steps = [(33, (), 0.12), (34, (), 0.05), (35, (), 0.05)]
    program = Moving(steps, noise=0.035, rng=np.random.default_rng(seed))
    report = night(job(program, MemoryStore(), 40, number=seed, budget=250.0, duets=True))
    assert report.change_points or any(one.kind == "unclear" for one in report.lists)


def test_what_fails_beside_the_tip_is_told_and_hardly_tried_again() -> None:
    store = MemoryStore()
    report = night(job(Moving(colliding=("alpha", "beta")), store, 40, duets=True))
    (run,) = store.runs
    failed = run.configuration[np.isnan(run.value) & ~run.second].tolist()
    # The fullest configuration is asked for three times at once, and others at both ends.
    assert 0 < len(failed) <= 3 + 2 * (len(set(failed)) - 1)
    (told,) = [note for note in report.notes if "beside which all trials run" in note]
    assert told.startswith(f"{len(set(failed))} configurations fail at v40, ")


def test_a_reference_that_fails_is_replaced_by_a_later_one() -> None:
    program = Moving([(35, ("alpha",), 0.2)], failing=lambda revision: revision < 20)
    report = night(job(program, MemoryStore(), 40))
    assert told(report) == [("v35", ("alpha",))]


def test_a_budget_that_ends_early_is_told_and_found_out_the_night_after() -> None:
    program, store = Moving([(38, ("alpha",), 0.15)], noise=0.02), MemoryStore()
    first = night(job(program, store, 40, budget=60.0))
    assert first.verdict in ("inconclusive", "regression")
    assert "Look more closely" in items(first, "tomorrow")
    second = night(job(program, store, 52, number=1))
    assert ("v38", ("alpha",)) in told(second)


def test_a_night_cut_amid_its_questions_does_not_say_that_it_looked_too_little() -> None:
    program = Moving([(35, ("alpha",), 0.12), (37, ("beta",), 0.1)])
    report = night(job(program, MemoryStore(), 40, budget=60.0))
    seen = [option.slow_down for option in report.visible.options]
    assert all(s is not None and s < 0.03 for s in seen) and "Ask again" in items(report, "tomorrow")
    assert "Look more closely" not in items(report, "tomorrow")


class Unbuildable:
    """A bench that cannot build some revisions."""

    def __init__(self, bench: RevisionBench, broken: Sequence[int]) -> None:
        self.bench, self.broken = bench, broken
        self.elapsed, self.stopped, self.spent = bench.elapsed, bench.stopped, bench.spent
        self.notes, self.environment = bench.notes, bench.environment

    def measure(self, probes: Sequence[Probe]) -> Iterator[Observation]:
        for probe in probes:
            if probe.revision in self.broken:
                yield Observation(probe, math.nan, built=False)
            else:
                yield from self.bench.measure([probe])


class Unfinished(Unbuildable):
    """A bench whose time is over before its first value."""

    def measure(self, probes: Sequence[Probe]) -> Iterator[Observation]:
        return iter(())


def test_a_tip_with_nothing_before_it_to_compare_with_says_so_and_does_not_ask_for_more_time() -> None:
    one = job(Moving(), MemoryStore(), 40)
    report = night(replace(one, bench=Unbuildable(one.bench, range(len(one.revisions) - 1))))
    assert report.verdict == "inconclusive"
    found = range_headline(report)
    assert markdown(found.title) == "Not clear: there is nothing to compare the tip with"
    assert markdown(found.action).startswith("run `suspects check` at an earlier one that should work")


def test_a_tip_of_which_only_the_revision_before_it_works_is_compared_with_that() -> None:
    one = job(Moving(), MemoryStore(), 40)
    last = len(one.revisions) - 1
    night(replace(one, bench=Unbuildable(one.bench, range(last - 1))))
    assert one.search.compared_ == (last, last - 1)


def test_a_change_among_unbuildable_revisions_is_an_interval() -> None:
    program, store = Moving([(30, ("gamma",), 0.3)], rng=np.random.default_rng(1)), MemoryStore()
    one = job(program, store, 40)
    broken = [i - 10 for i in (28, 29, 30, 31)]
    report = night(replace(one, bench=Unbuildable(one.bench, broken)))
    (point,) = report.change_points
    assert point.term == ("gamma",) and point.interval == ("id28", "id32")
    assert any("could not be built" in note for note in report.notes)


def test_a_first_night_whose_oldest_revision_does_not_build_names_what_it_compared_with() -> None:
    program, store = Moving([], rng=np.random.default_rng(1)), MemoryStore()
    one = job(program, store, 40)
    report = night(replace(one, bench=Unbuildable(one.bench, [0])))
    assert any(note.startswith("1 of 31 revisions could not be built: `") for note in report.notes)
    oldest, next_one = (f"`{one.revisions[place].label}`" for place in (0, 1))
    assert f"Compare the new tip with {next_one} in" in items(report, "tomorrow")
    assert f"since {next_one}." in items(report, "learnt") and oldest not in items(report, "learnt")


class Young(Moving):
    """A program of which two options are younger than most of its revisions."""

    def __call__(self, revision: int, configurations: np.ndarray) -> np.ndarray:
        young = configurations[:, [FLAGS.index(name) for name in ("alpha", "beta", "gamma")]].any(axis=1)
        return np.where(young & (revision < 35), math.nan, super().__call__(revision, configurations))


def test_where_options_are_younger_than_the_reference_the_tip_is_compared_with_the_night_before() -> None:
    program, store = Young([(45, ("delta",), 0.3)]), MemoryStore()
    first = night(job(program, store, 40))
    assert any(
        "Most of what was tried fails at `v10`: the tip was compared with `v" in n for n in first.notes
    )
    second = night(job(program, store, 50, number=1))
    assert "Most of what was tried fails at `v10`: the tip was compared with `v40` instead." in second.notes
    assert told(second) == [("v45", ("delta",))]


def test_a_change_among_unbuildable_revisions_is_news_once() -> None:
    program, store = Moving([(47, ("gamma",), 0.3)]), MemoryStore()
    said = []
    for number, tip in enumerate((40, 52, 63)):
        one = job(program, store, tip, number=number)
        broken = [i - 10 for i in (45, 46, 47, 48)]
        said.append(night(replace(one, bench=Unbuildable(one.bench, broken))))
    assert [told(report) for report in said[1:]] == [[("v49", ("gamma",))]] * 2
    assert items(said[1], "learnt").startswith("`gamma` became")
    assert "Known from earlier nights' trials and not accepted: `gamma`" in items(said[2], "learnt")


def test_a_night_that_saw_enough_beside_options_with_which_nothing_works_asks_for_no_more_time() -> None:
    report = night(job(Moving(broken=("alpha", 0)), MemoryStore(), 40, budget=3000.0))
    assert report.verdict == "inconclusive" and report.spent.seconds < 1500.0
    assert any("Nothing works with `alpha`" in note for note in report.notes)
    found = range_headline(report)
    assert markdown(found.title) == "Not clear: no change found, but with some options nothing works"
    assert markdown(found.action).startswith("mend how these are run, or forbid them by `constraints`")
