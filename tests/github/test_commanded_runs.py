"""From the event of a comment to the comment of the rerun, and what people accepted on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.documents.accepted_file import read_accepted
from bot.adapters.github.comment_answers import with_answer
from bot.flows.publish import Outcome, Requested
from bot.model.accepted import PATH
from bot.report.render import comment
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub
from tests.github.reports import BASE, HEAD, packed, report
from tests.github.test_action import RUN, Step
from tests.github.test_commands import JOB, SAID, Thread, shown
from tests.github.test_publish import FORK, TRUSTED, publishing

__all__ = ["publishing"]
TODAY = date(2026, 11, 21)
FILE = "version: 1\naccepted:\n- {term: compress+level>=3, metric: cpu, until: 2026-12-31, reason: agreed}\n"
KNOWING = replace(TRUSTED, accepted=lambda text, name: read_accepted(text, name=name), today=TODAY)
ASKED = Requested(7, HEAD)


@pytest.fixture
def step(github: FakeGithub, tmp_path: Path) -> Step:
    return Step(github, tmp_path)


def started(step: Step, event: str, payload: dict[str, Any], **environ: str) -> int:
    """The action in the job of an event."""
    path = step.folder / "event.json"
    path.write_text(json.dumps(payload), "utf-8")
    return step.start(
        {
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_API_URL": step.github.api.url,
            "GITHUB_RUN_ID": str(RUN + 1),
            "GITHUB_WORKSPACE": str(step.folder),
            "GITHUB_OUTPUT": str(step.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(step.folder / "summary"),
            "INPUT_GITHUB-TOKEN": WORKFLOW,
            **environ,
        }
    )


def commented(github: FakeGithub, body: str, **changes: Any) -> dict[str, Any]:
    """The event of a comment."""
    said = github.say(7, body) | {"created_at": SAID}
    said["user"] |= {"id": 5, "type": "User"}
    issue = {"number": 7, "pull_request": {"url": "https://example.test"}}
    return {"action": "created", "issue": issue, "comment": said} | changes


def test_a_comment_becomes_a_dispatch_a_measurement_and_a_report(github: FakeGithub, step: Step) -> None:
    thread = Thread(github)
    assert started(step, "issue_comment", commented(github, "/suspects rerun 5m")) == 0
    assert step.plans == [] and "::notice::done: aaaaaaaaaaaa is being measured again" in step.log.getvalue()
    assert step.outputs == {"comment-url": thread.sticky["html_url"]}
    ((_, _, inputs),) = github.talk.dispatched
    dispatched = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}, "inputs": inputs}
    assert started(step, "workflow_dispatch", dispatched, INPUT_BUDGET=inputs["budget"]) == 0
    (plan,) = step.plans
    assert (plan.mode, plan.base, plan.head, plan.comment) == ("pull_request", BASE, HEAD, False)
    github.run(RUN + 1, head="f" * 40, event="workflow_dispatch", branch="main", source=REPOSITORY)
    github.artifact(RUN + 1, packed(report(verdict="mixed")))
    github.tokens[WORKFLOW] = replace(JOB, permissions={**JOB.permissions, "checks": "write"})
    assert started(step, "workflow_dispatch", dispatched, INPUT_MODE="publish") == 0
    (body,) = github.bodies()
    assert body.splitlines()[:2] == [
        f"<!-- suspects pull-request run={RUN + 1} attempt=1 head={HEAD} -->",
        "rendered: mixed, False",
    ]
    assert "/suspects rerun 5m" in body  # the answer stays
    (check,) = github.checks.runs.values()
    assert check["head_sha"] == HEAD


@pytest.mark.parametrize(
    "event",
    [
        lambda github: commented(github, "/suspects rerun", action="edited"),
        lambda github: commented(github, "/suspects rerun", issue={"number": 7}),
        lambda github: commented(github, "> /suspects rerun"),
    ],
)
def test_what_is_no_new_command_on_a_pull_request_is_nothing(
    github: FakeGithub, step: Step, event: Callable[[FakeGithub], dict[str, Any]]
) -> None:
    Thread(github)
    assert started(step, "issue_comment", event(github)) == 0
    assert github.talk.dispatched == [] and github.talk.reactions == {} and github.api.log == []


def test_what_is_refused_is_no_failure_of_the_job_and_says_why(github: FakeGithub, step: Step) -> None:
    Thread(github)
    assert started(step, "issue_comment", commented(github, "/suspects dance\n::error::x")) == 0
    assert "::notice::refused: not understood; there are" in step.log.getvalue()
    assert "\n::error::" not in step.log.getvalue()


def test_where_no_comment_is_wanted_reactions_are_all_that_is_seen(github: FakeGithub, step: Step) -> None:
    thread = Thread(github)
    event = commented(github, "/suspects rerun")
    assert started(step, "issue_comment", event, INPUT_COMMENT="never") == 0
    assert github.talk.on(event["comment"]["id"]) == ["eyes", "rocket"]
    assert github.bodies() == [thread.sticky["body"]] and "being measured" not in thread.sticky["body"]


def test_a_command_without_a_token_or_a_repository_is_one_line(github: FakeGithub, step: Step) -> None:
    event = commented(github, "/suspects rerun")
    assert started(step, "issue_comment", event, **{"INPUT_GITHUB-TOKEN": ""}) == 2
    assert started(step, "issue_comment", event, GITHUB_REPOSITORY="") == 2
    assert step.log.getvalue().count("::error") == 2


def rerun(github: FakeGithub, *, source: str = FORK, event: str = "workflow_dispatch", **more: Any) -> None:
    """A pull request, and a dispatched run of it that has left its report."""
    github.pull(7, head=HEAD, source=source, **more)
    github.run(RUN, head="f" * 40, event=event, branch="main", source=REPOSITORY)
    github.artifact(RUN, packed(report()))


def test_a_fork_that_was_measured_again_is_still_a_fork(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    rerun(github)
    outcome = publishing(requested=ASKED)
    assert outcome.reason == "#7: created" and "curl evil" not in github.bodies()[0]
    assert github.checks.told()[0][:2] == ("Suspects (fork)", "neutral")


def test_a_rerun_is_published_only_for_the_head_that_was_seen(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    rerun(github)
    assert publishing(requested=Requested(7, "c" * 40)).ending == "nothing"
    github.pull(7, head=HEAD, source=FORK, state="closed")
    assert publishing(requested=ASKED).ending == "nothing"
    github.run(RUN, head=HEAD, event="pull_request", source=FORK)  # a fork's own run is none of ours
    github.pull(7, head=HEAD, source=FORK)
    assert publishing(requested=ASKED).ending == "nothing"
    assert github.bodies() == []


def test_an_answer_that_brings_an_old_report_back_is_noticed(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    """GitHub edits whatever stands there: who read the old report and answers now writes it once more."""
    rerun(github)
    old = github.say(7, shown(run=RUN - 1), login="github-actions[bot]")

    def answered() -> None:
        old["body"] = with_answer(shown(run=RUN - 1), 5, "not done: no")

    github.fault("meanwhile", "POST", "/check-runs$", happens=answered)
    assert publishing(requested=ASKED).reason == "#7: edited"
    (body,) = github.bodies()
    assert body.startswith(f"<!-- suspects pull-request run={RUN} ") and body.endswith("not done: no")


def test_a_dispatched_run_is_never_published_as_a_pull_request_s_own(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    rerun(github)
    assert publishing().ending == "nothing" and github.bodies() == []


def based(github: FakeGithub, text: str | None) -> None:
    """The merge base has this file of accepted changes."""
    github.git.commits[BASE] = github.git.commits[github.git.commit({PATH: text} if text else {})]


def test_what_base_accepts_of_a_fork_is_no_alarm_whatever_its_run_said(
    github: FakeGithub, publishing: Callable[..., Outcome]
) -> None:
    based(github, FILE)
    rerun(github)
    outcome = publishing(requested=ASKED, trusted=KNOWING, render=comment)
    assert outcome.report is not None and outcome.report.verdict == "none"
    assert "Nothing slower but what was accepted" in github.bodies()[0] and "agreed" in github.bodies()[0]


@pytest.mark.parametrize(
    "text", [None, FILE.replace("2026-12-31", "2026-11-20"), FILE.replace("cpu", "wall"), "version: 9"]
)
def test_what_a_fork_says_was_accepted_is_not_believed(
    github: FakeGithub, publishing: Callable[..., Outcome], text: str | None
) -> None:
    based(github, text)
    github.pull(7, head=HEAD, source=FORK)
    github.run(RUN, head=HEAD, source=FORK)
    whole = report()
    forged = whole.model_dump(mode="json") | {"verdict": "none"}
    forged["suspects"]["options"][0]["accepted"] = {"source": "label", "until": None, "reason": "click here"}
    github.artifact(RUN, packed(type(whole).model_validate(forged)))
    outcome = publishing(trusted=KNOWING, render=comment)
    assert outcome.report is not None and outcome.report.verdict == "regression"
    assert "click here" not in github.bodies()[0]
    assert ("accepted by a file" in github.bodies()[0]) is (text == "version: 9")


@pytest.mark.parametrize("source", [FORK, REPOSITORY])
def test_the_label_accepts_as_it_stands_when_the_report_is_published(
    github: FakeGithub, publishing: Callable[..., Outcome], source: str
) -> None:
    based(github, None)
    rerun(github, source=source, labels=["suspects: accepted"])
    outcome = publishing(requested=ASKED, trusted=KNOWING, render=comment)
    assert outcome.report is not None and outcome.report.verdict == "none"
    assert "Accepted by a label" in github.bodies()[0]
    assert github.checks.told()[0][1] in ("success", "neutral")
