"""Real programs as subjects of mining: a library's processes and threads, and Python."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from bot.compose.subjects import read_checked
from bot.model.subject import Subject

HERE = Path(__file__).resolve().parent / "subjects"
EXAMPLES = HERE.parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

making = import_module("making")  # beside the examples
sys.path.remove(str(EXAMPLES))  # folders there have names of packages

SQLITE = "sqlite3_3.40.1.orig.tar.xz", "aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655"
DOCUTILS = "docutils-0.21.2.tar.gz", "3a6b18732edf182daa3cd12775bbb338cf5691468f91eeeb109deff6ebfa986f"
SQLGLOT = "sqlglot-26.12.0.tar.gz", "214bcc62d80ad51a3fff0b41bd4ca91d66c7d3e6e50be98ce9bf1615d3685722"
"""Archives and their SHA-256."""
PROGRAMS = {
    "processes": "SQLite 3.40.1, native: processes that share a file with a rollback journal",
    "threads": "SQLite 3.40.1, native: threads that share a file with a write-ahead log",
    "docutils": "Docutils 0.21.2, Python",
    "sqlglot": "SQLGlot 26.12.0, Python",
}
"""What each is."""
SUITE = "bookworm"
USUAL = {"processes": "-O1", "threads": "-O1", "docutils": "", "sqlglot": ""}
OTHER_FLAGS = {"processes": "-O2", "threads": "-O2", "docutils": "-O", "sqlglot": "-O"}
"""Of the compiler; Python's own leaves its assertions out."""


def subject(name: str, flags: str) -> Subject:
    """The program, compiled with these flags."""
    return read_checked(_text(name).replace("WITH", flags), name)


def make(name: str, directory: Path) -> None:
    """The program's repository: its sources, and what its trials need.

    Raises:
        ExampleError: the sources cannot be had.
    """
    making.begin(directory)
    files = dict(FILES[name]())
    making.commit(directory, name, files | {".github/suspects.yml": _text(name).encode()}, message=name)


def _text(name: str) -> str:
    return (HERE / f"{name}.yml").read_text(encoding="utf-8")


def _docutils() -> Iterator[tuple[str, bytes]]:
    """The package and its documentation."""
    yield "documents.py", (HERE / "documents.py").read_bytes()
    yield from _python("docutils", DOCUTILS, ("docutils/", "docs/"))


def _sqlglot() -> Iterator[tuple[str, bytes]]:
    """The package, and queries of its tests with the tables that they are about."""
    yield "queries.py", (HERE / "queries.py").read_bytes()
    fixtures = "tests/fixtures/optimizer/tpc-"
    wanted = "sqlglot/", "tests/helpers.py", f"{fixtures}h/tpc-h.sql", f"{fixtures}ds/tpc-ds.sql"
    yield from _python("sqlglot", SQLGLOT, wanted)


def _python(package: str, archive: tuple[str, str], wanted: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Files whose paths begin so, from the source distribution, through pip."""
    name, sha256 = archive
    with tempfile.TemporaryDirectory() as folder:

        def get() -> Path:
            version = name.removeprefix(f"{package}-").removesuffix(".tar.gz")
            listed = Path(folder, "wanted.txt")
            listed.write_text(f"{package}=={version} --hash=sha256:{sha256}", encoding="utf-8")
            words = ["download", "--quiet", "--no-deps", "--no-binary", package, "--require-hashes"]
            words += ["--dest", folder, "--requirement", str(listed)]
            making.run([sys.executable, "-m", "pip", *words], what=name)
            return Path(folder, name)

        for path, content in making.files_of(making.fetched(name, sha256, get)):
            if path.startswith(wanted):
                yield path, content


def _sqlite() -> Iterator[tuple[str, bytes]]:
    """SQLite in one file, as its own scripts put it together (they need tclsh), and the workers."""
    yield "workers.c", (HERE / "workers.c").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        name, sha256 = SQLITE
        with tarfile.open(making.debian_source("sqlite3", SUITE, name, sha256=sha256)) as tar:
            tar.extractall(f"{folder}/sources", filter="data")
        (top,) = Path(folder, "sources").iterdir()
        for words in (["./configure", "--disable-tcl", "--disable-readline"], ["make", "sqlite3.c"]):
            subprocess.run(words, cwd=top, check=True, capture_output=True)
        for file in ("sqlite3.c", "sqlite3.h"):
            yield file, (top / file).read_bytes()


FILES = {"processes": _sqlite, "threads": _sqlite, "docutils": _docutils, "sqlglot": _sqlglot}
"""What makes each program's repository."""
