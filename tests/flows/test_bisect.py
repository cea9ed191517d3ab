"""The bisection of a range, with a scripted search and a simulated bench."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise, product
from typing import Any, Self

import numpy as np
import pytest

from bot.adapters.simulated.revisions import SimulatedRange
from bot.adapters.simulated.sources import CallableSource
from bot.adapters.terminal import QuietProgress
from bot.adapters.trials.journal import NoJournal
from bot.flows.bisect import RangeJob, bisect, unmeasured
from bot.flows.ranges.earlier import Earlier
from bot.flows.ranges.trials import observed
from bot.model.change_points import ChangePoint, Doubt, Observation, Probe
from bot.model.history import RunRecord
from bot.model.report import BuildFailure, Spent, Visible
from bot.model.revisions import Revision
from bot.model.subject import CallableProgram, FlagOption, Subject
from bot.report.media import markdown
from bot.report.ranges.headline import range_headline
from tests.fakes import RecordingProgress
from tests.flows.nights import MemoryStore

REVISIONS = [Revision(f"id{i}", f"v{i}", subject=f"change {i}") for i in range(10)]


def seconds(revision: int, configurations: np.ndarray) -> np.ndarray:
    """A program that fails at revision 3 and is twice as slow with `a` from revision 5 on."""
    if revision == 3:
        return np.full(len(configurations), np.nan)
    return 1.0 + configurations[:, 0] * (revision >= 5)


class EveryRevision:
    """Asks for one configuration at each revision, a batch at a time, and blames the largest step."""

    def __init__(self, revisions: int, batch: int = 3) -> None:
        self.asked = [Probe((True,), r) for r in range(revisions)]
        self.batch = batch
        self.seen: list[Observation] = []

    def wishes(self) -> Sequence[Probe]:
        known = {o.probe for o in self.seen}
        return [p for p in self.asked if p not in known][: self.batch]

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        self.seen += observations
        return self

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        values = {o.probe.revision: o.value for o in self.seen if not math.isnan(o.value)}
        order = sorted(values)
        return [
            ChangePoint(b, (a + 1, b), ("a",), (), values[b] / values[a], (1.9, 2.1), 0.99)
            for a, b in pairwise(order)
            if values[b] != values[a]
        ]


class KeptJournal(NoJournal):
    """A journal in memory."""

    def __init__(self, known: Sequence[Observation] = ()) -> None:
        self.kept = list(known)
        self.known = tuple(known)

    def observations(self) -> Sequence[Observation]:
        return self.known

    def append(self, observation: Observation) -> None:
        self.kept.append(observation)


def job(
    *, trials: int | None = None, journal: NoJournal | None = None, stop: bool = False, **more: Any
) -> RangeJob:
    return RangeJob(
        subject=Subject(
            program=CallableProgram(callable="m:f", revisions=10), options={"a": FlagOption(flag="-a")}
        ),
        name="demo",
        revisions=REVISIONS,
        metric="cpu",
        budget=math.inf,
        search=EveryRevision(len(REVISIONS)),
        bench=SimulatedRange(
            CallableSource(seconds, "m:f", 10),
            first=0,
            rng=np.random.default_rng(0),
            trials=trials,
            stop=lambda: stop,
        ),
        journal=journal or NoJournal(),
        progress=QuietProgress(),
        **more,
    )


RUN = RunRecord(id="bisect-1", mode="bisect", started=datetime(2026, 1, 1, tzinfo=UTC))


def test_what_was_measured_is_added_to_the_history() -> None:
    store = MemoryStore()
    report = bisect(job(store=store, run=RUN))
    (kept,) = store.runs
    assert len(kept) == report.spent.trials == 10 and np.count_nonzero(np.isnan(kept.value)) == 1
    assert "Added to the history (memory): 10 measured values." in report.notes


def test_pairs_are_kept_as_pairs() -> None:
    store = MemoryStore()
    bisect(job(store=store, run=RUN, partner=9))
    (kept,) = store.runs
    assert len(kept) == 19 and observed(kept) == 10


def test_of_a_journal_only_that_is_added_which_the_history_does_not_have() -> None:
    whole = KeptJournal()
    bisect(job(journal=whole))
    store = MemoryStore()
    bisect(job(journal=KeptJournal(whole.kept[:6]), store=store, run=RUN, remembered=4))
    assert [len(kept) for kept in store.runs] == [6]
    bisect(job(journal=KeptJournal(whole.kept), store=store, run=RUN, remembered=10))
    assert len(store.runs) == 1


def test_a_history_that_cannot_be_written_is_a_note_of_a_bisection_too() -> None:
    report = bisect(job(store=MemoryStore(full=True), run=RUN))
    assert report.verdict == "regression"
    assert any("This bisection is not remembered: the disk is full" in note for note in report.notes)


def test_a_change_point_is_reported_with_the_ids_of_its_revisions() -> None:
    report = bisect(job())
    (point,) = report.change_points
    assert (point.revision, point.label, point.interval) == ("id5", "v5", ("id5", "id5"))
    assert point.subject == "change 5"
    assert point.interval_labels == ("v5", "v5") and point.places == (5, 5, 5)
    assert point.before is not None and (point.before.revision, point.before.label) == ("id4", "v4")
    assert report.revisions == 10 and report.spent.budget_seconds is None
    assert report.mode == "bisect" and report.verdict == "regression" and report.interrupted == ""
    assert report.spent.trials == 10 and report.spent.failed_trials == 1
    assert any("failed at 1 revision: v3" in note for note in report.notes)


def test_progress_counts_the_trials_of_this_run_as_its_report_does() -> None:
    class Pairs(SimulatedRange):
        """As a bench that makes two trials for each value."""

        def spent(self) -> Spent:
            spent = super().spent()
            return spent.model_copy(update={"trials": 2 * spent.trials})

    known = [Observation(Probe((True,), r), 1.0) for r in range(4)]
    bench = Pairs(CallableSource(seconds, "m:f", 10), first=0, rng=np.random.default_rng(0))
    progress = RecordingProgress()
    report = bisect(replace(job(journal=KeptJournal(known)), bench=bench, progress=progress))
    assert report.spent.earlier == 4 and report.spent.trials == progress.spent.trials == 12


def test_progress_asks_what_was_found_once_for_all_trials_of_a_wish() -> None:
    class Costly(EveryRevision):
        """Counts how often it is asked what it found."""

        asked_for = 0

        @property
        def change_points_(self) -> Sequence[ChangePoint]:
            self.asked_for += 1
            return super().change_points_

    few, many = Costly(len(REVISIONS), batch=10), Costly(len(REVISIONS), batch=1)
    for search in (few, many):
        bisect(replace(job(), search=search))
    assert many.asked_for - few.asked_for == 9, "nine wishes more"


def test_a_search_that_runs_out_of_trials_says_so() -> None:
    report = bisect(job(trials=4))
    assert report.spent.trials == 4 and report.interrupted == "budget" and report.verdict == "inconclusive"
    assert any("cut short" in note for note in report.notes)


def test_a_stopped_search_is_reported_as_interrupted() -> None:
    report = bisect(job(stop=True))
    assert report.interrupted == "signal" and report.verdict == "inconclusive" and not report.measured


def test_a_search_that_is_stopped_while_it_looks_at_an_earlier_runs_trials_ends_soon() -> None:
    journal = KeptJournal()
    bisect(replace(job(journal=journal), search=Calm(len(REVISIONS))))
    search = Calm(len(REVISIONS))
    report = bisect(replace(job(journal=KeptJournal(journal.kept), stop=True), search=search))
    assert report.interrupted == "signal" and 0 < len(search.seen) < len(journal.kept)


def test_a_range_in_which_every_trial_fails_is_not_green() -> None:
    known = [Observation(Probe((True,), r), math.nan) for r in range(10)]
    report = bisect(job(journal=KeptJournal(known)))
    assert report.verdict == "inconclusive" and not report.measured and report.change_points == ()


class Everywhere(EveryRevision):
    """Asks for all configurations of three options at each revision, and blames none."""

    change_points_ = ()

    def __init__(self, revisions: int) -> None:
        super().__init__(revisions, batch=1000)
        self.asked = [Probe(c, r) for c in product((False, True), repeat=3) for r in range(revisions)]


class Doubtful(EveryRevision):
    """Is sure that something moved, but not of its name."""

    change_points_ = ()
    doubts_ = (Doubt(4, (4, 4), (("a",),), 1.07, beside=False),)


def test_what_moved_without_a_sure_name_is_listed_and_not_green() -> None:
    report = bisect(replace(job(), search=Doubtful(len(REVISIONS))))
    assert report.verdict == "inconclusive" and [found.kind for found in report.lists] == ["unclear"]
    assert "`v4` made some configurations up to 7 % slower" in report.lists[0].items[0]
    found = range_headline(report)
    assert found.icon == "🟡" and found.action is not None and "--trials" in markdown(found.action)


class Calm(EveryRevision):
    """Blames nothing, and knows how small a change it would have found; has doubts at first."""

    change_points_ = ()
    visible_ = Visible(everything=0.03)
    certain = 1000

    @property
    def settled_(self) -> bool:
        return len(self.seen) >= self.certain


class Settled(Calm):
    """Has nothing in doubt from its third batch on."""

    certain = 6


def test_a_budget_that_ends_while_only_smaller_changes_are_looked_for_does_not_cut_a_search_short() -> None:
    early, late, stopped = (
        bisect(replace(job(trials=n, stop=n == 8), search=Settled(len(REVISIONS)))) for n in (5, 7, 8)
    )
    assert (early.verdict, early.interrupted, early.visible) == ("inconclusive", "budget", Visible())
    assert (late.verdict, late.interrupted, late.visible) == ("none", "", Calm.visible_)
    assert stopped.interrupted == "signal" and stopped.verdict == "inconclusive"


def test_a_search_that_knows_what_it_would_have_found_says_so_once_it_has_ended() -> None:
    ended, cut = (bisect(replace(job(trials=n), search=Calm(len(REVISIONS)))) for n in (None, 4))
    assert (ended.visible, cut.visible) == (Calm.visible_, Visible())


def test_a_search_that_goes_on_says_what_an_earlier_run_measured() -> None:
    cut, whole = KeptJournal(), KeptJournal()
    bisect(replace(job(journal=cut, trials=4), search=Calm(len(REVISIONS))))
    told = []
    for known, kept in ((cut, whole), (whole, KeptJournal())):
        journal = KeptJournal(known.kept)
        report = bisect(replace(job(journal=journal), search=Calm(len(REVISIONS))))
        kept.kept = journal.kept
        told.append(markdown(range_headline(report).lead[0]))
    assert "10 revisions, 6 trials in" in told[0] and told[0].endswith(" and 4 values of an earlier run.")
    assert told[1].endswith("10 revisions, 10 values of an earlier run.")


class Both(EveryRevision):
    """Asks for both configurations of one option at each revision, and blames none."""

    change_points_ = ()

    def __init__(self, revisions: int) -> None:
        super().__init__(revisions, batch=1000)
        self.asked = [Probe((on,), r) for on in (True, False) for r in range(revisions)]


def test_what_fails_at_the_anchor_says_nothing_of_the_revisions_beside_it() -> None:
    failing = [Observation(Probe((True,), r), math.nan, anchor=0.0) for r in range(9)]
    others = [Observation(Probe((False,), r), math.nan if r == 3 else 1.0) for r in range(9)]
    scripted = replace(job(journal=KeptJournal([*failing, *others]), partner=9), search=Both(9))
    report = bisect(scripted)
    told = " ".join(report.notes)
    assert (
        "1 configuration fails at v9, beside which all trials run: it has no value at any revision." in told
    )
    assert "Trials failed at 1 revision: v3." in told


@pytest.mark.parametrize(
    ("least", "other", "verdict", "ways"),
    [
        ("1%", 0.9, "inconclusive", "4 slower, 4 faster"),
        ("1%", 1.1, "inconclusive", "all slower"),
        ("30%", 0.9, "none", ""),
    ],
)
def test_what_moved_and_no_change_explains_is_said_and_is_not_green(
    least: str, other: float, verdict: str, ways: str
) -> None:
    def shifts(revision: int, configurations: np.ndarray) -> np.ndarray:
        odd = configurations.sum(axis=1) % 2 > 0  # three options together
        moved: np.ndarray = np.where(odd, 1.2, other) if revision >= 6 else np.ones(len(configurations))
        return moved

    flags = {name: FlagOption(flag=f"-{name}") for name in "abc"}
    program = CallableProgram(callable="m:f", revisions=10)
    subject = Subject.model_validate({"program": program, "options": flags, "threshold": least})
    source = SimulatedRange(CallableSource(shifts, "m:f", 10), first=0, rng=np.random.default_rng(0))
    report = bisect(replace(job(), subject=subject, search=Everywhere(10), bench=source))
    said = [note for note in report.notes if "no change above explains" in note]
    assert report.verdict == verdict and len(said) == (verdict == "inconclusive")
    assert all(note.startswith("At `v6` something moved") for note in said)
    assert all("8 of 8 configurations by" in note and f"(the middle one; {ways})" in note for note in said)


def creeping(rate: float, noise: float, *, trials: int | None = None) -> RangeJob:
    """Eight configurations that move together by the same share in each revision."""
    rng = np.random.default_rng(1)

    def crept(revision: int, configurations: np.ndarray) -> np.ndarray:
        return np.asarray(rate**revision * rng.lognormal(0.0, noise, len(configurations)))

    flags = {name: FlagOption(flag=f"-{name}") for name in "abc"}
    program = CallableProgram(callable="m:f", revisions=10)
    subject = Subject.model_validate({"program": program, "options": flags, "threshold": "3%"})
    source = CallableSource(crept, "m:f", 10)
    bench = SimulatedRange(source, first=0, rng=np.random.default_rng(0), trials=trials)
    return replace(job(), subject=subject, search=Everywhere(10), bench=bench)


def test_a_search_that_is_cut_tells_what_crept_from_end_to_end() -> None:
    report = bisect(creeping(1.02, 0.03, trials=60))
    assert report.interrupted == "budget"
    (said,) = [note for note in report.notes if "more than is told" in note]
    assert said.startswith("From `v0` to `v9` the middle one of 6 configurations moved by +")


def test_small_steps_of_a_search_that_ended_are_no_clean_bill() -> None:
    report = bisect(creeping(1.015, 0.02))
    assert not report.interrupted and report.verdict == "inconclusive"
    (said,) = [note for note in report.notes if "more than is told" in note]
    assert "more than is told: in small steps. Most clearly: +" in said
    assert "it moved in steps too small to be told" in markdown(range_headline(report).title)


def test_nothing_is_measured_twice_when_a_journal_knows_it() -> None:
    first = KeptJournal()
    bisect(job(trials=6, journal=first))
    second = KeptJournal(first.kept)
    report = bisect(job(journal=second))
    assert report.spent.trials == 4 and len({o.probe for o in second.kept}) == len(second.kept) == 10
    assert [p.revision for p in report.change_points] == ["id5"]


def test_the_way_back_through_an_earlier_run_is_told_by_quarters() -> None:
    first, progress = KeptJournal(), RecordingProgress()
    bisect(job(trials=8, journal=first))
    bisect(replace(job(journal=KeptJournal(first.kept)), progress=progress))
    assert [stage for stage in progress.stages if "looked again" in stage] == [
        f"looked again at {count} of them" for count in (3, 6)
    ]


def test_a_search_that_an_earlier_run_finished_counts_as_measured() -> None:
    first = KeptJournal()
    expected = bisect(job(journal=first))
    report = bisect(job(journal=KeptJournal(first.kept)))
    assert report.spent.trials == 0 and report.measured and report.change_points == expected.change_points
    assert (expected.spent.earlier, report.spent.earlier) == (0, 10)


def test_a_journal_answers_each_wish_once_and_in_the_order_of_measuring() -> None:
    one, two = (Probe((True,), r) for r in range(2))
    kept = [Observation(two, 2.0), Observation(one, 1.0), Observation(two, 2.5)]
    earlier = Earlier(kept)
    assert earlier.answer([one, two]) == ([kept[0], kept[1]], [])
    assert earlier.answer([two, two, one]) == ([kept[2]], [two, one])


def test_where_more_is_better_a_rise_is_an_improvement() -> None:
    report = bisect(replace(job(), higher_is_better=True, metric="rate"))
    assert report.verdict == "improvement" and report.higher_is_better == ("rate",)


def test_a_range_without_a_difference_or_without_a_build_is_told_apart() -> None:
    subject = job().subject
    same = unmeasured(subject, REVISIONS, name="demo", notes=["why"])
    failure = BuildFailure(side="head", step="build", reason="exit code 1")
    broken = unmeasured(subject, REVISIONS, name="demo", notes=["why"], failure=failure)
    assert (same.verdict, broken.verdict) == ("none", "inconclusive") and not broken.measured
    assert broken.build_failures == (failure,) and broken.notes == ("why",) and broken.revisions == 10


def test_the_series_hold_what_was_measured() -> None:
    (shown,) = bisect(job()).series
    assert [p.place for p in shown.points] == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert [p.value for p in shown.points] == pytest.approx([1, 1, 1, 1, 2, 2, 2, 2, 2])


def test_what_would_have_been_found_is_told_only_of_a_finished_search_that_knows_it() -> None:
    known = bisect(replace(job(), visible=True))
    assert [o.option for o in known.visible.options] == ["a"] and known.visible.levels_not_exercised == (
        "!a",
    )
    assert bisect(job()).visible == bisect(replace(job(trials=4), visible=True)).visible == Visible()
