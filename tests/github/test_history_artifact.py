"""The history that a nightly run uploaded, found and read through GitHub's API."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.adapters.github.artifacts import GithubArtifacts
from bot.adapters.stores import segments
from bot.adapters.stores.artifact import ArtifactPlace
from bot.adapters.stores.cache import Cache
from bot.adapters.stores.layered import LayeredStore
from bot.model.errors import HistoryError
from bot.model.history import Measurements
from tests.adapters.stores.samples import run, same
from tests.github.fake import FakeGithub, Token, archive

NIGHT = 70
NAME = "suspects-history"


def packed(*runs: Measurements, more: Mapping[str, bytes] | None = None) -> bytes:
    encoded = [segments.encode(one) for one in runs]
    return archive(dict(encoded) | dict(more or {}))


def store(artifacts: GithubArtifacts, tmp_path: Path) -> LayeredStore:
    return LayeredStore([ArtifactPlace(artifacts, cache=Cache(tmp_path / "cache"))])


@pytest.fixture
def night(github: FakeGithub) -> FakeGithub:
    """GitHub with a nightly run on the default branch."""
    github.run(NIGHT, head="a" * 40, event="schedule", branch="main")
    return github


def test_the_newest_artifact_is_the_history(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    night.artifact(NIGHT, packed(run(0)), name=NAME)
    night.artifact(NIGHT, packed(run(0), run(1)), name=NAME)
    found = store(artifacts, tmp_path)
    assert same(found.read(), Measurements.concatenated([run(0), run(1)]))
    assert found.source == "artifact" and list(found.notes()) == []


def test_no_artifact_is_an_empty_history_that_says_so(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    found = store(artifacts, tmp_path)
    assert len(found.read()) == 0
    assert found.notes() == ["History is empty: nothing is stored in artifact suspects-history."]


@pytest.mark.parametrize(
    "origin",
    [
        {"source": "mallory/tools", "branch": "main"},
        {"source": None, "branch": "main"},
        {"branch": "topic"},
    ],
)
def test_an_artifact_of_a_fork_or_of_another_branch_never_counts(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path, origin: dict[str, str | None]
) -> None:
    night.artifact(NIGHT, packed(run(0)), name=NAME)
    night.run(99, head="e" * 40, **origin)
    night.artifact(99, packed(run(6)), name=NAME)
    assert same(store(artifacts, tmp_path).read(), run(0))


def test_a_local_copy_is_downloaded_once(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    night.artifact(NIGHT, packed(run(0)), name=NAME)
    for _ in range(3):
        assert same(store(artifacts, tmp_path).read(), run(0))
    assert night.storage.count("GET", "blob") == 1


def test_a_spoilt_local_copy_is_downloaded_again(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    night.artifact(NIGHT, packed(run(0), run(1)), name=NAME)
    store(artifacts, tmp_path).read()
    (tmp_path / "cache" / segments.encode(run(0)).name).write_bytes(b"PAR1")
    first = store(artifacts, tmp_path)
    assert same(first.read(), run(1)) and "damaged" in first.notes()[0]
    second = store(artifacts, tmp_path)
    assert len(second.read().runs) == 2 and list(second.notes()) == []


def test_bytes_that_are_not_the_uploaded_ones_are_refused_and_the_next_older_artifact_is_used(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    night.artifact(NIGHT, packed(run(0)), name=NAME)
    night.artifact(NIGHT, packed(run(1)), name=NAME)
    night.artifacts[-1]["digest"] = f"sha256:{0:064x}"
    found = store(artifacts, tmp_path)
    assert same(found.read(), run(0))
    assert any("not the ones that were uploaded" in note for note in found.notes())


@pytest.mark.parametrize("content", [b"", b"PK no archive", packed(run(1))[:-30]])
def test_what_is_no_archive_is_told_and_the_next_older_artifact_is_used(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path, content: bytes
) -> None:
    night.artifact(NIGHT, packed(run(0)), name=NAME)
    night.artifact(NIGHT, content, name=NAME)
    found = store(artifacts, tmp_path)
    assert same(found.read(), run(0))
    assert any("not a readable archive" in note for note in found.notes())


def test_a_damaged_segment_in_an_artifact_is_told_and_the_rest_is_used(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    damaged = {segments.encode(run(1)).name: segments.encode(run(1)).content[:-9]}
    night.artifact(NIGHT, packed(run(0), more=damaged), name=NAME)
    found = store(artifacts, tmp_path)
    assert same(found.read(), run(0))
    assert any("damaged" in note for note in found.notes())


def test_verify_downloads_the_artifact_again_and_what_is_out_of_reach_is_read_from_copies(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    night.artifact(NIGHT, packed(run(0)), name=NAME)
    store(artifacts, tmp_path).read()
    assert [segment.problem for segment in store(artifacts, tmp_path).verify()] == [""]
    night.artifacts[0]["digest"] = "sha256:" + "0" * 64
    found = store(artifacts, tmp_path)
    assert len(found.verify()) == 1 and any("not the ones that were uploaded" in n for n in found.notes())
    assert same(found.read(), run(0))


def test_names_in_an_archive_cannot_lead_anywhere(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    name, content = segments.encode(run(1))
    night.artifact(NIGHT, packed(run(0), more={f"../../{name}": content, "../evil": b"x"}), name=NAME)
    assert len(store(artifacts, tmp_path).read().runs) == 2
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file()} == {tmp_path / "cache"}


def test_expired_artifacts_are_told(night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path) -> None:
    night.artifact(NIGHT, packed(run(0)), name=NAME, expired=True)
    found = store(artifacts, tmp_path)
    assert len(found.read()) == 0
    assert any("expired" in note for note in found.notes())


def test_without_github_the_last_local_copy_is_used_and_told(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    night.artifact(NIGHT, packed(run(0)), name=NAME)
    store(artifacts, tmp_path).read()
    night.fault("drop", "GET", "", times=99)
    found = store(artifacts, tmp_path)
    assert same(found.read(), run(0))
    assert any("local copy" in note for note in found.notes())


def test_without_github_and_without_a_copy_it_is_told(
    night: FakeGithub, artifacts: GithubArtifacts, tmp_path: Path
) -> None:
    night.fault("drop", "GET", "", times=99)
    found = store(artifacts, tmp_path)
    assert len(found.read()) == 0
    assert any("did not answer" in note for note in found.notes())


def test_a_token_without_actions_is_told_so(night: FakeGithub, tmp_path: Path) -> None:
    night.private = True
    night.tokens["weak"] = Token(permissions={"contents": "read"})
    with GithubArtifacts("octo/tools", "weak", api_url=night.api.url) as weak:
        found = store(weak, tmp_path)
        assert len(found.read()) == 0
    assert any("`actions: read`" in note for note in found.notes())


def test_an_artifact_cannot_be_appended_to(artifacts: GithubArtifacts, tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="can be written"):
        store(artifacts, tmp_path).append(run())
    with pytest.raises(HistoryError, match="workflow's own step"):
        ArtifactPlace(artifacts, cache=Cache(tmp_path)).add("name", b"")
