"""Where the history is on GitHub: the repository's branch, then the artifact; copies outside the checkout."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.adapters.stores import segments
from bot.adapters.stores.artifact import KnownArtifact
from bot.compose.remembering import AskedHistory, opened_history
from bot.settings import Settings
from tests.adapters.stores.samples import run
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub
from tests.github.test_history_artifact import NAME, NIGHT, packed
from tests.repositories import commit, git, new_repository


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """A folder with the repository as the server has it: git reaches it by path instead of https."""
    bare = tmp_path / "server" / REPOSITORY
    bare.mkdir(parents=True)
    git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
    return tmp_path / "server"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    path = new_repository(tmp_path / "checkout")
    commit(path, {"a": "b"})
    return path


@pytest.fixture
def settings(github: FakeGithub, server: Path, tmp_path: Path) -> Settings:
    environment: Mapping[str, str] = {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_TOKEN": WORKFLOW,
        "GITHUB_API_URL": github.api.url,
        "GITHUB_SERVER_URL": str(server),
        "RUNNER_TEMP": str(tmp_path / "runner"),
    }
    (tmp_path / "runner").mkdir()
    return Settings.read(environment)


def test_a_run_is_written_to_the_branch_of_the_repository(
    settings: Settings, checkout: Path, server: Path
) -> None:
    with opened_history(AskedHistory(settings, folder=checkout)) as store:
        name = store.append(run())
    listed = git(server / REPOSITORY, "ls-tree", "-r", "--name-only", "suspects-history")
    assert listed == f"202401/{name}"
    assert git(checkout, "status", "--porcelain") == "" and git(checkout, "branch", "--list") == "* main"


def test_branch_and_artifact_are_one_history(github: FakeGithub, settings: Settings, checkout: Path) -> None:
    github.run(NIGHT, head="a" * 40, event="schedule", branch="main")
    github.artifact(NIGHT, packed(run(0), run(1)), name=NAME)
    with opened_history(AskedHistory(settings, folder=checkout)) as store:
        store.append(run(1))
        store.append(run(2))
    with opened_history(AskedHistory(settings, folder=checkout)) as store:
        assert [one.id for one in store.read().runs] == ["run-0", "run-1", "run-2"]
        assert store.source == "branch" and list(store.notes()) == []


def test_copies_that_a_pull_request_committed_are_never_looked_at(
    github: FakeGithub, settings: Settings, checkout: Path, tmp_path: Path
) -> None:
    github.run(NIGHT, head="a" * 40, event="schedule", branch="main")
    github.artifact(NIGHT, packed(run(0)), name=NAME)
    with opened_history(AskedHistory(settings, folder=checkout)) as store:
        store.read()
    (kept,) = (tmp_path / "runner").rglob("artifact.json")
    name, content = segments.encode(run(6))
    forged = checkout / ".suspects" / "copies" / kept.parent.name
    forged.mkdir(parents=True)
    (forged / name).write_bytes(content)
    known = KnownArtifact(id=github.artifacts[0]["id"], names=(name,))
    (forged / "artifact.json").write_text(known.model_dump_json())
    for path in (tmp_path / "runner").rglob("*.*"):
        path.unlink()
    with opened_history(AskedHistory(settings, folder=checkout)) as store:
        assert [one.id for one in store.read().runs] == ["run-0"]
