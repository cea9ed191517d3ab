"""`suspects action`, from event.json to the comment."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.github.artifacts import GithubArtifacts
from bot.adapters.github.checks import GithubChecks
from bot.adapters.runner import Runner
from bot.commands.action import Abilities, Measured, action
from bot.commands.publish import publish_command
from bot.event import Plan
from bot.model.errors import ArtifactError, NothingMeasuredError, NotWantedError, UsageError
from bot.report.render import comment
from bot.settings import Settings
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token
from tests.github.reports import BASE, HEAD, packed, report

RUN = 500


class Step:
    """One step of a job: its environment, its files and what it wrote."""

    def __init__(self, github: FakeGithub, folder: Path) -> None:
        self.github = github
        self.folder = folder
        self.log = io.StringIO()
        self.plans: list[Plan] = []
        self.exit_code = 0
        self.failure: Exception | None = None

    def run(self, event: str, payload: dict[str, Any], **inputs: str) -> int:
        path = self.folder / "event.json"
        path.write_text(json.dumps(payload), "utf-8")
        environ = {
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": str(RUN),
            "GITHUB_RUN_ATTEMPT": "2",
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "INPUT_GITHUB-TOKEN": WORKFLOW,
        }
        given = {f"INPUT_{name.upper().replace('_', '-')}": value for name, value in inputs.items()}
        return self.start(environ | given)

    def start(self, environ: dict[str, str]) -> int:
        settings = Settings.read(environ)
        runner = Runner(self.log, output=settings.output, summary=settings.step_summary)
        abilities = Abilities(
            runner=runner,
            connect=self.connect,
            render=lambda report, fork: f"rendered: {report.verdict}, {fork}",
            measure={"pull_request": self.measure},
        )
        return action(settings, abilities)

    @contextmanager
    def connect(self, repository: str, token: str) -> Iterator[tuple[GithubChecks, GithubArtifacts]]:
        url = self.github.api.url
        with (
            GithubChecks(repository, token, api_url=url) as forge,
            GithubArtifacts(repository, token, api_url=url) as artifacts,
        ):
            yield forge, artifacts

    def measure(self, plan: Plan) -> Measured:
        self.plans.append(plan)
        if self.failure:
            raise self.failure
        path = self.folder / "out" / "report.json"
        return Measured(report(), path, "Slower.", "# Summary", "5 % slower", self.exit_code)

    @property
    def outputs(self) -> dict[str, str]:
        file = self.folder / "output"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        return {line.split("<<")[0]: lines[i + 1] for i, line in enumerate(lines) if "<<" in line}


@pytest.fixture
def step(github: FakeGithub, tmp_path: Path) -> Step:
    return Step(github, tmp_path)


def pull_event(source: str = REPOSITORY, **changes: Any) -> dict[str, Any]:
    pull = {
        "number": 7,
        "state": "open",
        "draft": False,
        "head": {"sha": HEAD, "repo": {"full_name": source}},
        "base": {"sha": BASE, "repo": {"full_name": REPOSITORY}},
    }
    return {"action": "opened", "sender": {"login": "ann"}, "pull_request": pull | changes}


RUN_EVENT = {"workflow_run": {"id": RUN, "event": "pull_request"}}


def test_a_pull_request_is_measured_told_and_commented(
    github: FakeGithub, step: Step, caplog: pytest.LogCaptureFixture
) -> None:
    github.pull(7, head=HEAD)
    step.exit_code = 1
    assert step.run("pull_request", pull_event()) == 1
    assert (step.plans[0].base, step.plans[0].head) == (BASE, HEAD)
    assert step.outputs == {
        "verdict": "regression",
        "report": "out/report.json",
        "comment-url": github.comments[0]["html_url"],
    }
    assert github.bodies()[0].endswith(f"run={RUN} attempt=2 head={HEAD} -->\nSlower.")
    assert (step.folder / "summary").read_text("utf-8") == "# Summary\n"
    assert "::warning title=Suspects::5 %25 slower\n" in step.log.getvalue()
    assert not caplog.messages  # that we may not ask who we are is no news


@pytest.mark.parametrize(
    ("event", "inputs"), [(pull_event("eve/tools"), {}), (pull_event(), {"comment": "never"})]
)
def test_a_fork_and_a_policy_of_never_leave_the_comment_to_publish(
    github: FakeGithub, step: Step, event: dict[str, Any], inputs: dict[str, str]
) -> None:
    assert step.run("pull_request", event, **inputs) == 0
    assert step.outputs == {"verdict": "regression", "report": "out/report.json"}
    assert github.api.log == []


def test_a_token_that_may_not_comment_does_not_undo_the_measurement(github: FakeGithub, step: Step) -> None:
    github.pull(7, head=HEAD)
    github.tokens[WORKFLOW] = Token(permissions={"contents": "read"})
    assert step.run("pull_request", pull_event()) == 0
    assert step.outputs["verdict"] == "regression"
    assert "::warning title=Suspects::Not commented: commenting on #7: the token lacks" in step.log.getvalue()


def test_a_pull_request_of_the_repository_gets_a_check_run_where_the_token_may(
    github: FakeGithub, step: Step
) -> None:
    github.pull(7, head=HEAD)
    assert step.run("pull_request", pull_event()) == 0
    ((name, conclusion, title, places),) = github.checks.told()
    assert (name, conclusion, places) == ("Suspects", "failure", ["pkg/module.py:3"])
    assert title.startswith("Slower with compress on")
    assert "::notice::check run 'Suspects', failure: created\n" in step.log.getvalue()


def test_fail_on_narrows_what_fails_the_check(github: FakeGithub, step: Step) -> None:
    github.pull(7, head=HEAD)
    step.run("pull_request", pull_event(), fail_on="violation")
    assert [conclusion for _, conclusion, _, _ in github.checks.told()] == ["neutral"]


def test_a_token_that_may_not_check_is_a_note_and_no_failure(github: FakeGithub, step: Step) -> None:
    github.pull(7, head=HEAD)
    github.tokens[WORKFLOW] = Token(permissions={"pull-requests": "write", "contents": "read"})
    assert step.run("pull_request", pull_event()) == 0
    assert step.outputs["comment-url"] == github.comments[0]["html_url"]
    assert "::notice::no check run: checking aaaaaaaaaaaa: the token lacks the permission" in (
        step.log.getvalue()
    )


def test_github_away_for_the_check_does_not_undo_the_comment(github: FakeGithub, step: Step) -> None:
    github.pull(7, head=HEAD)
    github.fault("garbage", "GET", "check-runs", times=99)
    assert step.run("pull_request", pull_event()) == 0
    assert len(github.bodies()) == 1
    assert "::warning title=Suspects::No check run: checking" in step.log.getvalue()


def test_both_stages_speak_of_one_run_in_one_check(github: FakeGithub, step: Step) -> None:
    github.pull(7, head=HEAD)
    github.run(RUN, head=HEAD, attempt=2)
    github.artifact(RUN, packed(report()))
    assert step.run("pull_request", pull_event()) == 0
    assert step.run("workflow_run", RUN_EVENT) == 0
    assert len(github.checks.runs) == 1 and len(github.bodies()) == 1


def test_the_second_stage_comments_what_the_first_left(github: FakeGithub, step: Step) -> None:
    github.pull(7, head=HEAD, source="eve/tools")
    github.run(RUN, head=HEAD, source="eve/tools")
    github.artifact(RUN, packed(report()))
    assert step.run("workflow_run", RUN_EVENT) == 0
    assert step.outputs == {"verdict": "regression", "comment-url": github.comments[0]["html_url"]}
    assert github.bodies()[0].endswith("rendered: regression, True")
    assert step.plans == []


def test_a_hostile_artifact_is_one_error_and_no_comment(github: FakeGithub, step: Step) -> None:
    github.pull(7, head=HEAD)
    github.run(RUN, head=HEAD)
    github.artifact(RUN, b"PK, or so it says")
    assert step.run("workflow_run", RUN_EVENT) == ArtifactError.exit_code
    assert step.log.getvalue().startswith("::error title=Suspects::the artifact is not a readable archive")
    assert not github.comments


def test_a_pull_request_that_is_not_wanted_is_said_and_left(github: FakeGithub, step: Step) -> None:
    step.failure = NotWantedError("the pull request is a draft")
    assert step.run("pull_request", pull_event(draft=True)) == 0
    assert step.log.getvalue().endswith("\n::notice::Nothing to do: the pull request is a draft.\n")
    assert step.outputs == {} and not github.comments


@pytest.mark.parametrize("event", ["pull_request_target", "issue_comment"])
def test_a_privileged_event_is_refused_in_one_line(step: Step, event: str) -> None:
    assert step.run(event, pull_event(), mode="pull_request") == 2
    assert step.log.getvalue().count("\n") == 1
    assert f"refused to measure under {event}" in step.log.getvalue()
    assert step.plans == []


@pytest.mark.parametrize("mode", ["nightly", "bisect", "shard", "merge"])
def test_a_mode_without_a_flow_is_one_line(step: Step, mode: str) -> None:
    payload = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    assert step.run("workflow_dispatch", payload, mode=mode, range="v1..v2") == 2
    assert step.log.getvalue() == f"::error title=Suspects::mode {mode} is not yet supported\n"


def test_measuring_nothing_is_never_green(step: Step) -> None:
    step.failure = NothingMeasuredError("no pair could be completed")
    assert step.run("pull_request", pull_event()) == 3
    said = "suspects: measure and comment\n::error title=Suspects::no pair could be completed\n"
    assert step.log.getvalue() == said


def test_an_unreadable_event_is_one_line(step: Step) -> None:
    assert step.start({"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(step.folder / "none")}) == 2
    assert step.start({}) == 2
    assert "runs inside GitHub Actions" in step.log.getvalue()


def test_a_person_publishes_from_a_shell(github: FakeGithub, step: Step) -> None:
    github.pull(7, head=HEAD)
    github.run(RUN, head=HEAD)
    github.artifact(RUN, packed(report()))
    github.tokens["pat"] = Token(login="ann", person=True)
    settings = Settings.read({"GITHUB_TOKEN": "pat"})
    outcome = publish_command(
        settings, run_id=RUN, connect=step.connect, render=comment, repository=REPOSITORY
    )
    assert outcome.reason == "#7: created"
    assert "compress" in github.bodies(login="ann")[0]
    with pytest.raises(UsageError, match="which repository"):
        publish_command(settings, run_id=RUN, connect=step.connect, render=comment)
    with pytest.raises(UsageError, match="no token"):
        publish_command(
            Settings.read({}), run_id=RUN, connect=step.connect, render=comment, repository=REPOSITORY
        )
