"""What a night proposes for the file of assertions, and how nights continue from one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bot.adapters.documents.assertion_file import assertion_text, read_assertions
from bot.flows.assertions.mining import HOT
from bot.flows.night import night as run_night
from bot.flows.nights.asserting import Asserted, Asserting, AssertionFile
from bot.flows.nights.proposing import digest, earlier, offer
from bot.model.assertions import Assertion, NamedPath
from bot.model.duration_history import DurationRecorder
from bot.model.errors import ForgeError, ForgeRefusedError, UsageError
from bot.model.forge import FileChange, Standing
from bot.model.report import Report, RevisionRef
from bot.model.report_assertions import ProposedAssertions, ProposedEntry
from bot.model.space import Space
from bot.sampling.constraints import ConstraintSolver
from tests.flows.nights import SUBJECT, MemoryStore, Moving, job
from tests.flows.test_mining import FAST, SLOW, TWO_WAYS, World

PATH = ".github/suspects.assertions.yml"
TIP = RevisionRef(revision="a" * 40, label="main")
ALIKE: dict[NamedPath, list[float]] = {path: [FAST] * len(calls) for path, calls in TWO_WAYS.items()}
"""The same program, where `read` takes as long whoever calls it."""


def read(text: str) -> Sequence[Assertion]:
    return read_assertions(text, name=PATH)


def mine(
    world: World,
    text: str = "",
    *,
    earlier: str = "",
    until: float = 1e4,
    recorder: DurationRecorder | None = None,
) -> Asserted:
    asserting = Asserting(world, (), AssertionFile(PATH, text, read, assertion_text), seconds=until)
    recorder = DurationRecorder() if recorder is None else recorder
    return asserting.mine(
        TIP, Space(()), recorder, clock=lambda: world.now, until=world.now + until, earlier=earlier
    )


def changes(asserted: Asserted) -> set[tuple[str, str]]:
    return {(entry.method, entry.change) for entry in asserted.proposed.entries}


def test_a_first_night_proposes_new_entries_with_the_times_of_its_machine_and_remembers_its_trials() -> None:
    recorder = DurationRecorder()
    found = mine(World(TWO_WAYS), recorder=recorder)
    assert ("read", "new") in changes(found) and {kind for _, kind in changes(found)} == {"new"}
    proposed = found.proposed
    assert [entry.id for entry in read(proposed.text) if entry.method == "read"] == [
        entry.id for entry in proposed.entries if entry.method == "read"
    ]
    table = next(entry.table for entry in proposed.entries if entry.method == "read")
    assert "ms" in table and "100.0 %" in table
    assert proposed.difference.startswith(f"--- /dev/null\n+++ b/{PATH}\n") and proposed.path == PATH
    assert (
        len(recorder) > 0 and f"mined at the tip; assertions: {len(proposed.entries)} new." in found.notes[-1]
    )


def test_a_night_after_the_file_was_taken_over_proposes_nothing() -> None:
    first = mine(World(TWO_WAYS))
    second = mine(World(TWO_WAYS), first.proposed.text)
    assert second.proposed == ProposedAssertions() and second.certain
    assert "their assertions stay as they are" in second.notes[-1]


def test_until_then_nights_propose_the_same_text_though_they_measure_anew() -> None:
    world = World(TWO_WAYS)
    first = mine(world)
    second = mine(world, earlier=first.proposed.text)
    anew = mine(world)
    assert second.proposed.text == first.proposed.text
    assert changes(second) == changes(first) == changes(anew)


def test_an_entry_that_does_not_describe_its_calls_is_changed_and_others_stay() -> None:
    known = mine(World(TWO_WAYS)).proposed.text
    turned = {**TWO_WAYS, ("main", "load", "read"): [SLOW] * 300, ("main", "save", "read"): [FAST] * 200}
    found = mine(World(turned), known)
    assert changes(found) == {("read", "changed")}
    assert "-" in found.proposed.difference and f"--- a/{PATH}" in found.proposed.difference


def test_an_asserted_method_that_is_not_hot_is_mined_in_what_time_is_left() -> None:
    known = mine(World(TWO_WAYS)).proposed.text
    hotter: dict[NamedPath, list[float]] = {("main", f"hot{i}"): [SLOW] * 400 for i in range(HOT)}
    found = mine(World({**ALIKE, **hotter}), known, until=1e6)
    assert ("read", "gone") in changes(found)
    assert ("read", "gone") not in changes(mine(World({**ALIKE, **hotter}), known, until=200.0))


def test_where_nothing_could_be_mined_nothing_is_certain() -> None:
    known = mine(World(TWO_WAYS)).proposed.text
    lacking = mine(World(TWO_WAYS, lacks=("No profiler.",)), known)
    assert not lacking.certain and not lacking.proposed.entries and "No profiler." in lacking.notes
    assert not mine(World(TWO_WAYS, outcome="exit"), known).certain
    kept = mine(World(TWO_WAYS, lacks=("No profiler.",)), earlier=known)
    assert kept.proposed.text == known


def test_a_proposal_of_another_version_is_as_if_there_were_none() -> None:
    found = mine(World(TWO_WAYS), earlier="version: 99\n")
    assert changes(found) == {("read", "new")}


def test_a_file_that_is_wrong_is_not_mined_for() -> None:
    with pytest.raises(UsageError, match=f"^{PATH}:2: assertions: "):
        mine(World(TWO_WAYS), "version: 1\nassertions: 5\n")


def whole_night(store: MemoryStore, proposals: FakeProposals | None = None, **how: Any) -> Report:
    configuration = ConstraintSolver(SUBJECT.space).default()
    file = AssertionFile(PATH, "", read, assertion_text)
    asserting = Asserting(World(TWO_WAYS), configuration, file, seconds=1e6)
    tonight = replace(job(Moving(), store, 40, **how), asserting=asserting, proposals=proposals)
    return run_night(tonight)


def test_a_night_mines_remembers_tells_and_proposes() -> None:
    store, proposals = MemoryStore(), FakeProposals()
    report = whole_night(store, proposals)
    assert [entry.method for entry in report.proposed_assertions.entries] == ["read"]
    assert {m.name for m in store.calls[0].methods} >= {"read"}
    assert store.calls[0].runs[0].id == store.runs[0].runs[0].id
    (change,) = proposals.proposed
    assert change.text == report.proposed_assertions.text and change.revision == "id40"
    assert "The change of assertions is proposed in https://example.test/pull/7." in report.notes


def test_without_a_place_for_proposals_the_report_has_them() -> None:
    report = whole_night(MemoryStore())
    assert report.proposed_assertions.entries and "proposed in" not in "".join(report.notes)


def test_a_night_that_was_stopped_mines_nothing() -> None:
    report = whole_night(MemoryStore(), FakeProposals(), stop=lambda: True)
    assert not report.proposed_assertions.entries and report.interrupted == "signal"


@dataclass
class FakeProposals:
    """Notes what is asked of it. refuses: the error of every request."""

    now: Standing = field(default_factory=Standing)
    refuses: ForgeError | None = None
    proposed: list[FileChange] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)

    def standing(self) -> Standing:
        if self.refuses:
            raise self.refuses
        return self.now

    def propose(self, change: FileChange, standing: Standing) -> str:
        assert standing == self.now
        self.proposed.append(change)
        return "https://example.test/pull/7"

    def withdraw(self, standing: Standing, why: str) -> None:
        self.withdrawn.append(why)


ENTRY = ProposedEntry(id="0123456789", method="read", change="new", table="0123456789  read\n")
CHANGE = Asserted(
    ProposedAssertions(path=PATH, entries=(ENTRY,), text="new", difference="+new\n"), certain=True
)
STANDING = Standing("open", "c" * 40, "https://example.test/pull/7", digest("old"), "new")


def offered(proposals: FakeProposals, asserted: Asserted = CHANGE) -> str:
    (note,) = offer(proposals, asserted, TIP, before="old")
    return note


@pytest.mark.parametrize("state", ["none", "merged", "unopened"])
def test_a_change_is_proposed_with_a_text_for_people(state: str) -> None:
    proposals = FakeProposals(replace(STANDING, state=state))  # type: ignore[arg-type]
    assert "https://example.test/pull/7" in offered(proposals)
    (change,) = proposals.proposed
    assert (change.path, change.before, change.text) == (PATH, digest("old"), "new")
    assert change.revision == TIP.revision and change.title == "Performance assertion of read: 1 new"
    assert "How to review" in change.body and "```text\n0123456789  read\n```" in change.body


@pytest.mark.parametrize("state", ["open", "declined"])
def test_what_is_proposed_or_was_declined_is_not_proposed_once_more(state: str) -> None:
    proposals = FakeProposals(replace(STANDING, state=state))  # type: ignore[arg-type]
    assert STANDING.url in offered(proposals) and not proposals.proposed
    for other in (replace(proposals.now, text="older"), replace(proposals.now, before=digest("elsewhere"))):
        proposals.now = other
        offered(proposals)
    assert len(proposals.proposed) == 2


def test_commits_of_somebody_else_are_left_alone() -> None:
    proposals = FakeProposals(replace(STANDING, state="foreign"))
    assert "Somebody else committed to https://example.test/pull/7" in offered(proposals)
    assert "left alone" in offered(proposals, Asserted(certain=True))
    assert not proposals.proposed and not proposals.withdrawn


def test_what_is_not_to_be_proposed_any_more_is_closed_unless_nothing_was_mined() -> None:
    proposals = FakeProposals(STANDING)
    assert offer(proposals, Asserted(certain=False), TIP, before="old") == []
    assert offered(proposals, Asserted(certain=True)).startswith("Closed https://")
    assert len(proposals.withdrawn) == 1
    assert offer(FakeProposals(), Asserted(certain=True), TIP, before="old") == []


def test_a_refusal_is_a_note() -> None:
    proposals = FakeProposals(refuses=ForgeRefusedError("the token lacks the permission"))
    assert "not proposed as a pull request: the token lacks" in offered(proposals)
    assert earlier(proposals, "old") == ""


def test_what_was_proposed_is_continued_only_for_the_same_file() -> None:
    assert earlier(FakeProposals(STANDING), "old") == "new"
    assert earlier(FakeProposals(STANDING), "edited") == "" == earlier(None, "old")
