"""Which mode does this event ask for: one pure table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from bot.model.comment_commands import SaidComment
from bot.model.errors import UsageError

Mode: TypeAlias = Literal[
    "pull_request", "nightly", "bisect", "publish", "shard", "merge", "command", "nothing"
]
_TRUSTED = ("pull_request_target", "workflow_run", "issue_comment")
"""Events whose job holds the repository's token and secrets while others decide what code it would run."""
_COMMIT = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True)
class PullFacts:
    """A pull request's ids from the event; GITHUB_SHA would be the merge commit."""

    number: int
    action: str
    closed: bool
    draft: bool
    fork: bool
    base_sha: str
    head_sha: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Requested:
    """The pull request that a command's dispatch asks to measure; base: tip of its base branch."""

    number: int
    base: str
    head: str


@dataclass(frozen=True)
class Facts:
    """What of an event decides the mode.

    writes: the token may be able to write (no fork, no Dependabot). on_default: the event is about the
    default branch's newest commit. run_id: the workflow run that a `workflow_run` event tells of. said: a
    new comment on a pull request. requested: what a dispatch was asked for.
    """

    name: str
    pull: PullFacts | None = None
    writes: bool = True
    on_default: bool = False
    deleted: bool = False
    run_id: int | None = None
    run_event: str | None = None
    said: SaidComment | None = None
    requested: Requested | None = None


@dataclass(frozen=True)
class Plan:
    """What to do. `reason` is one sentence; `comment`: this run may comment itself, else `publish` does it.

    base: tip of the base branch (the merge base is computed later). head, number: of the pull request.
    run_id: the run whose result is published; None: our own. range: GOOD..BAD of a bisection. pull: what the
    subject's `run_on` may leave out; None: whoever set the mode wants it. said: the comment to obey.
    """

    mode: Mode
    reason: str
    comment: bool = False
    number: int | None = None
    base: str | None = None
    head: str | None = None
    run_id: int | None = None
    range: str | None = None
    pull: PullFacts | None = None
    said: SaidComment | None = None


def read_event(name: str, payload: Mapping[str, Any], *, ref: str | None = None) -> Facts:
    """The facts of an event's payload (event.json); `ref` is GITHUB_REF, for events that carry none.

    Raises:
        UsageError: the payload lacks what an event of this name always has.
    """
    try:
        return _facts(name, payload, ref)
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"event.json of {name} is not as GitHub writes it: {error} is missing") from None
    except ValueError as error:
        raise UsageError(f"event.json of {name} is not as GitHub writes it: {error}") from None


def _facts(name: str, payload: Mapping[str, Any], ref: str | None) -> Facts:
    repository = payload.get("repository") or {}
    default = repository.get("default_branch")
    branch = payload.get("ref") or ref or ""
    on_default = default is not None and branch in (default, f"refs/heads/{default}")
    robot = (payload.get("sender") or {}).get("login") == "dependabot[bot]"
    if name in ("pull_request", "pull_request_target"):
        pull = payload["pull_request"]
        source = pull["head"]["repo"]
        fork = source is None or source["full_name"] != pull["base"]["repo"]["full_name"]
        facts = PullFacts(
            number=int(pull["number"]),
            action=str(payload["action"]),
            closed=pull["state"] == "closed",
            draft=bool(pull.get("draft", False)),
            fork=fork,
            base_sha=pull["base"]["sha"],
            head_sha=pull["head"]["sha"],
            labels=tuple(str(label["name"]) for label in pull.get("labels") or ()),
        )
        return Facts(name, facts, writes=not fork and not robot)
    if name == "workflow_run":
        run = payload["workflow_run"]
        return Facts(name, run_id=int(run["id"]), run_event=run["event"])
    if name == "issue_comment":
        return Facts(name, said=_said(payload))
    requested = _requested(payload.get("inputs") or {}) if name == "workflow_dispatch" else None
    deleted = bool(payload.get("deleted", False))
    return Facts(name, on_default=on_default, deleted=deleted, requested=requested)


def _said(payload: Mapping[str, Any]) -> SaidComment | None:
    """The comment, when it is new and on a pull request; what is edited later asks for nothing."""
    issue, comment = payload.get("issue") or {}, payload.get("comment") or {}
    if payload.get("action") != "created" or not issue.get("pull_request"):
        return None
    author = comment["user"] or {}
    return SaidComment(
        id=int(comment["id"]),
        number=int(issue["number"]),
        author=str(author.get("login", "")),
        author_id=int(author.get("id", 0)),
        human=author.get("type") == "User",
        body=str(comment["body"] or ""),
        created=datetime.fromisoformat(comment["created_at"]),
        url=str(comment["html_url"]),
    )


