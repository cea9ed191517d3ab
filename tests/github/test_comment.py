"""One comment of ours on a pull request, whatever happens between us and GitHub."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.adapters.github.forge import GithubForge
from bot.model.errors import ForgeError, ForgeRefusedError
from bot.model.forge import Stamp
from tests.github.fake import WORKFLOW, FakeGithub, Token
from tests.github.serving import Kind

HEAD = "a" * 40
FIRST, SECOND = Stamp(100, 1, HEAD), Stamp(200, 1, "c" * 40)
COMMENTS = "/issues/7/comments$"


@pytest.fixture
def speaking(github: FakeGithub, forge: Callable[..., GithubForge]) -> GithubForge:
    github.pull(7, head=HEAD)
    return forge()


def test_the_first_comment_carries_its_stamp(github: FakeGithub, speaking: GithubForge) -> None:
    placed = speaking.place(7, "Slower.", FIRST)
    assert placed.placing == "created"
    assert placed.url == github.comments[0]["html_url"]
    marker = f"<!-- suspects pull-request run=100 attempt=1 head={HEAD} -->"
    assert github.bodies() == [f"{marker}\nSlower."]


def test_our_comment_is_edited_among_many_others(github: FakeGithub, speaking: GithubForge) -> None:
    for number in range(60):
        github.say(7, f"remark {number}")
    speaking.place(7, "Slower.", FIRST)
    for number in range(60):
        github.say(7, f"later remark {number}")
    for number in range(120):
        github.say(8, f"elsewhere {number}")
    github.comments.sort(key=lambda one: "suspects" in one["body"])  # ours is on the second page
    assert speaking.place(7, "Fixed.", SECOND).placing == "edited"
    assert [body.splitlines()[1] for body in github.bodies()] == ["Fixed."]
    assert github.api.count("POST", COMMENTS) == 1


@pytest.mark.parametrize(
    ("body", "login"),
    [
        ("<!-- suspects pull-request run=1 attempt=1 head=a -->\nforged", "mallory"),
        ("look:\n<!-- suspects pull-request run=1 attempt=1 head=a -->\nquoted", "github-actions[bot]"),
        ("<!-- suspects other-subject run=1 attempt=1 head=a -->\nx", "github-actions[bot]"),
        ("<!-- suspects pull-request run=999999999 attempt=1 head=a -->\nnever again", "mallory"),
        ("", "github-actions[bot]"),
    ],
)
def test_a_comment_that_is_not_ours_is_left_alone(
    github: FakeGithub, speaking: GithubForge, body: str, login: str
) -> None:
    github.say(7, body, login=login)
    assert speaking.place(7, "Slower.", FIRST).placing == "created"
    assert github.comments[0]["body"] == body


def test_a_deleted_authors_comment_is_passed_over(github: FakeGithub, speaking: GithubForge) -> None:
    github.say(7, "ghost")["user"] = None
    assert speaking.place(7, "Slower.", FIRST).placing == "created"


def test_a_newer_runs_comment_stays(github: FakeGithub, speaking: GithubForge) -> None:
    speaking.place(7, "New.", SECOND)
    assert speaking.place(7, "Old.", FIRST).placing == "outdated"
    assert speaking.place(7, "Old again.", Stamp(100, 9, HEAD)).placing == "outdated"
    assert "New." in github.bodies()[0]


def test_a_later_attempt_of_the_same_run_wins(github: FakeGithub, speaking: GithubForge) -> None:
    speaking.place(7, "Once.", FIRST)
    assert speaking.place(7, "Twice.", Stamp(100, 2, HEAD)).placing == "edited"
    assert speaking.place(7, "Once.", FIRST).placing == "outdated"


def test_the_same_words_again_change_nothing(github: FakeGithub, speaking: GithubForge) -> None:
    speaking.place(7, "Slower.", FIRST)
    assert speaking.place(7, "Slower.\n", FIRST).placing == "unchanged"
    assert github.api.count("PATCH", "comments") == 0


def test_two_subjects_have_a_comment_each(github: FakeGithub, speaking: GithubForge) -> None:
    speaking.place(7, "One.", FIRST, key="tools-a")
    speaking.place(7, "Two.", FIRST, key="tools-b")
    assert speaking.place(7, "One!", SECOND, key="tools-a").placing == "edited"
    assert len(github.bodies()) == 2


def test_nothing_is_started_when_nothing_is_wanted(github: FakeGithub, speaking: GithubForge) -> None:
    assert speaking.place(7, "Quiet.", FIRST, create=False).placing == "absent"
    assert not github.comments
    speaking.place(7, "Slower.", FIRST)
    assert speaking.place(7, "Quiet.", SECOND, create=False).placing == "edited"


@pytest.mark.parametrize("kind", ["502 after", "drop after", "502", "500", "drop", "403 secondary", "429"])
def test_a_lost_answer_leaves_exactly_one_comment(
    github: FakeGithub, speaking: GithubForge, kind: Kind
) -> None:
    github.fault(kind, "POST", COMMENTS)
    placed = speaking.place(7, "Slower.", FIRST)
    assert (placed.placing, len(github.bodies())) == ("created", 1)
    assert github.api.count("POST", COMMENTS) == (1 if kind.endswith("after") else 2)


@pytest.mark.parametrize("kind", ["502 after", "502", "429", "403 secondary", "drop", "drop after"])
def test_an_edit_is_repeated_until_it_stands(github: FakeGithub, speaking: GithubForge, kind: Kind) -> None:
    speaking.place(7, "Slower.", FIRST)
    github.fault(kind, "PATCH", "comments", times=2)
    assert speaking.place(7, "Fixed.", SECOND).placing == "edited"
    assert "Fixed." in github.bodies()[0]


@pytest.mark.parametrize("kind", ["502", "drop", "429"])
def test_reading_survives_passing_faults(github: FakeGithub, speaking: GithubForge, kind: Kind) -> None:
    github.fault(kind, "GET", COMMENTS, times=3)
    assert speaking.place(7, "Slower.", FIRST).placing == "created"


def test_github_down_for_good_is_one_line(
    github: FakeGithub, speaking: GithubForge, waited: list[float]
) -> None:
    github.fault("502", "POST", COMMENTS, times=99)
    with pytest.raises(ForgeError, match=r"commenting on #7: GitHub answered 502") as caught:
        speaking.place(7, "Slower.", FIRST)
    assert "\n" not in str(caught.value)
    assert github.api.count("POST", COMMENTS) == 6
    assert len(waited) == 5


@pytest.mark.parametrize(("method", "kind"), [("POST", "429"), ("GET", "429"), ("POST", "403 secondary")])
def test_no_wait_is_longer_than_allowed(
    github: FakeGithub, speaking: GithubForge, waited: list[float], method: str, kind: Kind
) -> None:
    github.fault(kind, method, COMMENTS, retry_after="86400")
    with pytest.raises(ForgeError):
        speaking.place(7, "Slower.", FIRST)
    assert not waited
    assert not github.comments


def test_two_runs_that_post_at_once_leave_one_comment(github: FakeGithub, speaking: GithubForge) -> None:
    other = f"<!-- suspects pull-request run={SECOND.run_id} attempt=1 head=c -->\nNewer."
    github.fault(
        "meanwhile", "POST", COMMENTS, happens=lambda: github.say(7, other, login="github-actions[bot]")
    )
    assert speaking.place(7, "Older.", FIRST).placing == "outdated"
    assert speaking.place(7, "Newest.", Stamp(300, 1, HEAD)).placing == "edited"
    assert [body.splitlines()[1] for body in github.bodies()] == ["Newest."]


def test_a_racing_older_run_is_replaced_in_place(github: FakeGithub, speaking: GithubForge) -> None:
    other = "<!-- suspects pull-request run=1 attempt=1 head=c -->\nOlder."
    github.fault(
        "meanwhile", "POST", COMMENTS, happens=lambda: github.say(7, other, login="github-actions[bot]")
    )
    speaking.place(7, "Newer.", FIRST)
    assert [body.splitlines()[1] for body in github.bodies()] == ["Newer."]


def test_a_token_that_may_not_comment_is_told_the_permission(
    github: FakeGithub, forge: Callable[..., GithubForge]
) -> None:
    github.pull(7, head=HEAD)
    github.tokens["reader"] = Token(permissions={"contents": "read"})
    with pytest.raises(ForgeRefusedError, match="`pull-requests: write`"):
        forge("reader").place(7, "Slower.", FIRST)
    assert github.api.count("POST", COMMENTS) == 1


def test_a_wrong_token_is_one_line(github: FakeGithub, forge: Callable[..., GithubForge]) -> None:
    with pytest.raises(ForgeRefusedError, match="does not accept the token"):
        forge("stolen").place(7, "Slower.", FIRST)


def test_a_person_edits_their_own_comment(github: FakeGithub, forge: Callable[..., GithubForge]) -> None:
    github.pull(7, head=HEAD)
    github.tokens["pat"] = Token(login="ann", person=True)
    assert forge(WORKFLOW).place(7, "Bot's.", FIRST).placing == "created"
    assert forge("pat").place(7, "Ann's.", FIRST).placing == "created"
    assert forge("pat").place(7, "Ann's!", SECOND).placing == "edited"
    assert len(github.bodies(login="ann")) == len(github.bodies()) == 1


def test_a_missing_pull_request_is_one_line(speaking: GithubForge) -> None:
    with pytest.raises(ForgeError, match="commenting on #70: not found"):
        speaking.place(70, "Slower.", FIRST)


def test_a_comment_beyond_githubs_limit_is_refused_before_it_is_sent(
    github: FakeGithub, speaking: GithubForge
) -> None:
    with pytest.raises(ForgeError, match="over GitHub's 65536"):
        speaking.place(7, "x" * 65_536, FIRST)
    assert not github.api.log
    assert speaking.place(7, "x" * 65_400, FIRST).placing == "created"


def test_an_unreadable_answer_is_one_line(github: FakeGithub, speaking: GithubForge) -> None:
    github.run(5, head=HEAD)
    github.fault("garbage", "GET", "/actions/runs/5")
    with pytest.raises(ForgeError, match="run 5: GitHub's answer could not be read"):
        speaking.run(5)
    github.fault("garbage", "GET", "/pulls$")
    with pytest.raises(ForgeError, match="eve:x: GitHub's answer could not be read"):
        speaking.pull_requests(owner="eve", branch="x")
    github.fault("garbage", "GET", COMMENTS)
    with pytest.raises(ForgeError, match="#7: GitHub's answer could not be read"):
        speaking.place(7, "Slower.", FIRST)
    assert not github.comments


def test_a_run_and_its_pull_requests_are_converted(github: FakeGithub, speaking: GithubForge) -> None:
    github.run(5, head=HEAD, source="eve/tools", branch="x/y", attempt=3, conclusion="failure")
    run = speaking.run(5)
    assert (run.id, run.attempt, run.conclusion, run.head_branch) == (5, 3, "failure", "x/y")
    assert run.head_repository == "eve/tools"
    github.pull(8, head=HEAD, source="eve/tools", branch="x/y")
    github.pull(9, head=HEAD, source="eve/tools", branch="x/y", state="closed")
    assert [pull.number for pull in speaking.pull_requests(owner="eve", branch="x/y")] == [8]
