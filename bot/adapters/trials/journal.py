"""A file that keeps a long search's trials through a kill: one line each, synced as it is written."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.model.change_points import Observation, Probe
from bot.model.errors import UsageError
from bot.model.space import Space, Value


class Line(BaseModel):
    """One observation as it is written down; value: null when it failed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    revision: str
    options: dict[str, Value]
    value: float | None
    built: bool
    anchor: float = 1.0


class NoJournal:
    """Keeps nothing: trials that cost nothing can be simulated again."""

    def observations(self) -> Sequence[Observation]:
        """Nothing."""
        return ()

    def append(self, observation: Observation) -> None:
        """Forgets it."""


class FileJournal:
    """Fits the port Journal; a context manager. `revisions`: ids of the range, by which the file names them.

    Lines of other revisions or options, and one that a kill cut short, are passed over.

    Raises:
        BlockingIOError: another run appends to it.
        OSError: the file cannot be opened for appending.
    """

    def __init__(self, path: Path, space: Space, revisions: Sequence[str]) -> None:
        self._space, self._ids = space, tuple(revisions)
        self._places = {revision: place for place, revision in enumerate(revisions)}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._known = tuple(self._read(path))
        except OSError:
            self._file.close()
            raise
        if self._file.tell() and not _ends_with_newline(self._file.fileno()):
            self._file.write(b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def observations(self) -> Sequence[Observation]:
        """What was in the file when it was opened."""
        return self._known

    def append(self, observation: Observation) -> None:
        """Writes one line and waits until the disk has it.

        Raises:
            UsageError: it cannot be written.
        """
        probe = observation.probe
        line = Line(
            revision=self._ids[probe.revision],
            options=self._space.as_dict(probe.configuration),
            value=None if observation.value != observation.value else observation.value,
            built=observation.built,
            anchor=observation.anchor,
        )
        try:
            self._file.write(line.model_dump_json().encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise UsageError(f"{self._file.name}: trials cannot be kept: {error.strerror}") from None

    def _read(self, path: Path) -> list[Observation]:
        found = []
        for text in path.read_bytes().splitlines():
            try:
                line = Line.model_validate_json(text)
            except ValidationError:
                continue
            if line.revision in self._places and line.options.keys() == set(self._space.names):
                configuration = tuple(line.options[name] for name in self._space.names)
                value = float("nan") if line.value is None else line.value
                probe = Probe(configuration, self._places[line.revision])
                found.append(Observation(probe, value, line.built, line.anchor))
        return found


def _ends_with_newline(descriptor: int) -> bool:
    return os.pread(descriptor, 1, os.fstat(descriptor).st_size - 1) == b"\n"
