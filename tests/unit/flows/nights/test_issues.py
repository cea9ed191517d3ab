"""Issues of nights: one for each confirmed slow-down, never twice, never for what is unsure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bot.flows.nights.issues import MARKER, announce, marker
from bot.model.errors import ForgeRefusedError
from bot.model.forge import Issue
from bot.model.report import Acceptance, ChangePoint, Report, RevisionRef, Spent
from bot.model.revisions import Revision

REVISIONS = [Revision(f"{i:040x}", f"v{i}") for i in range(20)]


class Board:
    """Issues in memory; `refuses`: the token may not."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.refuses, self.opened = refuses, list[Issue]()
        self.titles: list[str] = []

    def ours(self, marker: str) -> Sequence[Issue]:
        return [issue for issue in self.opened if issue.body.startswith(marker)]

    def open_issue(self, title: str, body: str) -> Issue:
        if self.refuses:
            raise ForgeRefusedError("the token lacks the permission `issues: write`")
        self.titles.append(title)
        self.opened.append(Issue(f"https://example.test/{len(self.opened)}", body))
        return self.opened[-1]


def point(at: int = 7, first: int = 7, last: int = 7, **changes: Any) -> ChangePoint:
    found = ChangePoint(
        revision=REVISIONS[at].id,
        label=f"v{at}",
        subject="Rewrite @everybody",
        interval=(REVISIONS[first].id, REVISIONS[last].id),
        term=("level>=3", "mf=hc4"),
        metric="cpu",
        ratio=1.12,
        ratio_interval=(1.1, 1.14),
        probability=0.99,
    )
    return found.model_copy(update=changes)


def report(*points: ChangePoint) -> Report:
    return Report(
        mode="nightly",
        subject="xz",
        verdict="regression",
        base=RevisionRef(revision=REVISIONS[0].id, label="v0"),
        head=RevisionRef(revision=REVISIONS[-1].id, label="v19"),
        change_points=points,
        revisions=20,
        spent=Spent(seconds=5.0, trials=50),
    )


def test_a_slow_down_gets_one_issue_with_a_hidden_marker() -> None:
    board = Board()
    notes = announce(board, report(point()), REVISIONS)
    assert notes == ["Opened https://example.test/0."]
    (issue,) = board.opened
    assert issue.body.startswith(MARKER) and issue.body.startswith(marker(point()))
    assert "level>=3" not in issue.body.splitlines()[0]  # an option's name cannot end the comment
    assert "12 %" in board.titles[0] and "v7" in board.titles[0]
    assert "@everybody" not in issue.body  # nobody is called by a commit's words


def test_what_people_accepted_gets_no_issue() -> None:
    board = Board()
    by = Acceptance(source="file", until="2027-01-01")
    assert announce(board, report(point(accepted=by)), REVISIONS) == [] and not board.opened


def test_the_next_night_does_not_open_it_again() -> None:
    board = Board()
    announce(board, report(point()), REVISIONS)
    assert announce(board, report(point()), REVISIONS) == []
    assert announce(board, report(point(8, 6, 9)), REVISIONS) == []  # placed a little differently
    assert len(board.opened) == 1


def test_another_place_or_term_is_another_issue() -> None:
    board = Board()
    announce(board, report(point()), REVISIONS)
    announce(board, report(point(), point(12, 12, 12), point(term=("mf=hc4",))), REVISIONS)
    assert len(board.opened) == 3


def test_an_issue_of_revisions_before_the_window_is_recognised_by_its_ends() -> None:
    board = Board()
    announce(board, report(point()), REVISIONS)
    assert announce(board, report(point()), [Revision("x", "x"), *REVISIONS[7:8]]) == []


@pytest.mark.parametrize(
    "changes",
    [{"ratio": 0.8}, {"probability": 0.9}, {"shape": "transient"}],
)
def test_what_is_faster_unsure_or_over_gets_none(changes: dict[str, Any]) -> None:
    board = Board()
    assert announce(board, report(point(**changes)), REVISIONS) == [] and board.opened == []


def test_a_token_that_may_not_is_a_note() -> None:
    (note,) = announce(Board(refuses=True), report(point()), REVISIONS)
    assert "No issue was opened" in note and "issues: write" in note
