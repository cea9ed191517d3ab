"""The table of events: which mode, who comments, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from bot.event import Plan, choose, read_event
from bot.model.errors import UsageError

HERE = {"full_name": "octo/tools", "default_branch": "main"}
THERE = {"full_name": "stranger/tools"}


def pull(
    *, action: str = "opened", source: Any = HERE, sender: str = "ann", **changes: Any
) -> dict[str, Any]:
    return {
        "action": action,
        "repository": HERE,
        "sender": {"login": sender},
        "pull_request": {
            "number": 7,
            "state": "open",
            "draft": False,
            "head": {"sha": "h" * 40, "repo": source},
            "base": {"sha": "b" * 40, "repo": HERE},
            **changes,
        },
    }


def run_of(event: str) -> dict[str, Any]:
    return {"workflow_run": {"id": 99, "event": event}, "repository": HERE}


def push(ref: str, **changes: Any) -> dict[str, Any]:
    return {"ref": ref, "repository": HERE, **changes}


DISPATCH = push("refs/heads/main")
CLOCK: dict[str, Any] = {"schedule": "0 3 * * *"}
TABLE: list[tuple[str, str, dict[str, Any], dict[str, str], str, bool]] = [
    # what,                         event,          payload,                     inputs, mode, comments
    ("own branch", "pull_request", pull(), {}, "pull_request", True),
    ("new commits", "pull_request", pull(action="synchronize"), {}, "pull_request", True),
    ("a fork", "pull_request", pull(source=THERE), {}, "pull_request", False),
    ("a deleted fork", "pull_request", pull(source=None), {}, "pull_request", False),
    ("Dependabot", "pull_request", pull(sender="dependabot[bot]"), {}, "pull_request", False),
    ("a draft", "pull_request", pull(draft=True), {}, "pull_request", True),
    ("a draft, asked for", "pull_request", pull(draft=True), {"mode": "pull_request"}, "pull_request", True),
    ("closed", "pull_request", pull(action="closed", state="closed"), {}, "nothing", False),
    ("closed, asked for", "pull_request", pull(state="closed"), {"mode": "pull_request"}, "nothing", False),
    ("a shard of it", "pull_request", pull(), {"mode": "shard"}, "shard", False),
    ("the union of it", "pull_request", pull(source=THERE), {"mode": "merge"}, "merge", False),
    ("second stage", "workflow_run", run_of("pull_request"), {}, "publish", True),
    ("second stage, named", "workflow_run", run_of("pull_request"), {"mode": "publish"}, "publish", True),
    ("a push's run", "workflow_run", run_of("push"), {}, "nothing", False),
    ("the clock", "schedule", CLOCK, {}, "nightly", False),
    ("a button", "workflow_dispatch", DISPATCH, {}, "nightly", False),
    ("a button and a range", "workflow_dispatch", DISPATCH, {"range": "v1..v2"}, "bisect", False),
    ("a button elsewhere", "workflow_dispatch", push("refs/heads/x"), {}, "nothing", False),
    ("default branch", "push", push("refs/heads/main"), {}, "nightly", False),
    ("other branch", "push", push("refs/heads/topic"), {}, "nothing", False),
    ("a branch named like a tag", "push", push("refs/tags/main"), {}, "nothing", False),
    ("a deleted branch", "push", push("refs/heads/main", deleted=True), {}, "nothing", False),
    (
        "a release",
        "release",
        push("", action="published"),
        {"mode": "bisect", "range": "v1..v2"},
        "bisect",
        False,
    ),
]


@pytest.mark.parametrize(
    ("event", "payload", "inputs", "mode", "comment"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_an_event_asks_for_one_mode(
    event: str, payload: dict[str, Any], inputs: dict[str, str], mode: str, comment: bool
) -> None:
    plan = choose(read_event(event, payload), **inputs)
    assert (plan.mode, plan.comment) == (mode, comment)
    assert plan.reason


def test_what_run_on_may_leave_out_comes_along_unless_the_mode_was_set() -> None:
    facts = read_event("pull_request", pull(draft=True, labels=[{"name": "perf"}, {"name": "slow"}]))
    plan = choose(facts)
    assert plan.pull is not None and plan.pull.draft and plan.pull.labels == ("perf", "slow")
    assert choose(facts, mode="pull_request").pull is None


@pytest.mark.parametrize("mode", ["auto", "pull_request", "nightly", "bisect", "shard", "merge"])
@pytest.mark.parametrize("event", ["pull_request_target", "issue_comment", "workflow_run"])
def test_privileged_events_never_measure(event: str, mode: str) -> None:
    payload = {**pull(), **run_of("pull_request"), "comment": {"body": "/suspects rerun"}}
    if (event, mode) == ("workflow_run", "auto"):
        assert choose(read_event(event, payload), mode=mode).mode == "publish"
        return
    if (event, mode) == ("issue_comment", "auto"):
        assert choose(read_event(event, payload), mode=mode).mode == "nothing"
        return
    with pytest.raises(UsageError, match=f"refused to measure under {event}"):
        choose(read_event(event, payload), mode=mode, range="v1..v2")


@pytest.mark.parametrize(
    ("event", "payload", "inputs", "words"),
    [
        ("pull_request", pull(), {"mode": "nightly"}, "must not"),
        ("pull_request", pull(), {"mode": "publish"}, "workflow_run"),
        ("pull_request", pull(), {"mode": "bisect"}, "input range"),
        ("schedule", CLOCK, {"mode": "pull_request"}, "needs a pull_request event"),
        ("fork", {}, {}, "no mode fits the event fork"),
        ("push", DISPATCH, {"mode": "tea"}, "not known"),
    ],
)
def test_a_mode_that_does_not_fit_is_one_sentence(
    event: str, payload: dict[str, Any], inputs: dict[str, str], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        choose(read_event(event, payload), **inputs)


def test_ids_come_from_the_event() -> None:
    plan = choose(read_event("pull_request", pull()))
    assert (plan.number, plan.base, plan.head) == (7, "b" * 40, "h" * 40)
    assert choose(read_event("workflow_run", run_of("pull_request"))).run_id == 99


def test_a_range_reaches_the_bisection() -> None:
    plan = choose(read_event("workflow_dispatch", DISPATCH), range="v1..v2")
    assert plan == Plan("bisect", "localise changes in v1..v2", range="v1..v2")


def test_the_branch_may_come_from_the_environment() -> None:
    facts = read_event("repository_dispatch", {"repository": HERE}, ref="refs/heads/main")
    assert choose(facts, mode="nightly").mode == "nightly"


def comment(action: str = "created", user: Any = None, **issue: Any) -> dict[str, Any]:
    return {
        "action": action,
        "repository": HERE,
        "sender": {"login": "ann"},
        "issue": {"number": 7, "pull_request": {"url": "https://example.test/7"}} | issue,
        "comment": {
            "id": 123,
            "user": user or {"login": "ann", "id": 5, "type": "User"},
            "body": "/suspects rerun",
            "created_at": "2026-11-21T22:58:16Z",
            "html_url": "https://example.test/octo/tools/pull/7#issuecomment-123",
        },
    }


def test_a_new_comment_on_a_pull_request_may_be_a_command() -> None:
    plan = choose(read_event("issue_comment", comment()))
    assert (plan.mode, plan.number, plan.comment) == ("command", 7, False)
    assert plan.said is not None
    assert (plan.said.id, plan.said.author, plan.said.author_id, plan.said.human) == (123, "ann", 5, True)
    assert plan.said.created.isoformat() == "2026-11-21T22:58:16+00:00"


@pytest.mark.parametrize(
    "payload", [comment("edited"), comment("deleted"), comment(pull_request=None), {"action": "created"}]
)
def test_edited_comments_and_comments_on_issues_are_left_alone(payload: dict[str, Any]) -> None:
    assert choose(read_event("issue_comment", payload)).mode == "nothing"


@pytest.mark.parametrize("kind", ["Bot", "Organization", "Mannequin", None])
def test_what_is_no_person_is_known_as_such(kind: str | None) -> None:
    said = choose(read_event("issue_comment", comment(user={"login": "x[bot]", "id": 6, "type": kind}))).said
    assert said is not None and not said.human


def test_a_comment_never_measures_whatever_the_mode_is() -> None:
    for mode in ("pull_request", "nightly", "bisect", "publish", "shard", "merge"):
        with pytest.raises(UsageError, match="refused to measure under issue_comment"):
            choose(read_event("issue_comment", comment()), mode=mode, range="v1..v2")


ASKED = {"pull_request": "7", "base": "b" * 40, "head": "a" * 40, "budget": "600s"}


def test_a_dispatch_with_ids_measures_that_pull_request_and_publishes_it_in_a_second_job() -> None:
    facts = read_event("workflow_dispatch", DISPATCH | {"inputs": ASKED})
    plan = choose(facts)
    assert (plan.mode, plan.number, plan.base, plan.head) == ("pull_request", 7, "b" * 40, "a" * 40)
    assert not plan.comment and plan.pull is None
    plan = choose(facts, mode="publish")
    assert (plan.mode, plan.number, plan.head, plan.run_id) == ("publish", 7, "a" * 40, None)
    assert choose(read_event("workflow_dispatch", DISPATCH | {"inputs": {"other": "1"}})).mode == "nightly"
    assert choose(facts, mode="nightly").mode == "nightly"


@pytest.mark.parametrize(
    "wrong",
    [{"pull_request": "7; id"}, {"pull_request": "0"}, {"head": "main"}, {"base": ""}, {"head": "A" * 40}],
)
def test_a_dispatch_with_anything_but_ids_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="must be a number and two full commit ids"):
        read_event("workflow_dispatch", DISPATCH | {"inputs": ASKED | wrong})


def test_a_payload_without_its_parts_is_one_line() -> None:
    with pytest.raises(UsageError, match="'pull_request' is missing"):
        read_event("pull_request", {"action": "opened"})
