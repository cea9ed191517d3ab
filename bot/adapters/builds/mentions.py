"""Words that no file of a built tree has: what its program can hardly ask its command line for."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection
from pathlib import Path

MOST_BYTES = 256 << 20
"""More is not read: then nothing is said."""
PACKED = frozenset({".asar", ".bz2", ".gz", ".jar", ".pyz", ".tgz", ".war", ".whl", ".xz", ".zip", ".zst"})
"""Files whose words cannot be seen without unpacking them."""
_OURS = (".git", ".github", ".suspects")
"""Folders that mention options whether or not the program knows them."""


def unmentioned(root: Path, words: Collection[str]) -> frozenset[str]:
    """Those of `words` that stand in no file below `root`, however they are spelt.

    None where too much would have to be read, something is packed, or all are there. `keep-going` is also
    found as keep_going, keepGoing and KEEPGOING: libraries make options of such names.
    """
    left = {word: _spelt(word) for word in words}
    room = MOST_BYTES
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _OURS]
        for name in files:
            path = Path(folder, name)
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                continue
            room -= status.st_size
            if room < 0 or path.suffix.lower() in PACKED:
                return frozenset()
            text = path.read_bytes()
            left = {word: pattern for word, pattern in left.items() if not pattern.search(text)}
            if not left:
                return frozenset()
    return frozenset(left)


def _spelt(word: str) -> re.Pattern[bytes]:
    parts = [re.escape(part.encode()) for part in re.split(r"[-_]", word) if part]
    return re.compile(rb"[-_ ]?".join(parts), re.IGNORECASE)
