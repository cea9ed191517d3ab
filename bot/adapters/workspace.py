"""What is left in the runner's workspace for later steps: fresh folders that belong to whom it belongs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def left_in(workspace: Path, name: str) -> Iterator[Path]:
    """An empty folder there, to be filled; a folder that stays empty is removed.

    What a checkout has in its place is removed first: nothing is written through its links. Afterwards
    everything in it belongs to the workspace's owner, who could not clean up after root.

    Raises:
        OSError: the folder cannot be made.
    """
    folder = workspace / name
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    try:
        yield folder
    finally:
        with suppress(OSError):  # it is not empty
            folder.rmdir()
        if folder.exists() and os.geteuid() == 0:
            _give(folder, workspace.stat())


def _give(folder: Path, owner: os.stat_result) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
