"""Makes a git repository of lz4: three releases, and a commit that slows one function down.

The sources come out of Python source distributions, through pip's own client, pinned by SHA-256.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import making  # noqa: E402  beside the examples, and these are started as scripts

sys.path.remove(str(HERE.parent))  # folders there have names of packages

FOLDER = "lz4libs/"
SLOWER = "slower"
"""The tag of the planted change."""


@dataclass(frozen=True)
class Release:
    """A release of lz4's library, and the source distribution that has it."""

    version: str
    distribution: str
    sha256: str


RELEASES = (
    Release("1.9.2", "lz4==3.0.2", "9c9f6a8b71c18c24bd83537a4d616f0301623a5e98db7c7ca956d608e1bcd4c7"),
    Release("1.9.3", "lz4==3.1.3", "081ef0a3b5941cb03127f314229a1c78bd70c9c220bb3f4dd80033e707feaa18"),
    Release("1.9.4", "lz4==4.3.3", "01fe674ef2889dbb9899d8a67361e0c4a2c833af5aeb37dd505727cf5d2a131e"),
)

PLANTED = b"""        /* One path for all lengths: the buffer is hashed whenever it is full. */
        while (p < bEnd) {
            ((BYTE*)state->mem32)[state->memsize++] = *p++;
            if (state->memsize == sizeof(state->mem32)) {
                state->v1 = XXH32_round(state->v1, XXH_readLE32(&state->mem32[0], endian));
                state->v2 = XXH32_round(state->v2, XXH_readLE32(&state->mem32[1], endian));
                state->v3 = XXH32_round(state->v3, XXH_readLE32(&state->mem32[2], endian));
                state->v4 = XXH32_round(state->v4, XXH_readLE32(&state->mem32[3], endian));
                state->memsize = 0;
            }
        }
    }

"""


def make(directory: Path) -> list[tuple[str, str]]:
    """Builds the repository; (tag, commit id) in order.

    Raises:
        ExampleError: the directory is something else, or a source distribution cannot be had.
    """
    trees = {release.version: tree(archive(release)) for release in RELEASES}
    making.begin(directory)
    own = making.own_files(HERE)
    commits = [
        making.commit(directory, version, files | own, message=f"lz4 {version}")
        for version, files in trees.items()
    ]
    planted = slower(trees[RELEASES[-1].version]) | own
    return [*commits, making.commit(directory, SLOWER, planted, message="xxhash: one path for all lengths")]


def slower(files: dict[str, bytes]) -> dict[str, bytes]:
    """The sources with the checksum's fast path replaced by one that moves single bytes."""
    text = files["lib/xxhash.c"]
    text = making.between(
        text, b"        if (state->memsize + len < 16)", b"    return XXH_OK;\n}\n", replacement=PLANTED
    )
    return files | {"lib/xxhash.c": text}


def tree(archive: Path) -> dict[str, bytes]:
    """The library's sources, in `lib`, and their licence."""
    files = {}
    for path, content in making.files_of(archive):
        if path.startswith(FOLDER) and path.endswith((".c", ".h")):
            files[f"lib/{path.removeprefix(FOLDER)}"] = content
        elif path == "LICENSE":
            files[path] = content
    return files


def archive(release: Release) -> Path:
    """The source distribution. Pip asks it for its name, and fetches what it needs to answer."""
    with tempfile.TemporaryDirectory() as name:

        def fetch() -> Path:
            wanted = Path(name, "wanted.txt")
            wanted.write_text(f"{release.distribution} --hash=sha256:{release.sha256}", encoding="utf-8")
            words = [
                "download",
                "--quiet",
                "--no-input",
                "--no-deps",
                "--no-binary",
                "lz4",
                "--require-hashes",
            ]
            words += ["--dest", name, "--requirement", str(wanted)]
            making.run([sys.executable, "-m", "pip", *words], what=release.distribution)
            return next(Path(name).glob("*.tar.gz"))

        return making.fetched(f"lz4-{release.version}.tar.gz", release.sha256, fetch)


if __name__ == "__main__":
    sys.exit(making.answer(make, purpose=__doc__.splitlines()[0]))
