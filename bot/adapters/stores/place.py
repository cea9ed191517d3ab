"""The shape that every place of a history has: it moves segments by name and ignores their content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Place(Protocol):
    """Somewhere segments lie. Every method raises HistoryError when the place is out of reach."""

    @property
    def kind(self) -> str:
        """branch, artifact, directory or object."""
        ...

    @property
    def label(self) -> str:
        """What people call it: `branch suspects-history`."""
        ...

    @property
    def writable(self) -> bool:
        """Whether `add` is possible here."""
        ...

    def names(self) -> Sequence[str]:
        """Names of all segments that are here."""
        ...

    def files(self, names: Sequence[str]) -> Mapping[str, Path]:
        """Local files with these segments' content, as far as they are here; nothing of it is checked."""
        ...

    def stored(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """What is here itself under these names, whatever local copies say; nothing of it is checked."""
        ...

    def add(self, name: str, content: bytes) -> None:
        """Adds a segment, whole or not at all, and for ever; adding it again changes nothing."""
        ...

    def set_aside(self, name: str) -> bool:
        """Moves a damaged segment out of the way. False: impossible here (a local copy is dropped)."""
        ...

    def notes(self) -> Sequence[str]:
        """What a reader must know, one sentence each."""
        ...
