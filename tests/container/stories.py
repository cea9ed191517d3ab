"""What happened in a repository before a job starts, and the measuring job of a pull request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.container.git_server import GitServer
from tests.container.hosted_runner import RUNNER, HostedRunner, Step
from tests.end_to_end.builders import CONFIG, config
from tests.github.fake import REPOSITORY, FakeGithub
from tests.repositories import commit, git, new_repository

FORK = "eve/tools"
NUMBER = 7


class Story:
    """A repository that somebody works in, and pushes."""

    def __init__(self, folder: Path, server: GitServer) -> None:
        self.repository = new_repository(folder / "author")
        self._origin = server.folder / REPOSITORY

    def commit(self, files: Mapping[str, str | None]) -> str:
        """A commit on the branch they are on."""
        return commit(self.repository, files)

    def push(self) -> None:
        """Everything, whatever refs it has."""
        git(self.repository, "push", "--quiet", "--mirror", str(self._origin))

    def pull_request(self, files: Mapping[str, str]) -> tuple[str, str]:
        """A branch from main with one commit, and GitHub's merge of both; base and head."""
        base = git(self.repository, "rev-parse", "main")
        git(self.repository, "checkout", "--quiet", "-b", "topic")
        head = self.commit(files)
        git(self.repository, "checkout", "--quiet", "--detach", "main")
        git(self.repository, "merge", "--quiet", "--no-ff", "--message", "Merge", "topic")
        git(self.repository, "update-ref", f"refs/pull/{NUMBER}/merge", "HEAD")
        self.push()
        return base, head


def subject(program: Mapping[str, Any], **more: Any) -> Mapping[str, str]:
    """The configuration file of a program with two flags."""
    options = {name: {"flag": f"--{name}"} for name in ("alpha", "beta")}
    return {
        CONFIG: config(program=dict(program), run=program["run"], options=options, threshold="3%", **more)
    }


def measured(
    runner: HostedRunner,
    github: FakeGithub,
    revisions: tuple[str, str],
    *,
    source: str = REPOSITORY,
    **inputs: str,
) -> Step:
    """The measuring job of the pull request that `Story.pull_request` made."""
    base, head = revisions
    github.pull(NUMBER, head=head, base=base, source=source)
    github.merge_bases = {(base, head): base}
    runner.check_out(f"all/pull/{NUMBER}/merge")
    pull = {
        "number": NUMBER,
        "state": "open",
        "draft": False,
        "head": {"sha": head, "repo": {"full_name": source}},
        "base": {"sha": base, "repo": {"full_name": REPOSITORY}},
    }
    event = {"action": "opened", "sender": {"login": "ann"}, "pull_request": pull}
    return runner.step("pull_request", event, ref=f"refs/pull/{NUMBER}/merge", **inputs)


def report_of(runner: HostedRunner, step: Step) -> dict[str, Any]:
    """The report as a later step of the runner's own account reads it; and what it could not remove."""
    assert step.outputs.get("report"), step.log
    foreign = runner.later_step("find", ".", "-not", "-user", str(RUNNER)).decode()
    assert not foreign, foreign
    print(step.log)  # noqa: T201  pytest shows it with a failure
    found: dict[str, Any] = json.loads(runner.later_step("cat", step.outputs["report"]))
    print(json.dumps(found["notes"], indent=1))  # noqa: T201
    return found
