"""A history in the artifacts of the fake GitHub, written as nights write it: its union is uploaded anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from bot.adapters.github.artifacts import GithubArtifacts
from bot.adapters.stores import segments
from bot.adapters.stores.artifact import ARTIFACT, ArtifactPlace
from bot.adapters.stores.cache import Cache
from bot.model.errors import DamagedSegmentError
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, archive

NIGHT = 70


class Uploads:
    """The artifacts of nightly runs on the default branch; each has all segments so far."""

    def __init__(self) -> None:
        self.github = FakeGithub()
        self.github.run(NIGHT, head="a" * 40, event="schedule", branch="main")
        self._members: dict[str, bytes] = {}
        self._opened = ExitStack()

    def upload(self, name: str, content: bytes) -> None:
        """What a workflow's step does: the union as a new artifact."""
        self._members[name] = content
        self.github.artifact(NIGHT, archive(self._members), name=ARTIFACT)

    def has(self, name: str) -> bool:
        """Whether a segment is there, whole."""
        try:
            segments.check(name, self._members.get(name, b""))
        except DamagedSegmentError:
            return False
        return True

    def speaking(self) -> GithubArtifacts:
        """A client of its own for each reader."""
        return self._opened.enter_context(GithubArtifacts(REPOSITORY, WORKFLOW, api_url=self.github.api.url))

    def close(self) -> None:
        """Ends the clients and the fake."""
        self._opened.close()
        self.github.close()


class UploadedPlace:
    """An `ArtifactPlace` to which a night adds: what was uploaded since is seen by the next reading."""

    kind, writable = ArtifactPlace.kind, True

    def __init__(self, uploads: Uploads, cache: Cache) -> None:
        self._uploads, self._cache = uploads, cache
        self._place = self._anew()
        self.label = self._place.label

    def _anew(self) -> ArtifactPlace:
        return ArtifactPlace(self._uploads.speaking(), cache=self._cache)

    def names(self) -> Sequence[str]:
        return self._place.names()

    def files(self, names: Sequence[str]) -> Mapping[str, Path]:
        return self._place.files(names)

    def stored(self, names: Sequence[str]) -> Mapping[str, bytes]:
        return self._place.stored(names)

    def add(self, name: str, content: bytes) -> None:
        if not self._uploads.has(name):
            self._uploads.upload(name, content)
            self._place = self._anew()
            self._place.names()  # downloads it

    def set_aside(self, name: str) -> bool:
        return self._place.set_aside(name)

    def notes(self) -> Sequence[str]:
        return self._place.notes()
