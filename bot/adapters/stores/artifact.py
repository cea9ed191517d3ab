"""History in a workflow artifact: the newest valid one that the default branch left, with a local copy."""

# A nightly run uploads the union of all segments as one archive. Anybody can open a pull request whose
# workflow uploads an artifact of the same name: only runs on the default branch of this repository count.

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.adapters.github.artifacts import GithubArtifacts, StoredArtifact
from bot.adapters.stores import segments
from bot.adapters.stores.cache import Cache
from bot.adapters.stores.directory import write_whole
from bot.model.errors import ArtifactError, ForgeError, HistoryError

ARTIFACT = "suspects-history"
MOST_TRIED = 5
"""Newest artifacts that are tried before we say that none is valid."""
MOST_BYTES = 1 << 30
"""Of all segments of an archive, unpacked."""
_KNOWN = "artifact.json"


class KnownArtifact(BaseModel):
    """Which artifact the local copies are of, and what it held, whole and damaged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: int
    names: tuple[str, ...]
    damaged: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """All segments; of a damaged one there may be a copy from an earlier artifact."""
        return (*self.names, *self.damaged)


class ArtifactPlace:
    """The artifact of a repository; read-only, because a workflow's own step uploads it."""

    kind = "artifact"
    writable = False

    def __init__(self, artifacts: GithubArtifacts, *, cache: Cache, name: str = ARTIFACT) -> None:
        self._artifacts = artifacts
        self._name = name
        self._cache = cache
        self._notes: list[str] = []
        self._names: tuple[str, ...] | None = None
        self.label = f"artifact {name}"

    def names(self) -> Sequence[str]:
        """Names of the segments in the newest valid artifact; of its last local copy when GitHub is away."""
        if self._names is None:
            known = self._known()
            try:
                self._names = self._newest(known)
            except ForgeError as error:
                if known is None:
                    raise HistoryError(f"history in the {self.label} cannot be read: {error}") from error
                self._notes.append(f"The {self.label} is a local copy, because it is out of reach: {error}.")
                self._names = known.every
        return self._names

    def files(self, names: Sequence[str]) -> Mapping[str, Path]:
        """The local copies."""
        return self._cache.files(names)

    def stored(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """What the newest artifact has, downloaded again."""
        try:
            valid = self._valid()
            archive = self._archive(valid[0]) if valid else None
        except (ForgeError, ArtifactError) as error:
            raise HistoryError(f"history in the {self.label} cannot be read: {error}") from error
        return {n: content for n, content in _unpacked(archive) if n in names} if archive else {}

    def add(self, name: str, content: bytes) -> None:  # noqa: ARG002  the shape of a place
        """Refuses.

        Raises:
            HistoryError: always.
        """
        raise HistoryError(f"the {self.label} is uploaded by a workflow's own step, not by us")

    def set_aside(self, name: str) -> bool:
        """Drops the local copy, so that the whole artifact is downloaded again by the next run."""
        self._cache.drop(name)
        return False

    def notes(self) -> Sequence[str]:
        """Why the newest artifact was not used."""
        return tuple(self._notes)

    def _valid(self) -> list[StoredArtifact]:
        branch = self._artifacts.default_branch()
        ours = [one for one in self._artifacts.named(self._name) if one.comes_from(branch)]
        valid = [one for one in ours if not one.expired]
        if ours and not valid:
            self._notes.append(f"Every {self.label} has expired: a nightly run leaves a new one.")
        return valid

    def _newest(self, known: KnownArtifact | None) -> tuple[str, ...]:
        for artifact in self._valid()[:MOST_TRIED]:
            if known is not None and known.id == artifact.id and not self._cache.missing(known.names):
                return known.every
            try:
                return self._brought(artifact)
            except ArtifactError as error:
                self._notes.append(f"The {self.label} of run {_run(artifact)} was not used: {error}.")
        return ()

    def _brought(self, artifact: StoredArtifact) -> tuple[str, ...]:
        """Downloads, checks and unpacks one artifact."""
        names: dict[bool, list[str]] = {True: [], False: []}
        for name, content in sorted(_unpacked(self._archive(artifact))):
            names[self._cache.keep(name, content)].append(name)
        known = KnownArtifact(id=artifact.id, names=tuple(names[True]), damaged=tuple(names[False]))
        self._cache.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._cache.folder / _KNOWN, known.model_dump_json().encode())
        return known.every

    def _archive(self, artifact: StoredArtifact) -> bytes:
        archive = self._artifacts.archive(artifact.id)
        found = f"sha256:{hashlib.sha256(archive).hexdigest()}"
        if artifact.digest is not None and artifact.digest != found:
            raise ArtifactError("its bytes are not the ones that were uploaded")
        return archive

    def _known(self) -> KnownArtifact | None:
        try:
            return KnownArtifact.model_validate_json((self._cache.folder / _KNOWN).read_bytes())
        except (OSError, ValidationError):
            return None


def _unpacked(archive: bytes) -> list[tuple[str, bytes]]:
    """The segments of an archive; other members are ignored, and nothing is written under their names.

    Raises:
        ArtifactError: no archive, a damaged one, or more than it may hold.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = [m for m in opened.infolist() if segments.kind(PurePosixPath(m.filename).name)]
            if sum(member.file_size for member in members) > MOST_BYTES:
                raise ArtifactError(f"it holds more than {MOST_BYTES} bytes")
            unpacked = []
            for member in members:
                with opened.open(member) as stream:
                    # The declared size may lie; the next check of the content finds it cut.
                    unpacked.append((PurePosixPath(member.filename).name, stream.read(member.file_size)))
            return unpacked
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError):
        raise ArtifactError("it is not a readable archive") from None


def _run(artifact: StoredArtifact) -> str:
    return str(artifact.workflow_run.id) if artifact.workflow_run else "?"