def _requested(inputs: Mapping[str, Any]) -> Requested | None:
    """What a rerun's dispatch names; other workflows have inputs of their own.

    Raises:
        UsageError: these are not the ids that a command dispatches with.
    """
    if "pull_request" not in inputs:
        return None
    number, base, head = (str(inputs.get(name, "")) for name in ("pull_request", "base", "head"))
    if not (re.fullmatch("[1-9][0-9]{0,17}", number) and _COMMIT.fullmatch(base) and _COMMIT.fullmatch(head)):
        raise UsageError("the inputs pull_request, base and head must be a number and two full commit ids")
    return Requested(int(number), base, head)


def choose(facts: Facts, *, mode: str = "auto", range: str | None = None) -> Plan:
    """The plan for an event. `mode` and `range` are the action's inputs; `mode` wins only where that is safe.

    Raises:
        UsageError: the event must not measure, or the mode does not fit the event; one sentence.
    """
    if facts.name in _TRUSTED:
        return _trusted(facts, mode)
    if facts.requested is not None and mode in ("auto", "pull_request", "shard", "merge", "publish"):
        return _dispatched(facts.requested, mode)
    if mode == "publish":
        raise UsageError(f"mode publish needs a workflow_run event, not {facts.name}")
    if facts.name == "pull_request":
        assert facts.pull is not None
        return _pull_request(facts, facts.pull, mode=mode, range=range)
    return _repository(facts, mode=mode, range=range)


def _trusted(facts: Facts, mode: str) -> Plan:
    if facts.name == "issue_comment" and mode == "auto":
        if facts.said is None:
            return Plan("nothing", "only new comments on pull requests can be commands")
        return Plan("command", "somebody commented", number=facts.said.number, said=facts.said)
    if facts.name != "workflow_run" or mode not in ("auto", "publish"):
        raise UsageError(
            f"refused to measure under {facts.name}: its token and secrets must never meet "
            "a pull request's code; measure under pull_request and publish under workflow_run"
        )
    if facts.run_event != "pull_request":
        return Plan("nothing", f"the run was started by {facts.run_event}, not by a pull request")
    return Plan("publish", "a pull request's run has ended", comment=True, run_id=facts.run_id)


def _dispatched(asked: Requested, mode: str) -> Plan:
    """A rerun measures without a right to comment; its second job publishes what the first one left."""
    why = f"#{asked.number} at {asked.head[:12]} was asked for"
    chosen = "publish" if mode == "publish" else _named(mode) or "pull_request"
    return Plan(chosen, why, number=asked.number, base=asked.base, head=asked.head)


def _pull_request(facts: Facts, pull: PullFacts, *, mode: str, range: str | None) -> Plan:
    if mode == "nightly":
        raise UsageError("mode nightly writes the history, which a pull request must not: use schedule")
    if pull.closed:
        return Plan("nothing", "the pull request is closed")
    chosen = _named(mode) or "pull_request"
    if chosen == "bisect":
        return _bisect(range)
    why = "measure and comment" if facts.writes else "measure only: this token cannot comment, publish will"
    return Plan(
        chosen,
        why,
        comment=facts.writes and chosen != "shard",
        number=pull.number,
        base=pull.base_sha,
        head=pull.head_sha,
        pull=pull if mode in ("auto", "shard", "merge") else None,
    )


def _repository(facts: Facts, *, mode: str, range: str | None) -> Plan:
    chosen = _named(mode)
    if chosen == "pull_request":
        raise UsageError(f"mode pull_request needs a pull_request event, not {facts.name}")
    if chosen is None:
        if facts.name not in ("schedule", "workflow_dispatch", "push"):
            known = "pull_request, workflow_run, schedule, workflow_dispatch and push"
            raise UsageError(f"no mode fits the event {facts.name}: use {known}, or set the input mode")
        chosen = "bisect" if facts.name == "workflow_dispatch" and range else "nightly"
    if chosen == "bisect":
        return _bisect(range)
    if facts.deleted:
        return Plan("nothing", "the branch was deleted")
    if facts.name != "schedule" and not facts.on_default:
        return Plan("nothing", "only the default branch's commits enter the history")
    return Plan(chosen, f"asked for by {facts.name}")


def _bisect(range: str | None) -> Plan:
    if not range:
        raise UsageError("mode bisect needs the input range, such as v1.0..v1.1")
    return Plan("bisect", f"localise changes in {range}", range=range)


def _named(mode: str) -> Mode | None:
    match mode:
        case "auto":
            return None
        case "pull_request" | "nightly" | "bisect" | "shard" | "merge":
            return mode
    raise UsageError(f"mode {mode!r} is not known")
