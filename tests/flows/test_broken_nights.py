"""Nights whose tip fails where earlier revisions work: told above the fold, and never green."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bot.flows.night import night
from bot.report.media import markdown
from bot.report.ranges.headline import range_headline
from tests.flows.nights import MemoryStore, Moving, job

TOGETHER = ("alpha", "beta")


class Breaking(Moving):
    """A program that fails with two options together from a revision on."""

    since = 35

    def __call__(self, revision: int, configurations: np.ndarray) -> np.ndarray:
        colliding = TOGETHER if revision >= self.since else ()
        return Moving.__call__(replace(self, colliding=colliding), revision, configurations)


class BreakingLater(Breaking):
    since = 45


def broken(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if note.startswith("The tip fails")]


def test_a_tip_that_fails_where_earlier_revisions_work_is_told_and_never_green() -> None:
    report = night(job(Breaking(), MemoryStore(), 40))
    (note,) = broken(report.notes)
    assert note.startswith("The tip fails with `alpha` and `beta`, which earlier revisions run: ")
    assert report.verdict == "inconclusive"
    found = range_headline(report)
    title = "The tip fails where earlier revisions work; no slow-down known elsewhere"
    assert (found.icon, markdown(found.title)) == ("🟠", title)
    assert any("The tip fails with " in markdown(one) for one in found.caveats)


def test_what_never_worked_is_not_said_to_be_broken_by_the_tip() -> None:
    assert not broken(night(job(Moving(colliding=TOGETHER), MemoryStore(), 40)).notes)


class Flaky(Moving):
    """One trial in five fails, at all revisions."""

    def __call__(self, revision: int, configurations: np.ndarray) -> np.ndarray:
        lost = self.rng.random(len(configurations)) < 0.2
        return np.where(lost, np.nan, super().__call__(revision, configurations))


def test_accidents_that_happen_at_earlier_revisions_too_are_not_blamed_on_the_tip() -> None:
    for number in range(4):
        assert not broken(night(job(Flaky(), MemoryStore(), 40, number=number)).notes)


def test_beside_a_tip_that_fails_earlier_nights_know_what_it_broke() -> None:
    store = MemoryStore()
    assert not broken(night(job(BreakingLater(), store, 40, duets=True)).notes)
    report = night(job(BreakingLater(), store, 52, number=1, duets=True))
    assert broken(report.notes) and report.verdict != "none"


def test_a_first_night_whose_tip_fails_in_some_configurations_says_so_above_the_fold() -> None:
    report = night(job(Breaking(), MemoryStore(), 40, duets=True))
    found = range_headline(report)
    assert any("configurations fail at v40, beside which all" in markdown(one) for one in found.caveats)
    assert markdown(found.title).endswith(" where trials ended well")
