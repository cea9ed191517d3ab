"""What an unprivileged run left is read as a hostile file."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from bot.adapters.github.artifacts import Caps, GithubArtifacts, parse_report, read_member
from bot.model.errors import ArtifactError, ForgeError, ForgeRefusedError
from tests.github.fake import REPOSITORY, FakeGithub, Token, archive
from tests.github.reports import packed, report
from tests.github.serving import Kind

NAME = "suspects-report"
CAPS = Caps()


def test_the_report_comes_back_as_it_was(github: FakeGithub, artifacts: GithubArtifacts) -> None:
    github.artifact(5, packed(report()))
    assert artifacts.report(5, NAME) == report()


def test_the_storage_of_another_host_never_sees_the_token(
    github: FakeGithub, artifacts: GithubArtifacts
) -> None:
    github.artifact(5, packed(report()))
    artifacts.report(5, NAME)
    assert [status for _, _, status in github.storage.log] == [200]  # the fake fails when it gets a token


def test_only_the_exact_name_counts(github: FakeGithub, artifacts: GithubArtifacts) -> None:
    github.artifact(5, packed(report()), name="suspects-report-2")
    github.artifact(6, packed(report()))
    assert artifacts.report(5, NAME) is None


def test_a_rerun_leaves_a_newer_artifact(github: FakeGithub, artifacts: GithubArtifacts) -> None:
    github.artifact(5, packed(report(verdict="none")))
    github.artifact(5, packed(report()))
    read = artifacts.report(5, NAME)
    assert read is not None
    assert read.verdict == "regression"


def test_an_expired_artifact_is_one_line(github: FakeGithub, artifacts: GithubArtifacts) -> None:
    github.artifact(5, packed(report()), expired=True)
    with pytest.raises(ArtifactError, match="expired: run the workflow again"):
        artifacts.report(5, NAME)


@pytest.mark.parametrize("kind", ["502", "500", "drop", "429", "403 secondary"])
def test_passing_faults_are_waited_for(
    github: FakeGithub, artifacts: GithubArtifacts, waited: list[float], kind: Kind
) -> None:
    github.artifact(5, packed(report()))
    github.fault(kind, "GET", "artifacts", times=2)
    assert artifacts.report(5, NAME) == report()
    assert waited == [1.0, 2.0]


def test_no_wait_is_longer_than_allowed(
    github: FakeGithub, artifacts: GithubArtifacts, waited: list[float]
) -> None:
    github.fault("429", "GET", "artifacts", retry_after="86400")
    with pytest.raises(ForgeError, match="429"):
        artifacts.report(5, NAME)
    assert waited == []


def test_github_down_for_good_is_one_line(github: FakeGithub, artifacts: GithubArtifacts) -> None:
    github.fault("drop", "GET", "artifacts", times=99)
    with pytest.raises(ForgeError, match="did not answer"):
        artifacts.report(5, NAME)


def test_a_proxys_page_is_one_line(github: FakeGithub, artifacts: GithubArtifacts) -> None:
    github.fault("garbage", "GET", "artifacts")
    with pytest.raises(ForgeError, match="could not be read"):
        artifacts.report(5, NAME)


def test_a_token_without_actions_is_told_so(github: FakeGithub) -> None:
    github.tokens["weak"] = Token(permissions={"pull-requests": "write"})
    github.artifact(5, packed(report()))
    with (
        GithubArtifacts(REPOSITORY, "weak", api_url=github.api.url) as weak,
        pytest.raises(ForgeRefusedError, match="`actions: read`"),
    ):
        weak.report(5, NAME)


def test_an_archive_that_lies_about_its_size_is_cut_off(github: FakeGithub) -> None:
    github.artifact(5, b"x" * 5000)
    github.artifacts[0]["size_in_bytes"] = 10
    with GithubArtifacts(
        REPOSITORY, "workflow-token", api_url=github.api.url, caps=Caps(archive=4096)
    ) as small:
        with pytest.raises(ArtifactError, match="over 4096 bytes"):
            small.report(5, NAME)
        github.artifacts[0]["size_in_bytes"] = 4097
        with pytest.raises(ArtifactError, match="over 4096 bytes"):
            small.report(5, NAME)


def bomb() -> bytes:
    return archive({"report.json": b" " * (40 * 2**20)})


def lying_bomb() -> bytes:
    """Both headers say 100 bytes; the stream has 40 MB."""
    content = bytearray(bomb())
    true = struct.pack("<I", 40 * 2**20)
    assert content.count(true) >= 2
    return bytes(content.replace(true, struct.pack("<I", 100)))


def encrypted() -> bytes:
    content = bytearray(archive({"report.json": b"{}"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    return bytes(content)


def twice() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened, pytest.warns(UserWarning, match="Duplicate"):
        opened.writestr("report.json", "{}")
        opened.writestr("report.json", "[]")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (bomb, "over"),
        (lying_bomb, "artifact"),
        (encrypted, "encrypted"),
        (twice, "one report.json"),
        (lambda: archive({}), "one report.json"),
        (lambda: archive({"../report.json": b"{}"}), "one report.json"),
        (lambda: archive({"/etc/report.json": b"{}"}), "one report.json"),
        (lambda: archive({f"{n}": b"" for n in range(40)} | {"report.json": b"{}"}), "little else"),
        (lambda: b"", "not a readable archive"),
        (lambda: b"PK\x03\x04 and no more", "not a readable archive"),
        (lambda: packed(report())[:-40], "not a readable archive"),
        (lambda: packed(report()).replace(b"PK\x03\x04", b"PK\x03\x05"), "not a readable archive"),
    ],
)
def test_a_hostile_archive_is_refused(make: Callable[[], bytes], words: str) -> None:
    with pytest.raises(ArtifactError, match=words):
        read_member(make(), CAPS)


def changed(**fields: Any) -> bytes:
    return json.dumps(json.loads(report().model_dump_json()) | fields).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[" * 200_000,
        b'{"version": 1',
        changed(version=2),
        changed(verdict="fine"),
        changed(unknown=1),
        changed(**{"<img src=x>": 1}),
        changed(threshold=float("nan")),
        changed(threshold=float("inf")),
        changed(threshold="0.01"),
        changed(effects={}),
        changed(spent={"seconds": 10, "trials": 1e99}),
        changed(notes=["x" * 5000]),
    ],
)
def test_what_is_no_report_is_refused_without_repeating_it(content: bytes) -> None:
    with pytest.raises(ArtifactError, match=r"report\.json is not a report") as caught:
        parse_report(content)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 120
    assert "img" not in text
