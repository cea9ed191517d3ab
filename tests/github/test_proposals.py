"""The pull request of assertions: opened, kept up to date, closed, and never over somebody else's commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from bot.adapters.github.forge import Patience
from bot.adapters.github.proposals import BRANCH, GithubProposals
from bot.model.errors import ForgeError, ForgeRefusedError
from bot.model.forge import FileChange, Standing
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token

PATH = ".github/suspects.assertions.yml"
NIGHTLY = Token(permissions={"contents": "write", "issues": "write", "pull-requests": "write"})
Speak = Callable[..., GithubProposals]


@pytest.fixture
def waited() -> list[float]:
    return []


@pytest.fixture
def proposals(github: FakeGithub, waited: list[float]) -> Iterator[Speak]:
    """Speaks to the fake with a token, without waiting."""
    patience = Patience(backoff=0, secondary_wait=0, pause=waited.append)
    with ExitStack() as opened:

        def speak(token: Token = NIGHTLY) -> GithubProposals:
            github.tokens[WORKFLOW] = token
            one = GithubProposals(REPOSITORY, WORKFLOW, api_url=github.api.url, patience=patience)
            return opened.enter_context(one)

        yield speak


@pytest.fixture
def change(github: FakeGithub) -> FileChange:
    """New text for a file that the tip of main does not have."""
    tip = github.git.commit({"program.py": "work()\n"}, branch="main")
    return FileChange(PATH, "before", "version: 1\n", tip, "Performance assertions: 1 new", "One is new.")


def propose(proposals: GithubProposals, change: FileChange) -> str:
    return proposals.propose(change, proposals.standing())


def test_a_change_is_one_commit_with_one_file_on_top_of_the_tip(
    github: FakeGithub, proposals: Speak, change: FileChange
) -> None:
    speaking = proposals()
    assert speaking.standing() == Standing()
    url = propose(speaking, change)
    head = github.git.branches[BRANCH]
    assert github.git.files(head) == {"program.py": "work()\n", PATH: "version: 1\n"}
    assert github.git.commits[head]["parents"] == [change.revision]
    (pull,) = github.pulls.values()
    assert (pull["title"], pull["body"], pull["html_url"]) == (change.title, change.body, url)
    assert speaking.standing() == Standing("open", head, url, "before", "version: 1\n")


def test_a_later_night_updates_branch_and_text_and_keeps_the_pull_request(
    github: FakeGithub, proposals: Speak, change: FileChange
) -> None:
    speaking = proposals()
    url = propose(speaking, change)
    tip = github.git.commit({"program.py": "more()\n"}, parents=[change.revision], branch="main")
    later = replace(change, text="version: 1\nassertions: []\n", revision=tip, title="2 new", body="Two.")
    assert propose(speaking, later) == url
    head = github.git.branches[BRANCH]
    assert github.git.commits[head]["parents"] == [tip]
    assert github.git.files(head) == {"program.py": "more()\n", PATH: later.text}
    (pull,) = github.pulls.values()
    assert (pull["title"], pull["body"]) == ("2 new", "Two.")


def test_the_same_change_makes_no_commit(github: FakeGithub, proposals: Speak, change: FileChange) -> None:
    speaking = proposals()
    propose(speaking, change)
    commits = dict(github.git.commits)
    propose(speaking, change)
    assert github.git.commits == commits and len(github.pulls) == 1


@pytest.mark.parametrize("amended", [True, False])
def test_commits_of_somebody_else_are_seen(
    github: FakeGithub, proposals: Speak, change: FileChange, amended: bool
) -> None:
    speaking = proposals()
    url = propose(speaking, change)
    ours = github.git.branches[BRANCH]
    theirs = github.git.commit(
        {"program.py": "work()\n", PATH: "edited\n"},
        parents=[change.revision if amended else ours],
        message=github.git.commits[ours]["message"] if amended else "fewer",
        branch=BRANCH,
    )
    assert speaking.standing() == Standing("foreign", theirs, url)


def test_a_branch_that_moved_meanwhile_is_left_alone(
    github: FakeGithub, proposals: Speak, change: FileChange
) -> None:
    speaking = proposals()
    propose(speaking, change)
    standing = speaking.standing()
    theirs = github.git.commit({}, branch=BRANCH)
    with pytest.raises(ForgeError, match="somebody else moved"):
        speaking.propose(replace(change, text="other"), standing)
    with pytest.raises(ForgeError, match="somebody else moved"):
        speaking.withdraw(standing, "Nothing is left.")
    assert github.git.branches[BRANCH] == theirs


def test_what_is_withdrawn_is_closed_and_its_branch_is_gone(
    github: FakeGithub, proposals: Speak, change: FileChange
) -> None:
    speaking = proposals()
    propose(speaking, change)
    speaking.withdraw(speaking.standing(), "Nothing is left.")
    (pull,) = github.pulls.values()
    assert pull["state"] == "closed" and pull["body"].startswith("Nothing is left.\n\nOne is new.")
    assert BRANCH not in github.git.branches


@pytest.mark.parametrize("gone", [True, False])
def test_a_closed_pull_request_is_a_decision_until_the_change_is_another(
    github: FakeGithub, proposals: Speak, change: FileChange, gone: bool
) -> None:
    speaking = proposals()
    url = propose(speaking, change)
    (pull,) = github.pulls.values()
    pull["state"] = "closed"
    head = github.git.branches.pop(BRANCH) if gone else github.git.branches[BRANCH]
    assert speaking.standing() == Standing("declined", None if gone else head, url, "before", change.text)
    assert propose(speaking, replace(change, text="other")) != url
    assert [p["state"] for p in github.pulls.values()] == ["closed", "open"]


@pytest.mark.parametrize("gone", [True, False])
def test_a_merged_change_is_done_with(
    github: FakeGithub, proposals: Speak, change: FileChange, gone: bool
) -> None:
    speaking = proposals()
    url = propose(speaking, change)
    (pull,) = github.pulls.values()
    pull |= {"state": "closed", "merged_at": "2026-01-02T00:00:00Z"}
    head = github.git.branches.pop(BRANCH) if gone else github.git.branches[BRANCH]
    assert speaking.standing() == Standing("merged", None if gone else head, url)
    assert propose(speaking, replace(change, text="other")) != url
    assert github.git.files(github.git.branches[BRANCH])[PATH] == "other"


def test_where_actions_may_not_open_pull_requests_the_branch_waits(
    github: FakeGithub, proposals: Speak, change: FileChange
) -> None:
    github.may_open_pulls = False
    speaking = proposals()
    with pytest.raises(ForgeRefusedError, match="not permitted to create"):
        propose(speaking, change)
    head = github.git.branches[BRANCH]
    assert speaking.standing() == Standing("unopened", head, "", "before", change.text)
    github.may_open_pulls = True
    propose(speaking, change)
    assert github.git.branches[BRANCH] == head and len(github.pulls) == 1


def test_a_token_that_may_not_write_changes_nothing(
    github: FakeGithub, proposals: Speak, change: FileChange
) -> None:
    speaking = proposals(Token(permissions={"contents": "read"}))
    with pytest.raises(ForgeRefusedError, match="contents: write"):
        propose(speaking, change)
    assert BRANCH not in github.git.branches and not github.pulls


def test_a_pull_request_that_somebody_else_opened_keeps_their_words(
    github: FakeGithub, proposals: Speak, change: FileChange
) -> None:
    speaking = proposals()
    propose(speaking, change)
    (pull,) = github.pulls.values()
    pull["user"] |= {"login": "ann"}
    propose(speaking, replace(change, text="other", title="2 new"))
    assert pull["title"] == change.title
    assert github.git.files(github.git.branches[BRANCH])[PATH] == "other"


@pytest.mark.parametrize("kind", ["502", "drop", "403 secondary", "429"])
def test_what_can_be_asked_again_is(
    github: FakeGithub, proposals: Speak, change: FileChange, kind: str
) -> None:
    github.fault(kind, "GET", "/git/")  # type: ignore[arg-type]
    assert propose(proposals(), change).startswith("https://")


@pytest.mark.parametrize("kind", ["502 after", "drop after"])
def test_a_pull_request_whose_answer_was_lost_is_found_by_the_next_night(
    github: FakeGithub, proposals: Speak, change: FileChange, kind: str
) -> None:
    github.fault(kind, "POST", "/pulls$")  # type: ignore[arg-type]
    speaking = proposals()
    with pytest.raises(ForgeError):
        propose(speaking, change)
    assert speaking.standing().state == "open" and len(github.pulls) == 1
