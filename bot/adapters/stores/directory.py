"""History in a folder: each segment is written aside, flushed to the disk and renamed."""

# A rename is atomic, and a segment's name is made of its content: readers never see half a segment, and two
# writers of the same name write the same bytes. No lock is needed, so none can be left behind by a kill.

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bot.adapters.stores import segments
from bot.model.errors import HistoryError

QUARANTINE = "quarantine"
_PART = ".part-"
ABANDONED_SECONDS = 3600.0
"""A part file older than this was left by a killed writer."""


class DirectoryPlace:
    """A folder, made when something is first added to it."""

    kind = "directory"
    writable = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._set_aside = 0
        self.label = f"directory {path}"

    def names(self) -> Sequence[str]:
        """Names of the segments here, oldest first."""
        try:
            aside = self._path / QUARANTINE
            self._set_aside = len(os.listdir(aside)) if aside.is_dir() else 0  # noqa: PTH208
            return sorted(name for name in os.listdir(self._path) if segments.kind(name))  # noqa: PTH208
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._failed("read", error) from error

    def files(self, names: Sequence[str]) -> Mapping[str, Path]:
        """The files themselves."""
        return {name: path for name in names if (path := self._path / name).is_file()}

    def stored(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """Their bytes."""
        try:
            return {name: path.read_bytes() for name, path in self.files(names).items()}
        except OSError as error:
            raise self._failed("read", error) from error

    def add(self, name: str, content: bytes) -> None:
        """Writes the segment; a full disk or a kill leaves nothing under its name.

        Raises:
            HistoryError: it could not be written.
        """
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            self._sweep()
            write_whole(self._path / name, content)
            _flush_names(self._path)
        except OSError as error:
            raise self._failed("written", error) from error

    def set_aside(self, name: str) -> bool:
        """Moves it into the folder `quarantine` beside the others."""
        aside = self._path / QUARANTINE
        try:
            aside.mkdir(exist_ok=True)
            os.replace(self._path / name, aside / name)  # noqa: PTH105
        except OSError:
            return False
        return True

    def notes(self) -> Sequence[str]:
        """What earlier runs found damaged."""
        if not self._set_aside:
            return ()
        several = "s lie" if self._set_aside > 1 else " lies"
        return (f"{self._set_aside} damaged segment{several} in {self._path / QUARANTINE}.",)

    def _sweep(self) -> None:
        """Removes what writers left that were killed."""
        oldest = time.time() - ABANDONED_SECONDS
        for path in self._path.glob(f"{_PART}*"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _failed(self, done: str, error: OSError) -> HistoryError:
        return HistoryError(f"history in {self._path} cannot be {done}: {error.strerror or error}")


def write_whole(path: Path, content: bytes, *, flush: bool = True) -> None:
    """Writes a file in one step: at any moment all of it is there, or what was there before.

    flush: whether it must survive a power cut too.

    Raises:
        OSError: it cannot be written; nothing of it is left.
    """
    handle, part = tempfile.mkstemp(prefix=_PART, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if flush:
                file.flush()
                os.fsync(handle)
        os.chmod(part, 0o644)  # noqa: PTH101  mkstemp's is for its owner alone
        os.replace(part, path)  # noqa: PTH105
    except OSError:
        with suppress(OSError):
            os.unlink(part)  # noqa: PTH108
        raise


def _flush_names(folder: Path) -> None:
    """A renamed file survives a power cut only when its folder is on the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
