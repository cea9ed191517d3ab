"""The image, built once; a fake GitHub, a git server and a runner for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.container.engine import Engine, opened
from tests.container.git_server import GitServer
from tests.container.hosted_runner import HostedRunner, a_job
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub
from tests.repositories import git


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    with opened() as engine:
        yield engine


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    fake = FakeGithub()
    yield fake
    fake.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    """GitHub's other half: the repository, which has no branch yet."""
    bare = tmp_path / "server" / REPOSITORY
    bare.mkdir(parents=True)
    git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
    serving = GitServer(tmp_path / "server", WORKFLOW)
    yield serving
    serving.close()


@pytest.fixture
def runner(engine: Engine, github: FakeGithub, server: GitServer) -> Iterator[HostedRunner]:
    with a_job(engine, github, server) as job:
        yield job
