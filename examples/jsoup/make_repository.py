"""Makes a git repository of jsoup: a release, and a commit that slows one method down.

The sources are a Debian source package's, through apt's client from the machine's mirror, pinned by SHA-256.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import making  # noqa: E402  beside the examples, and these are started as scripts

sys.path.remove(str(HERE.parent))  # folders there have names of packages

RELEASE = "1.15.3"
SUITE = "bookworm"
"""The distribution's release that has it."""
SHA256 = "052511f0be47511f9b2a17d44fc1eccc4b5373e77cc5a3221e34b6af437e1e2e"
FOLDER = "src/main/java/"
SLOWER = "slower"
"""The tag of the planted change."""
ENTITIES = "src/org/jsoup/nodes/Entities.java"
PLANTED = b"""            int index = codeKeys.length - 1; // of several names the last
            while (index >= 0 && codeKeys[index] != codepoint) {
                index--;
            }
"""
MARKS = ("Nonnull", "Nullable", "ParametersAreNonnullByDefault", "WillClose")
"""Annotations of the sources that only checkers read: declared here, so that no other package is needed."""
META = b"""package javax.annotation.meta;

public @interface TypeQualifierDefault {
    java.lang.annotation.ElementType[] value();
}
"""


def make(directory: Path) -> list[tuple[str, str]]:
    """Builds the repository; (tag, commit id) in order.

    Raises:
        ExampleError: the directory is something else, or the source package cannot be had.
    """
    files = tree(archive())
    making.begin(directory)
    own = making.own_files(HERE) | marks()
    return [
        making.commit(directory, RELEASE, files | own, message=f"jsoup {RELEASE}"),
        making.commit(directory, SLOWER, slower(files) | own, message="Entities: the last of several names"),
    ]


def slower(files: dict[str, bytes]) -> dict[str, bytes]:
    """The sources with a search for the name of a character that looks at one after the other."""
    text = files[ENTITIES]
    method = text.find(b"String nameForCodepoint(")
    planted = making.between(
        text[method:], b"            final int index", b"            if (", replacement=PLANTED
    )
    return files | {ENTITIES: text[:method] + planted}


def tree(archive: Path) -> dict[str, bytes]:
    """The library's sources, in `src`, and their licence."""
    files = {}
    for path, content in making.files_of(archive):
        if path.startswith(FOLDER):
            files[f"src/{path.removeprefix(FOLDER)}"] = content
        elif path == "LICENSE":
            files[path] = content
    return files


def marks() -> dict[str, bytes]:
    """What the sources import from a library of annotations."""
    simple = {name: f"package javax.annotation;\npublic @interface {name} {{}}\n".encode() for name in MARKS}
    simple["meta/TypeQualifierDefault"] = META
    return {f"src/javax/annotation/{name}.java": text for name, text in simple.items()}


def archive() -> Path:
    """The source package's archive."""
    return making.debian_source("jsoup", SUITE, f"jsoup_{RELEASE}.orig.tar.xz", sha256=SHA256)


if __name__ == "__main__":
    sys.exit(making.answer(make, purpose=__doc__.splitlines()[0]))
