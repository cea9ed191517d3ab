"""Built trees kept between runs, each at a path that depends on nothing but what it was built from."""

# A tree is used where it was built: builds write absolute paths into what they make (libtool, CMake, virtual
# environments), so a copy elsewhere could run the wrong files. It counts as complete when its stamp, written
# aside and renamed, lies beside it; whatever has no stamp is what a killed build left, and is thrown away.

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.adapters.builds import checkout

KEPT_TREES = 8
WAIT_SECONDS = 0.1


class Stamp(BaseModel):
    """Says that a tree is complete, and what it looked like."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    fingerprint: str


class Entry:
    """One tree of the cache, locked: exclusively while it is built, shared while it is used."""

    def __init__(self, root: Path, key: str) -> None:
        self.folder = root / key
        self.tree = self.folder / "tree"
        self._stamp = root / f"{key}.json"
        self._lock = os.open(root / f"{key}.lock", os.O_RDWR | os.O_CREAT, 0o600)

    def claim(self, stop: Callable[[], bool]) -> bool:
        """Waits for the entry. True: complete and held. False: empty and ours to build.

        Raises:
            InterruptedError: `stop()` said so while another run was building it.
        """
        while not self._try(fcntl.LOCK_EX):
            if self._try(fcntl.LOCK_SH) and self._complete():
                return True
            fcntl.flock(self._lock, fcntl.LOCK_UN)
            if stop():
                raise InterruptedError("stopped while another run was building the same revision")
            time.sleep(WAIT_SECONDS)
        if self._complete():
            os.utime(self._stamp)
            fcntl.flock(self._lock, fcntl.LOCK_SH)
            return True
        self.clear()
        self.folder.mkdir(mode=0o755)
        return False

    def finish(self) -> None:
        """Marks the sealed tree as complete."""
        written = self._stamp.with_suffix(".part")
        written.write_text(Stamp(fingerprint=checkout.fingerprint(self.tree)).model_dump_json())
        written.replace(self._stamp)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def clear(self) -> None:
        """Removes the tree; the stamp first, so that no half tree ever looks complete."""
        self._stamp.unlink(missing_ok=True)
        checkout.remove(self.folder)

    def clear_if_unused(self) -> None:
        """Removes the tree unless some run builds or uses it."""
        if self._try(fcntl.LOCK_EX):
            self.clear()

    def close(self) -> None:
        """Lets others remove or rebuild the tree."""
        os.close(self._lock)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _complete(self) -> bool:
        try:
            stamp = Stamp.model_validate_json(self._stamp.read_bytes())
        except (OSError, ValidationError):
            return False
        # Without an account of its own a trial could have changed the tree.
        return self.tree.is_dir() and stamp.fingerprint == checkout.fingerprint(self.tree)


@contextmanager
def once(folder: Path, key: str) -> Iterator[TextIO]:
    """A locked file, empty until somebody writes in it that what `key` names has been done.

    Raises:
        PermissionError: the folder belongs to somebody else, who could have written it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise PermissionError(errno.EPERM, "not a folder of ours alone", str(folder))
    with (folder / key).open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield file


def prune(root: Path, kept: int | None = None) -> None:
    """Removes all but the most recently used trees (`KEPT_TREES`), and what killed builds left half made."""
    kept = KEPT_TREES if kept is None else kept
    stamps = sorted(root.glob("*.json"), key=lambda p: p.stat().st_mtime, reverse=True)
    complete = {stamp.stem for stamp in stamps}
    entries = (lock.stem for lock in root.glob("*.lock") if (root / lock.stem).is_dir())
    halves = [key for key in entries if key not in complete]
    for key in [*(stamp.stem for stamp in stamps[kept:]), *halves]:
        entry = Entry(root, key)
        try:
            entry.clear_if_unused()
        finally:
            entry.close()
