"""Makes a git repository of Redis: a release, and a commit that slows one of the server's functions down.

The sources are a Debian source package's, through apt's client from the machine's mirror, pinned by SHA-256.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import making  # noqa: E402  beside the examples, and these are started as scripts

sys.path.remove(str(HERE.parent))  # folders there have names of packages

RELEASE = "7.0.15"
SUITE = "bookworm"
"""The distribution's release that has it."""
SHA256 = "4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982"
FOLDERS = ("src/", "deps/", "utils/generate-command-code.py")
UNUSED = "deps/jemalloc/"
"""The example is built with the C library's allocator."""
SLOWER = "slower"
"""The tag of the planted change."""
AOF = "src/aof.c"
MARK = b"    buf = catAppendOnlyGenericCommand(buf,argc,argv);\n"
PLANTED = b"""
    /* Every entry is checked as it is written. */
    static volatile uint64_t checked;
    uint64_t check = 0;
    for (size_t i = 0; i < sdslen(buf); i++) check = crc64(check, (unsigned char *)buf + i, 1);
    checked = check;
"""


def make(directory: Path) -> list[tuple[str, str]]:
    """Builds the repository; (tag, commit id) in order.

    Raises:
        ExampleError: the directory is something else, or the source package cannot be had.
    """
    files = tree(archive())
    making.begin(directory)
    own = making.own_files(HERE)
    return [
        making.commit(directory, RELEASE, files | own, message=f"Redis {RELEASE}"),
        making.commit(directory, SLOWER, slower(files) | own, message="aof: entries are checked"),
    ]


def slower(files: dict[str, bytes]) -> dict[str, bytes]:
    """The sources with a checksum of each entry of the append-only file, a byte at a time.

    Raises:
        ExampleError: the place for it is not there.
    """
    before, mark, after = files[AOF].partition(MARK)
    if not mark:
        raise making.ExampleError(f"{AOF} has no place for the planted change")
    return files | {AOF: before + mark + PLANTED + after}


def tree(archive: Path) -> dict[str, bytes]:
    """The sources of the server, its clients and their libraries, and the licence."""
    return {
        path: content
        for path, content in making.files_of(archive)
        if path == "COPYING" or (path.startswith(FOLDERS) and not path.startswith(UNUSED))
    }


def archive() -> Path:
    """The source package's archive."""
    return making.debian_source("redis", SUITE, f"redis_{RELEASE}.orig.tar.gz", sha256=SHA256)


if __name__ == "__main__":
    sys.exit(making.answer(make, purpose=__doc__.splitlines()[0]))
