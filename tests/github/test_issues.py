"""Issues of ours: opened once, found again by their marker among everybody's, refused in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from bot.adapters.github.forge import Patience
from bot.adapters.github.issues import GithubIssues
from bot.model.errors import ForgeError, ForgeRefusedError
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token
from tests.github.serving import Kind

MARKER = "<!-- suspects change-point"
OURS = "github-actions[bot]"
NIGHTLY = Token(permissions={"contents": "write", "issues": "write"})


@pytest.fixture
def issues(github: FakeGithub) -> Iterator[Callable[[Token], GithubIssues]]:
    """Speaks to the fake with a token, without waiting."""
    patience = Patience(backoff=0, secondary_wait=0, pause=lambda seconds: None)
    with ExitStack() as opened:

        def speak(token: Token = NIGHTLY) -> GithubIssues:
            github.tokens[WORKFLOW] = token
            one = GithubIssues(REPOSITORY, WORKFLOW, api_url=github.api.url, patience=patience)
            return opened.enter_context(one)

        yield speak


def test_an_opened_issue_is_found_again_though_it_was_closed(
    github: FakeGithub, issues: Callable[..., GithubIssues]
) -> None:
    speaking = issues()
    opened = speaking.open_issue("Slower with zstd", f"{MARKER} term=zstd -->\nSlower.")
    assert opened.url == github.issues[0]["html_url"] and github.issues[0]["title"] == "Slower with zstd"
    github.issues[0]["state"] = "closed"
    assert speaking.ours(MARKER) == [opened]


def test_ours_are_found_among_many_others(github: FakeGithub, issues: Callable[..., GithubIssues]) -> None:
    github.issue("Slower", f"{MARKER} term=zstd -->", login=OURS)
    for number in range(150):
        github.issue(f"report {number}", "It is slow.")
    assert [issue.body for issue in issues().ours(MARKER)] == [f"{MARKER} term=zstd -->"]


def test_a_marker_that_somebody_else_wrote_proves_nothing(
    github: FakeGithub, issues: Callable[..., GithubIssues]
) -> None:
    github.issue("Slower", f"{MARKER} term=zstd -->", login="mallory")
    github.issue("Slower", f"He said: {MARKER} term=zstd -->", login=OURS)
    assert issues().ours(MARKER) == []


def test_a_token_that_may_not_is_told_what_it_needs(issues: Callable[..., GithubIssues]) -> None:
    speaking = issues(Token(permissions={"contents": "write", "issues": "read"}))
    assert speaking.ours(MARKER) == []
    with pytest.raises(ForgeRefusedError, match="issues: write"):
        speaking.open_issue("Slower", "Slower.")


@pytest.mark.parametrize("kind", ["502 after", "drop after"])
def test_an_issue_whose_answer_was_lost_is_found_by_the_next_night(
    github: FakeGithub, issues: Callable[..., GithubIssues], kind: Kind
) -> None:
    github.fault(kind, "POST", "/issues$")
    speaking = issues()
    with pytest.raises(ForgeError):
        speaking.open_issue("Slower", f"{MARKER} term=zstd -->")
    assert len(github.issues) == 1 and len(speaking.ours(MARKER)) == 1
