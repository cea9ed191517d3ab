"""A matrix on GitHub: jobs that measure, one that merges and comments once."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.commands.shard_modes import SHARD, SHARDS
from tests.end_to_end.builders import Ended, Place, shell
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub

PULL = {"number": 7, "state": "open", "draft": False}


@pytest.fixture
def place() -> Iterator[Place]:
    """A repository with a pull request, which the accounts of trials can enter."""
    folder = Path(tempfile.mkdtemp(prefix="suspects-place-"))
    folder.chmod(0o755)
    found = Place(folder)
    found.pull_request(shell("# one"), shell("# two"))
    yield found
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], capture_output=True)
    shutil.rmtree(folder)


class Jobs:
    """The jobs of one run of the workflow, each in a fresh workspace."""

    def __init__(self, place: Place, github: FakeGithub) -> None:
        self.place, self.github = place, github
        self.base, self.head = (place.git("rev-parse", name) for name in ("HEAD~1", "HEAD"))
        self.brought = place.folder / "brought"
        self.brought.mkdir()

    def run(self, mode: str, *, source: str = REPOSITORY, **environ: str) -> Ended:
        """One job's step."""
        event = self.place.out / "event.json"
        sides = {
            name: {"sha": sha, "repo": {"full_name": owner}}
            for name, sha, owner in (("base", self.base, REPOSITORY), ("head", self.head, source))
        }
        event.write_text(json.dumps({"action": "opened", "pull_request": PULL | sides}))
        given = {
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_WORKSPACE": str(self.place.repository),
            "GITHUB_API_URL": self.github.api.url,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "77",
            "GITHUB_OUTPUT": str(self.place.out / "output"),
            "INPUT_GITHUB-TOKEN": WORKFLOW,
            "INPUT_MODE": mode,
            "INPUT_BUDGET": "3s",
            **environ,
        }
        return self.place.finish(self.place.start("action", env=given), clean=False)

    def shard(self, text: str, number: int) -> Ended:
        """A measuring job, whose artifact is brought to where the merging job downloads it."""
        ended = self.run("shard", INPUT_SHARD=text)
        left = self.place.repository / SHARD
        if left.exists():
            left.rename(self.brought / f"{SHARD}-{number}")
        return ended

    def merge(self, **how: str) -> Ended:
        """The merging job."""
        shutil.copytree(self.brought, self.place.repository / SHARDS, dirs_exist_ok=True)
        return self.run("merge", **how)

    @property
    def report(self) -> dict[str, Any]:
        """What the merging job leaves."""
        path = self.place.repository / "suspects-report" / "report.json"
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found


@pytest.fixture
def jobs(place: Place, github: FakeGithub) -> Jobs:
    found = Jobs(place, github)
    github.pull(7, head=found.head)
    return found


def test_the_union_is_one_comment(jobs: Jobs, github: FakeGithub) -> None:
    for number in range(2):
        ended = jobs.shard(f"{number}/2", number)
        assert ended.code == 0, ended.said
        assert "::notice title=Suspects::A shard: " in ended.said
        assert not github.comments
    own = [
        json.loads((jobs.brought / f"{SHARD}-{k}" / "report.json").read_text())["spent"]["pairs"]
        for k in range(2)
    ]
    for _ in range(2):
        ended = jobs.merge()
        assert ended.code == 0, ended.said
        assert len(github.comments) == 1
    assert jobs.report["spent"]["pairs"] == sum(own) > 0
    assert jobs.report["head"]["revision"] == jobs.head
    output = (jobs.place.out / "output").read_text("utf-8")
    assert "suspects-report/report.json" in output and github.comments[0]["html_url"] in output


def test_a_forks_union_is_left_for_the_second_stage(jobs: Jobs, github: FakeGithub) -> None:
    assert jobs.shard("1/2", 1).code == 0
    ended = jobs.merge(source="eve/tools")
    assert ended.code == 0, ended.said
    assert not github.comments
    assert "1 of 2 shards left nothing (0)" in "\n".join(jobs.report["notes"])


def test_nothing_that_was_measured_is_never_green(jobs: Jobs, github: FakeGithub) -> None:
    ended = jobs.merge()
    assert ended.code == 3, ended.said
    assert "suspects: " in ended.said
    assert len(github.comments) == 1  # the reader is told, too


def test_a_job_takes_its_entry_of_a_matrix_and_no_other_heads(jobs: Jobs) -> None:
    ended = jobs.place.suspects("plan", "--shards", "2", "--budget", "12s")
    (include,) = [json.loads(line)["include"] for line in ended.out.splitlines()]
    assert (include[1]["base"], include[1]["head"]) == (jobs.base, jobs.head)
    assert jobs.shard(json.dumps(include[1]), 1).code == 0
    words = ("plan", "--shards", "2", "--base", "HEAD~1", "--head", "HEAD~1")
    other = jobs.place.finish(jobs.place.start(*words), clean=False)
    entry = json.loads(other.out)["include"][0]
    ended = jobs.shard(json.dumps(entry), 0)
    assert ended.code == 2 and "no entry of a plan for this event" in ended.said


@pytest.mark.parametrize("text", ["", "3", "2/2", "0/999", '{"shard": 0}', "0/2; rm -rf /"])
def test_a_wrong_shard_is_one_line(jobs: Jobs, text: str) -> None:
    ended = jobs.shard(text, 0)
    assert ended.code == 2, ended.said
    (line,) = [line for line in ended.out.splitlines() if line.startswith("::error")]
    assert "shard" in line
    assert not (jobs.place.repository / SHARD).exists()
