"""What a run has for itself on a shared machine: a temporary folder and user ids."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from bot.adapters.builds import checkout
from bot.adapters.processes.process import FIRST_UID

PREFIX = "suspects-run-"
UIDS_PER_RUN = 8
MOST_RUNS = 64
PATIENCE_SECONDS = 2.0


@contextmanager
def run_folder() -> Iterator[Path]:
    """A folder that everyone may enter, locked while the run lives and removed after it.

    Folders of runs that were killed are found by their missing lock and removed first.
    """
    parent = Path(tempfile.gettempdir())
    with _alone(parent) as alone:
        if alone:
            _sweep(parent)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(held, fcntl.LOCK_EX)
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        checkout.remove(folder)
        os.close(held)


@contextmanager
def first_uid() -> Iterator[int]:
    """The first of the user ids that no other run of this machine uses: a run ends all that its ids run.

    The claim is a name in the kernel, not a file: it ends with us however we end.
    """
    for number in range(MOST_RUNS):
        first = FIRST_UID + UIDS_PER_RUN * number
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as claim:
            try:
                claim.bind(f"\0suspects-uids-{first}")
            except OSError:
                continue
            yield first
            return
    yield FIRST_UID


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                checkout.remove(folder)
            finally:
                os.close(held)


@contextmanager
def _alone(parent: Path) -> Iterator[bool]:
    """Whether no other run sweeps or begins here now; a lock on the folder itself leaves no file behind."""
    held = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    deadline = time.monotonic() + PATIENCE_SECONDS
    alone = False
    try:
        while not alone and time.monotonic() < deadline:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                alone = True
            except OSError:
                time.sleep(0.02)
        yield alone
    finally:
        os.close(held)
