"""Files that a profiled program could have touched: no link is followed, no size believed."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, TypeVar

from bot.adapters.processes.landlock import SYSTEM
from bot.adapters.processes.readable import readable
from bot.adapters.reading.reader import read
from bot.model.profiles import Target

MOST_ANSWER = 64 << 20
"""Bytes that a tool answers which reads for us."""
LIBRARIES = tuple(place for place in SYSTEM if not place.startswith(("/etc", "/sys", "/var", "/run")))
"""Where programs of the machine and their libraries lie."""
T = TypeVar("T")


def folder_for(target: Target, what: str) -> Path:
    """A fresh folder in the target's scratch, in which its account may write.

    Raises:
        OSError: it could not be made.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{what}-", dir=target.scratch))
    folder.chmod(0o755)
    if target.account is not None and os.geteuid() == 0:
        os.chown(folder, target.account.uid, target.account.gid, follow_symlinks=False)
    return folder


def open_file(path: Path, *, most: int, links: bool = False) -> BinaryIO:
    """Opens a regular file of at most `most` bytes. `links`: it may be reached through a symbolic link.

    Raises:
        OSError: it is something else, too large, or not there.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    handle = os.open(path, flags)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB", str(path))
    except OSError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_file(path: Path, *, most: int) -> bytes:
    """The bytes of a regular file that is not a link and has at most `most` of them.

    Raises:
        OSError: it is something else, too large, or not there.
    """
    with open_file(path, most=most) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB", str(path))
    return data


def readable_by(target: Target) -> list[Path]:
    """Where a file may lie that a target's program uses, whatever it says: where the program itself may read.

    Without a sandbox that is anywhere.
    """
    if target.read is None:
        return [Path("/")]
    return [*map(Path, (*LIBRARIES, *readable(target.words, target.env, target.read)))]


def lines(answer: Path) -> list[str]:
    """A reader: the lines of a tool's answer."""
    text = read_file(answer, most=MOST_ANSWER).decode("utf-8", "backslashreplace")
    return text.removesuffix("\n").split("\n")


def told(target: Target, function: Callable[..., T], *arguments: object, files: Iterable[Path]) -> T:
    """What a reader of ours says of files that a target's program could have written; see `reader.read`.

    Raises:
        OSError: it could not read them, in one line.
    """
    return read(function, *arguments, files=files, account=target.account, stop=target.stop)
