"""Each request of a command goes wrong in each way: never two dispatches or proposals for one comment."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.model.errors import ForgeError
from tests.github.fake import WORKFLOW, FakeGithub, Token
from tests.github.test_commands import JOB, Thread

COMMANDS = {"rerun": 1, "bisect a..b": 1, "accept compress+level>=3": 0}
"""What is said -> how many dispatches it comes to."""
REQUESTS = {
    "rerun": [
        ("GET", "/user"),
        ("GET", "/collaborators/"),
        ("GET", "/pulls/7"),
        ("GET", "/actions/workflows/suspects.yml/runs"),
        ("POST", "/reactions"),
        ("GET", "/octo/tools$"),
        ("POST", "/dispatches"),
        ("GET", "/issues/7/comments"),
        ("PATCH", "/issues/comments/"),
    ],
    "bisect a..b": [("GET", "/commits/[ab]$"), ("POST", "/reactions"), ("POST", "/dispatches")],
    "accept compress+level>=3": [
        ("GET", "/actions/runs/500/artifacts"),
        ("GET", "/zip"),
        ("GET", "/git/ref/heads/main"),
        ("GET", "/contents/"),
        ("GET", "/git/ref/heads/suspects/accepted-7"),
        ("GET", "/pulls$"),
        ("GET", "/git/commits/"),
        ("POST", "/git/trees"),
        ("POST", "/git/commits"),
        ("POST", "/git/refs"),
        ("POST", "/pulls$"),
        ("POST", "/reactions"),
    ],
}
LASTING = ("502 after", "drop after", "garbage")
KINDS = ("500", "502 after", "drop", "drop after", "403 secondary", "429", "garbage")


def obeyed(thread: Thread, command: str, *, again: bool = False) -> str:
    """How the job ended."""
    try:
        return (thread.again() if again else thread.command(f"/suspects {command}")).ending
    except ForgeError:
        return "failed"


@pytest.fixture
def thread(github: FakeGithub) -> Thread:
    found = Thread(github)
    github.talk.commits = {"a": "1" * 40, "b": "2" * 40}
    return found


def once(thread: Thread, command: str) -> None:
    """What the comment asked for was done at most once, and is known to be done when it says so."""
    done = len(thread.github.talk.dispatched), len(thread.proposals)
    wanted = (1, 0) if COMMANDS[command] else (0, 1)
    assert done in ((0, 0), wanted), done
    if "rocket" in thread.reactions:
        assert done == wanted
    assert len(thread.github.bodies()) == 1


def test_every_request_of_a_command_is_in_the_list(thread: Thread) -> None:
    for command in COMMANDS:
        assert obeyed(thread, command) == "done"
    known = [pair for pairs in REQUESTS.values() for pair in pairs]
    for method, path, _ in thread.github.api.log:
        assert any(method == one and re.search(place, path) for one, place in known), (method, path)
    for method, place in known:
        assert thread.github.api.count(method, place), (method, place)


@pytest.mark.parametrize(
    ("kind", "times"), [*((kind, 1) for kind in KINDS), *((kind, 99) for kind in LASTING)]
)
@pytest.mark.parametrize(
    ("command", "method", "path"), [(c, *one) for c, requests in REQUESTS.items() for one in requests]
)
def test_a_request_that_goes_wrong_never_makes_it_happen_twice(
    thread: Thread, command: str, method: str, path: str, kind: Any, times: int
) -> None:
    thread.github.fault(kind, method, path, times=times)
    first = obeyed(thread, command)
    once(thread, command)
    thread.github.api.faults.clear()
    second = obeyed(thread, command, again=True)
    once(thread, command)
    if first == "done":
        assert second == "nothing"
    if "eyes" not in thread.reactions:
        raise AssertionError("the job that was started again has not claimed the comment")
    if second == "done":
        assert (
            "rocket" in thread.reactions and "[the run]" in thread.answers
        ) or "[proposed]" in thread.answers


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("lost", ["actions", "contents", "pull-requests"])
def test_a_token_that_may_less_does_less(thread: Thread, command: str, lost: str) -> None:
    rights = {name: right for name, right in JOB.permissions.items() if name != lost}
    thread.github.tokens[WORKFLOW] = Token(permissions=rights)
    ended = obeyed(thread, command)
    once(thread, command)
    needed = {"rerun": "actions", "bisect a..b": "actions", "accept compress+level>=3": "contents"}
    if lost in (needed[command], "pull-requests"):
        assert ended == "failed"
        assert not thread.github.talk.dispatched and not thread.proposals


@pytest.mark.parametrize("command", ["rerun", "accept compress+level>=3"])
def test_the_command_s_own_workflow_gives_just_enough(thread: Thread, command: str) -> None:
    rights = {
        "rerun": {"actions": "write", "contents": "read"},
        "accept": {"actions": "read", "contents": "write"},
    }
    given = rights[command.partition(" ")[0]] | {"pull-requests": "write"}
    thread.github.tokens[WORKFLOW] = Token(permissions=given)
    assert obeyed(thread, command) == "done"
    assert thread.reactions == ["eyes", "rocket"]


def test_a_push_between_two_answers_does_not_change_what_is_measured(thread: Thread) -> None:
    """The ids that were checked are the ids that are dispatched, whatever happens in between."""
    pushed = lambda: thread.github.pull(7, head="c" * 40)  # noqa: E731
    for method, path in REQUESTS["rerun"][4:7]:
        thread.github.fault("meanwhile", method, path, happens=pushed)
        obeyed(thread, "rerun")
        thread.github.pull(7, head="a" * 40)
    assert {asked["head"] for _, _, asked in thread.github.talk.dispatched} == {"a" * 40}


def test_two_acceptances_at_once_both_get_into_the_proposal(thread: Thread) -> None:
    """The other one moves the branch while this one writes; this one looks again."""
    thread.command("/suspects accept compress+level>=3")
    git = thread.github.git
    ours = git.branches["suspects/accepted-7"]
    mine = git.commits[ours]
    del git.branches["suspects/accepted-7"]
    thread.proposals.clear()
    thread.github.pulls = {7: thread.github.pulls[7]}

    def other() -> None:
        git.branches["suspects/accepted-7"] = ours

    thread.github.fault("meanwhile", "POST", "/git/refs", happens=other)
    assert obeyed(thread, "accept compress+level>=3 until 2028-01-01") == "done"
    assert "2028-01-01" in thread.proposed() and mine["parents"] == [thread.tip]
