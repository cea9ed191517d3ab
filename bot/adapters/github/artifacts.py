"""Artifacts of workflow runs through httpx: what an unprivileged job left, read as a hostile file."""

from __future__ import annotations

import io
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from bot.model.errors import ArtifactError, ForgeError, ForgeRefusedError
from bot.model.report import Report

MEMBER = "report.json"
"""The one file we read; `actions/upload-artifact` puts a single file at the top of the archive."""

_authorities = cache(httpx.create_ssl_context)  # read once: they take as long as many requests
LARGEST = 1e18
"""No number of a report comes near: it is thirty years in nanoseconds."""


@dataclass(frozen=True)
class Caps:
    """The largest archive and member (bytes), the highest ratio of the two, and the most members."""

    archive: int = 8 * 2**20
    member: int = 32 * 2**20
    ratio: int = 200
    members: int = 16


@dataclass(frozen=True)
class Insistence:
    """Tries after the first, and seconds: between them (doubling, up to `longest`), and for an answer."""

    tries: int = 4
    timeout: float = 30.0
    backoff: float = 1.0
    longest: float = 300.0
    pause: Callable[[float], None] = time.sleep


class _Artifact(BaseModel):
    model_config = ConfigDict(frozen=True)  # GitHub adds fields over time

    id: int
    name: str
    size_in_bytes: int
    expired: bool


class _Origin(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: int
    head_branch: str | None = None
    repository_id: int | None = None
    head_repository_id: int | None = None


class StoredArtifact(_Artifact):
    """An artifact of the repository: what the API says of it, and of the run that left it."""

    digest: str | None = None
    created_at: str | None = None
    workflow_run: _Origin | None = None

    def comes_from(self, branch: str) -> bool:
        """Whether a run on this branch of this repository left it; a fork's may have any name."""
        run = self.workflow_run
        if run is None or run.repository_id is None:
            return False
        return run.head_branch == branch and run.repository_id == run.head_repository_id


class _StoredListing(BaseModel):
    model_config = ConfigDict(frozen=True)

    artifacts: tuple[StoredArtifact, ...]


class _Repository(BaseModel):
    model_config = ConfigDict(frozen=True)

    default_branch: str


class _Listing(BaseModel):
    model_config = ConfigDict(frozen=True)

    total_count: int
    artifacts: tuple[_Artifact, ...]


class GithubArtifacts:
    """The port `Artifacts`: a run's report by the exact name of its artifact."""

    def __init__(
        self,
        repository: str,
        token: str,
        *,
        api_url: str = "https://api.github.com",
        caps: Caps | None = None,
        insistence: Insistence | None = None,
    ) -> None:
        self._caps = caps or Caps()
        self._insistence = insistence or Insistence()
        self._repository = f"{api_url.rstrip('/')}/repos/{repository}"
        self._base = f"{self._repository}/actions"
        # httpx drops Authorization when a redirect leaves the host: the storage must not see our token.
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"},
            timeout=self._insistence.timeout,
            follow_redirects=True,
            verify=_authorities(),
        )

    def __enter__(self) -> GithubArtifacts:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def report(self, run_id: int, name: str) -> Report | None:
        """The report in the run's newest artifact of this name; None when the run left none.

        Raises:
            ArtifactError: expired, too large, no archive, or not a report of ours.
            ForgeRefusedError: the token may not read artifacts.
            ForgeError: GitHub did not answer after all tries.
        """
        url = f"{self._base}/runs/{run_id}/artifacts"
        answer = self._get(url, params={"name": name, "per_page": "100"}, most=self._caps.member)
        try:
            listing = _Listing.model_validate_json(answer)
        except ValidationError as error:
            raise ForgeError(f"GitHub's list of artifacts of run {run_id} could not be read") from error
        # The API's filter is a courtesy; a rerun leaves several of the same name.
        found = [artifact for artifact in listing.artifacts if artifact.name == name]
        if not found:
            return None
        newest = max(found, key=lambda artifact: artifact.id)
        if newest.expired:
            raise ArtifactError(f"the artifact {name} of run {run_id} has expired: run the workflow again")
        if newest.size_in_bytes > self._caps.archive:
            raise ArtifactError(_too_large("archive", self._caps.archive))
        archive = self._get(f"{self._base}/artifacts/{newest.id}/zip", most=self._caps.archive)
        return parse_report(read_member(archive, self._caps))

    def default_branch(self) -> str:
        """The branch whose runs are trusted.

        Raises:
            ForgeError: GitHub did not answer, or not with a repository.
        """
        try:
            answer = self._get(self._repository, most=self._caps.member)
            return _Repository.model_validate_json(answer).default_branch
        except ValidationError as error:
            raise ForgeError("GitHub's answer about the repository could not be read") from error

    def named(self, name: str, *, pages: int = 5) -> tuple[StoredArtifact, ...]:
        """The repository's artifacts of exactly this name, whoever left them, newest first.

        Raises:
            ForgeRefusedError: the token may not read artifacts.
            ForgeError: GitHub did not answer after all tries.
        """
        found: list[StoredArtifact] = []
        for page in range(1, pages + 1):
            params = {"name": name, "per_page": "100", "page": str(page)}
            answer = self._get(f"{self._base}/artifacts", params=params, most=self._caps.member)
            try:
                entries = _StoredListing.model_validate_json(answer).artifacts
            except ValidationError as error:
                raise ForgeError("GitHub's list of artifacts could not be read") from error
            found += [artifact for artifact in entries if artifact.name == name]
            if len(entries) < 100:
                break
        return tuple(sorted(found, key=lambda artifact: artifact.id, reverse=True))

    def archive(self, artifact_id: int) -> bytes:
        """The zip of an artifact.

        Raises:
            ArtifactError: it has expired or is too large.
            ForgeError: GitHub did not answer after all tries.
        """
        return self._get(f"{self._base}/artifacts/{artifact_id}/zip", most=self._caps.archive)

    def _get(self, url: str, *, most: int, params: Mapping[str, str] | None = None) -> bytes:
        """The body of a GET, repeated after what may pass."""
        for attempt in range(self._insistence.tries + 1):
            wait = self._insistence.backoff * 2**attempt
            try:
                with self._client.stream("GET", url, params=params) as response:
                    named = _wait(response)
                    if named is None:
                        return _body(response, most)
                    reason = f"GitHub answered {response.status_code}"
                    wait = max(wait, named)
            except httpx.TransportError as error:
                reason = f"GitHub did not answer ({type(error).__name__})"
            if attempt == self._insistence.tries or wait > self._insistence.longest:
                break
            self._insistence.pause(wait)
        raise ForgeError(f"reading artifacts: {reason}")


