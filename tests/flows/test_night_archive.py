"""Changes outlive the nights that are read whole: an alarm stays until it is accepted or gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from types import SimpleNamespace
from typing import cast

from bot.flows.history.accepting import Accepted
from bot.flows.night import night
from bot.flows.nights.archive import Archive, archived, believed
from bot.flows.nights.past import FARTHEST, NIGHTS, Night, nights
from bot.flows.nights.search import NightSearch
from bot.flows.nights.telling import Telling
from bot.flows.nights.window import Window
from bot.model.accepted import AcceptedChange
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.history import Measurements
from bot.model.report import Report
from bot.model.revisions import Revision
from tests.flows.nights import SUBJECT, MemoryStore, Moving, job, search
from tests.flows.test_night import items, told

ONE = ("beta", "!gamma")
"""A term that neither the emptiest nor the fullest configuration holds."""


def played(program: Moving, store: MemoryStore, *, count: int, commits: int) -> list[Report]:
    """So many nights, the first of them at revision 40."""
    return [night(job(program, store, 40 + commits * n, number=n, budget=400.0)) for n in range(count)]


def test_an_unaccepted_regression_outlives_the_nights_that_saw_it() -> None:
    reports = played(Moving([(47, ONE, 0.2)]), MemoryStore(), count=NIGHTS + 6, commits=4)
    assert all(report.verdict == "regression" for report in reports[3:])
    for report in reports[-3:]:
        (point,) = report.change_points
        assert (
            sorted(point.term) == sorted(ONE)
            and point.interval_labels[0] <= "v47" <= point.interval_labels[1]
        )
        assert point.before is not None and point.places is not None
        assert "Known from earlier nights' trials and not accepted" in items(report, "learnt")


def test_a_regression_outlives_the_anchor() -> None:
    """Forty commits a night: the anchor moves when it is 500 behind the tip."""
    store = MemoryStore()
    reports = played(Moving([(60, ("gamma",), 0.2)]), store, count=NIGHTS + 3, commits=40)
    last = reports[-1]
    assert last.base is not None and int(last.base.label[1:]) > 60 + FARTHEST // 2
    (point,) = last.change_points
    assert (point.label, point.term, point.places) == ("v60", ("gamma",), None)
    assert point.before is not None and point.before.label == "v59"
    assert last.verdict == "regression" and "`gamma` became" in items(last, "learnt")


def test_what_was_undone_is_told_but_is_no_alarm() -> None:
    program = Moving([(47, ("gamma",), 0.2), (62, ("gamma",), -0.2)])
    reports = played(program, MemoryStore(), count=5, commits=8)
    last = reports[-1]
    assert told(last) == [("v47", ("gamma",)), ("v62", ("gamma",))]
    assert reports[1].verdict == "regression" and last.verdict == "none"
    assert "Known from earlier nights' trials and undone since: `gamma` became" in items(last, "learnt")
    assert "Known from earlier nights' trials: `gamma` became" in items(
        last, "learnt"
    )  # nobody accepts what is faster


def archive(*points: tuple[int, float]) -> Archive:
    """What nights before the window of revisions 10 to 40 showed of `gamma`: (revision, ratio)."""
    found = [ChangePoint(at, (at, at), ("gamma",), (), ratio, (ratio, ratio), 1.0) for at, ratio in points]
    return Archive([Revision(f"id{i}", f"v{i}") for i in range(41)], tuple(found), (2, 3, 5, 6))


def test_of_what_older_nights_alone_show_only_that_is_told_which_is_still_worse() -> None:
    plain = job(Moving(), MemoryStore(), 40)
    for points, shown in (
        ([(3, 1.2)], ["v3"]),
        ([(3, 1 / 1.2)], []),
        ([(3, 1.2), (6, 1 / 1.2)], []),
        ([(3, 1.2), (6, 1 / 1.1)], ["v3", "v6"]),
        ([(3, 1 / 1.2), (6, 1.1)], ["v6"]),
    ):
        job_ = replace(plain, archive=archive(*points), search=search(plain.search.window, 0))
        report = night(job_)
        assert [point.label for point in report.change_points] == shown
        assert report.verdict == ("regression" if shown else "none")


def test_what_was_accepted_long_ago_is_no_alarm() -> None:
    program, store = Moving([(47, ONE, 0.2)]), MemoryStore()
    played(program, store, count=NIGHTS + 5, commits=4)
    entry = AcceptedChange(term="!gamma+beta", metric="cpu", until=date(2099, 1, 1))
    accepted = Accepted(date(2026, 2, 1), (entry,))
    last = night(replace(job(program, store, 120, number=30, budget=400.0), accepted=accepted))
    assert last.verdict == "none" and [p.accepted is not None for p in last.change_points] == [True]


def test_without_a_change_the_archive_is_empty() -> None:
    store = MemoryStore()
    played(Moving(noise=0.03), store, count=NIGHTS + 8, commits=4)
    assert job(Moving(), store, 140, number=50).archive.points == ()


def test_changes_are_found_wherever_the_blocks_of_nights_begin() -> None:
    store = MemoryStore()
    played(Moving([(47, ("gamma",), 0.2), (81, ("delta",), 0.2)]), store, count=NIGHTS + 2, commits=4)
    line = [Revision(f"id{i}", f"v{i}") for i in range(110)]
    past = nights(Measurements.concatenated(store.runs), SUBJECT.space, line, "cpu")
    for skipped in range(1, 9):
        kept: tuple[Night, ...] = past[:-skipped]
        found, _ = archived([n.observations for n in kept], lambda count: search(Window(count), 0))
        known = [(47, ("gamma",)), *([(81, ("delta",))] if skipped < 5 else [])]
        assert [(p.revision, p.term) for p in found] == known


class Shown:
    """Stands for a search: says of each block, the newest first, what it was told to say."""

    def __init__(self, *blocks: Sequence[ChangePoint]) -> None:
        self._blocks = iter(blocks)

    def remember(self, nights: object) -> Shown:
        return self

    def recalled(self) -> Sequence[ChangePoint]:
        return next(self._blocks)


def change(at: int, *term: str, ratio: float = 1.2) -> ChangePoint:
    return ChangePoint(at, (at, at), term, (), ratio, (ratio, ratio), 1.0)


def tips(*counts: int) -> list[list[Observation]]:
    """Nights with a trial at each of so many revisions."""
    at = SUBJECT.space.default
    return [[Observation(Probe(at, revision), 1.0) for revision in range(count)] for count in counts]


def blocks_show(
    nights: Sequence[Sequence[Observation]], *blocks: Sequence[ChangePoint], since: int | None = None
) -> tuple[list[tuple[int, str]], int]:
    """What blocks of these nights show, the newest first."""
    shown = cast("NightSearch", Shown(*blocks))
    points, doubtful = archived(nights, lambda _: shown, since=since)
    return [(p.revision, "+".join(p.term)) for p in points], doubtful


def test_what_one_of_two_blocks_of_nights_shows_does_not_count_and_is_counted() -> None:
    """Three blocks; the change came in the seventeenth night, which is in the first two."""
    nights, found = tips(*[15] * 16, *[41] * 12), change(20, "gamma")
    assert blocks_show(nights, [found], [found], []) == ([(20, "gamma")], 0)
    assert blocks_show(nights, [], [found], []) == ([], 1)
    assert blocks_show(nights, [change(20, "gamma", ratio=0.8)], [found], []) == ([], 2), "the other way"
    assert blocks_show(nights, [found, change(20, "gamma", "x")], [found], []) == ([(20, "gamma")], 0)
    assert blocks_show(nights, [], [], [change(10, "gamma")]) == ([(10, "gamma")], 0), "before all of them"


def test_what_only_tonights_nights_can_show_is_left_to_tonight() -> None:
    nights = tips(*[20] * NIGHTS, *[41] * (NIGHTS // 2))
    for since, known in ((10, []), (35, [(30, "gamma")]), (None, [(30, "gamma")])):
        assert blocks_show(nights, [change(30, "gamma")], [], since=since) == (known, 0)


def test_a_night_says_how_much_of_older_ones_it_does_not_believe() -> None:
    job_ = replace(job(Moving(), MemoryStore(), 40), archive=replace(archive(), doubtful=2))
    assert any(note.startswith("Older nights show 2 changes only where some") for note in night(job_).notes)


def test_of_changes_before_the_nights_that_are_read_tonight_believes_only_what_all_nights_show() -> None:
    first, other, later = change(20, "gamma"), change(20, "delta"), change(31, "delta")
    assert believed([other, first, later], [first], recent=30) == [first, later]
    assert believed([change(20, "gamma", "x"), later], [first], recent=-1) == [later], "in other words"
    assert believed([other], [], recent=-1) == [other], "all nights are read"


def test_what_remnants_of_trials_suggest_of_old_times_is_not_told() -> None:
    """The search believes something of a revision before its nights; the archive does not know it."""
    revisions, wrong = job(Moving(), MemoryStore(), 40).revisions, change(20, "gamma")
    for recent, places in ((35, []), (-1, [20])):
        convinced = cast("NightSearch", SimpleNamespace(known_=[wrong], change_points_=[wrong], unclear_=[]))
        found = Telling(convinced, revisions, "cpu", archive=Archive(recent=recent))
        assert [p.revision for p in found.points] == [p.revision for p in found.known] == places
