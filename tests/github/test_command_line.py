"""The installed program against the fake: what the container and a person's shell really start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub
from tests.github.reports import HEAD, packed, report

RUN = 500


def suspects(
    github: FakeGithub, folder: Path, *arguments: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Starts the program with nothing but what a runner gives."""
    given = {"GITHUB_API_URL": github.api.url, "PATH": "/usr/bin:/bin", "HOME": str(folder), **environ}
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "bot", *arguments],
        env=given | {"PYTHONPATH": root},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def left(github: FakeGithub) -> FakeGithub:
    """A fork's run has ended and left its report."""
    github.pull(7, head=HEAD, source="eve/tools")
    github.run(RUN, head=HEAD, source="eve/tools")
    github.artifact(RUN, packed(report()))
    return github


def test_the_container_publishes_from_the_event(left: FakeGithub, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"workflow_run": {"id": RUN, "event": "pull_request"}}), "utf-8")
    files = {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    done = suspects(
        left,
        tmp_path,
        "action",
        GITHUB_EVENT_NAME="workflow_run",
        GITHUB_EVENT_PATH=str(event),
        GITHUB_REPOSITORY=REPOSITORY,
        **files,
        **{"INPUT_GITHUB-TOKEN": WORKFLOW, "INPUT_MODE": "auto"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert left.comments[0]["html_url"] in (tmp_path / "output").read_text("utf-8")
    body = left.bodies()[0]
    assert "compress" in body
    assert "curl" not in body


def test_a_person_publishes_from_a_shell(left: FakeGithub, tmp_path: Path) -> None:
    arguments = ("publish", "--run-id", str(RUN), "--repository", REPOSITORY)
    done = suspects(left, tmp_path, *arguments, GITHUB_TOKEN=WORKFLOW)
    said = "published: #7: created\ncheck run 'Suspects (fork)', neutral: created\n"
    assert (done.returncode, done.stdout) == (0, said), done.stderr


def test_a_refusal_is_one_line_and_an_exit_code(left: FakeGithub, tmp_path: Path) -> None:
    arguments = ("publish", "--run-id", str(RUN), "--repository", REPOSITORY)
    without = suspects(left, tmp_path, *arguments)
    assert (without.returncode, without.stderr.count("\n")) == (2, 1)
    assert "no token" in without.stderr
    wrong = suspects(left, tmp_path, *arguments, GITHUB_TOKEN="stolen")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (3, 1)
    assert "does not accept the token" in wrong.stderr
    assert "stolen" not in wrong.stderr