def _wait(response: httpx.Response) -> float | None:
    """Seconds to wait at least before the same request makes sense again; None: the answer is final."""
    named = response.headers.get("Retry-After", "")
    limited = response.status_code == HTTPStatus.TOO_MANY_REQUESTS or (
        response.status_code == HTTPStatus.FORBIDDEN and named
    )
    if limited or response.is_server_error:
        return float(named) if named.isdigit() else 0.0
    return None


def _body(response: httpx.Response, most: int) -> bytes:
    status = response.status_code
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise ForgeRefusedError("reading artifacts: the token lacks the permission `actions: read`")
    if status == HTTPStatus.GONE:
        raise ArtifactError("the artifact has expired: run the workflow again")
    if not response.is_success:
        raise ForgeError(f"reading artifacts: GitHub answered {status}")
    content = bytearray()
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > most:
            raise ArtifactError(_too_large("archive", most))
    return bytes(content)


def read_member(archive: bytes, caps: Caps) -> bytes:
    """The bytes of the archive's one `report.json`; nothing touches the disk, so names cannot lead anywhere.

    Raises:
        ArtifactError: no archive, several or no such member, encrypted, too large, or a decompression bomb.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = opened.infolist()
            wanted = [member for member in members if member.filename == MEMBER]
            if len(members) > caps.members or len(wanted) != 1:
                raise ArtifactError(f"the artifact must hold one {MEMBER} and little else")
            most = min(caps.member, max(len(archive) * caps.ratio, 2**16))
            # The declared size may lie: checking it is cheap, and then the bytes are counted.
            if wanted[0].file_size > most:
                raise ArtifactError(_too_large(MEMBER, most))
            with opened.open(wanted[0]) as stream:
                content = stream.read(most + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise ArtifactError(f"the artifact is not a readable archive ({type(error).__name__})") from error
    except RuntimeError as error:  # zipfile's word for an encrypted member
        raise ArtifactError("the artifact is encrypted") from error
    if len(content) > most:
        raise ArtifactError(_too_large(MEMBER, most))
    return content


def parse_report(content: bytes) -> Report:
    """A report, strictly: no unknown field, no missing one, no value of another type, no NaN.

    Raises:
        ArtifactError: it is not; the place is named, its content is not repeated.
    """
    try:
        report = Report.model_validate_json(content, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(
            str(part) for part in first["loc"] if str(part) in Report.model_fields or isinstance(part, int)
        )
        raise ArtifactError(f"{MEMBER} is not a report: {place or 'at the top'}: {first['type']}") from None
    if not _plausible(report.model_dump()):
        raise ArtifactError(f"{MEMBER} is not a report: a number in it is none that can be measured")
    return report


def _plausible(value: object) -> bool:
    """Whether all numbers are numbers, and small enough to be told."""
    if isinstance(value, dict):
        return all(map(_plausible, value.values()))
    if isinstance(value, (tuple, list)):
        return all(map(_plausible, value))
    return not isinstance(value, (int, float)) or abs(value) <= LARGEST


def _too_large(what: str, most: int) -> str:
    return f"the artifact's {what} is over {most} bytes"
