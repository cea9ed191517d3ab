"""How much of a disk a command may use up: it is ended before others have none."""

# Part of the worker (duet.py): standard library only, few imports.

from __future__ import annotations

import os

LOOK_SECONDS = 0.5
RESERVE_BYTES = 512 << 20
RESERVE_FILES = 10_000
GRACE = 8
"""A disk that is full already is not the command's fault, unless it took an eighth of the reserve itself."""
WHY = f"ended, because it left less than {RESERVE_BYTES >> 20} MiB (or {RESERVE_FILES} files) of the disk"


class Room:
    """What a file system had left before a command started that writes to `place`."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._before = self._left()

    def short(self) -> bool:
        """Whether the command must be ended."""
        reserves = (RESERVE_BYTES, RESERVE_FILES)
        return any(
            left < reserve and before - left > reserve // GRACE
            for left, before, reserve in zip(self._left(), self._before, reserves, strict=True)
        )

    def _left(self) -> tuple[int, int]:
        """Bytes and files; zeros where there is no such place any more."""
        try:
            found = os.statvfs(self._place)
        except OSError:
            return 0, 0
        return found.f_bavail * found.f_frsize, found.f_favail
