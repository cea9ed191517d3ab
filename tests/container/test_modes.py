"""The three modes and publish, in the real image, from event.json to the comment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.container.git_server import GitServer
from tests.container.hosted_runner import CREDENTIAL, HostedRunner
from tests.container.stories import FORK, Story, measured, report_of, subject
from tests.end_to_end.test_methods import NATIVE, PYTHON
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token, archive
from tests.repositories import git

pytestmark = pytest.mark.container

SPY = f"""\
# What hostile code tries first. It must find nothing, and so print nothing.
for secret in {WORKFLOW} {CREDENTIAL}; do
    env | grep $secret
    tr '\\0' '\\n' < /proc/1/environ | grep $secret
    grep -r $secret /github
done
kill -0 1 && echo process 1 can be signalled
for path in /usr/bin/cc /opt/suspects/venv/bin/python /github/workspace/work.c /github/file_commands; do
    test -w $path && echo $path can be written
done
python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("/run/docker.sock"); print("has Docker")'
python3 -c 'import socket; socket.create_server(("127.0.0.1", 0)); print("there is a network")'
"""
NATIVE_PROGRAM = {
    "runtime": "native",
    "build": "sh spy.sh 2>spy.err >spy.txt; cat spy.txt; test ! -s spy.txt && cc -O1 -o work work.c",
    "run": "./work {options}",
}


@pytest.fixture
def story(tmp_path: Path, server: GitServer) -> Story:
    return Story(tmp_path, server)


def turns(text: str, number: int) -> str:
    return text.replace("TURNS", str(number))


def test_what_looks_for_secrets_would_find_them(runner: HostedRunner) -> None:
    """In the eyes of root: what the builds of these tests must not see is there."""
    step = runner.step("push", {"deleted": True}, ref="refs/heads/topic", instead=["sh", "-c", SPY])
    for word in (WORKFLOW, CREDENTIAL, "git-credentials", "signalled", "written", "Docker", "network"):
        assert word in step.log


def test_a_pull_request_is_measured_and_commented(
    runner: HostedRunner, github: FakeGithub, story: Story
) -> None:
    story.commit({**subject(NATIVE_PROGRAM), "spy.sh": SPY, "work.c": turns(NATIVE, 40)})
    revisions = story.pull_request({"work.c": turns(NATIVE, 80)})
    step = measured(runner, github, revisions, budget="60s", fail_on="regression")
    assert step.code == 1 and "Forbidden" not in step.log, step.log
    report = report_of(runner, step)
    assert step.outputs["verdict"] == report["verdict"] == "regression"
    assert report["suspects"]["options"][0]["term"] == ["alpha"]
    (body,) = github.bodies()
    assert "alpha" in body and step.outputs["comment-url"] == github.comments[0]["html_url"]
    assert "alpha" in step.summary


def test_a_forks_pull_request_is_commented_by_the_second_stage(
    runner: HostedRunner, github: FakeGithub, story: Story
) -> None:
    story.commit(
        {**subject({"runtime": "python", "run": "python3 work.py {options}"}), "work.py": turns(PYTHON, 40)}
    )
    revisions = story.pull_request({"work.py": turns(PYTHON, 80)})
    step = measured(runner, github, revisions, source=FORK, budget="60s")
    assert step.code == 0 and not github.comments, step.log
    assert report_of(runner, step)["verdict"] == "regression"
    github.run(500, head=revisions[1], source=FORK)
    github.artifact(500, archive({"report.json": runner.later_step("cat", step.outputs["report"])}))
    event = {"workflow_run": {"id": 500, "event": "pull_request"}}
    published = runner.step("workflow_run", event, ref="refs/heads/main", mode="publish")
    assert published.code == 0, published.log
    (body,) = github.bodies()
    assert "alpha" in body and published.outputs["comment-url"] == github.comments[0]["html_url"]


def test_a_night_is_remembered_in_the_branch_and_left_to_the_workflow(
    runner: HostedRunner, github: FakeGithub, story: Story, server: GitServer
) -> None:
    github.tokens[WORKFLOW] = Token(
        permissions={"contents": "write", "issues": "write", "pull-requests": "write"}
    )
    story.commit({**subject(NATIVE_PROGRAM), "spy.sh": SPY, "work.c": turns(NATIVE, 40)})
    for number in range(3):
        story.commit({"README": f"{number}\n"})
    story.push()
    runner.check_out("main", branch="main")
    event = {"schedule": "17 3 * * *", "repository": {"default_branch": "main"}}
    step = runner.step("schedule", event, ref="refs/heads/main", budget="40s")
    assert step.code == 0, step.log
    report = report_of(runner, step)
    assert report["mode"] == "nightly" and report["spent"]["trials"] > 0
    assert server.pushes > 0
    remembered = git(server.folder / REPOSITORY, "ls-tree", "-r", "--name-only", "suspects-history")
    assert "-trials-" in remembered
    left = runner.later_step("sh", "-c", "cat suspects-history/*-trials-*.parquet | head -c 4")
    assert left == b"PAR1"


def test_a_bisection_finds_the_commit(runner: HostedRunner, github: FakeGithub, story: Story) -> None:
    story.commit({**subject(NATIVE_PROGRAM), "spy.sh": SPY, "work.c": turns(NATIVE, 40)})
    git(story.repository, "tag", "v1.0")
    commits = [
        story.commit({"README": f"{number}\n", "work.c": turns(NATIVE, 40 if number < 4 else 80)})
        for number in range(6)
    ]
    git(story.repository, "tag", "v1.1")
    story.push()
    runner.check_out("main", branch="main")
    event = {"inputs": {"range": "v1.0..v1.1"}, "repository": {"default_branch": "main"}}
    step = runner.step(
        "workflow_dispatch", event, ref="refs/heads/main", mode="bisect", range="v1.0..v1.1", budget="60s"
    )
    assert step.code == 0, step.log
    report = report_of(runner, step)
    assert "alpha" in step.log  # the line that stands above the log
    (point,) = report["change_points"]
    assert (point["revision"], point["term"]) == (commits[4], ["alpha"]), report["change_points"]
