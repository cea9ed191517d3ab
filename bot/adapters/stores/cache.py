"""Local copies of segments that lie far away: a segment never changes, so a copy is right or damaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bot.adapters.stores import segments
from bot.adapters.stores.directory import write_whole
from bot.model.errors import DamagedSegmentError, HistoryError


class Cache:
    """A folder that may be lost at any time; it costs time only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def missing(self, names: Sequence[str]) -> list[str]:
        """Those of which there is no copy."""
        return [name for name in names if not (self.folder / name).is_file()]

    def files(self, names: Sequence[str]) -> Mapping[str, Path]:
        """The copies that are there."""
        return {name: path for name in names if (path := self.folder / name).is_file()}

    def keep(self, name: str, content: bytes) -> bool:
        """Keeps a copy; False: the content is not the one of that name, and is not kept.

        Raises:
            HistoryError: it cannot be written.
        """
        try:
            segments.check(name, content)
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / name, content, flush=False)
        except DamagedSegmentError:
            return False
        except OSError as error:
            raise HistoryError(
                f"local copies of the history cannot be kept in {self.folder}: {error.strerror or error}"
            ) from error
        return True

    def drop(self, name: str) -> None:
        """Forgets a copy."""
        with suppress(OSError):
            (self.folder / name).unlink()
