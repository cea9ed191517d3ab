"""Makes git repositories out of releases, with the same commits on every machine: what examples share.

Standard library only. What was fetched is kept in the user's cache folder.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

FIRST_DAY = datetime(2023, 3, 1, tzinfo=UTC)
OURS = "suspects-example"  # a file in .git that says: made here, may be replaced
GIVEN_UP = 300.0
"""Seconds that a client may take to fetch a package."""


class ExampleError(Exception):
    """Something a person must change; its text is one line."""


def answer(make: Callable[[Path], Sequence[tuple[str, str]]], *, purpose: str) -> int:
    """The command line of an example: makes the repository in a directory, and prints tags and commits."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("directory", type=Path)
    try:
        for tag, commit in make(parser.parse_args().directory):
            print(tag, commit)
    except ExampleError as error:
        print(f"make_repository: {error}", file=sys.stderr)
        return 1
    return 0


def fetched(name: str, sha256: str, fetch: Callable[[], Path]) -> Path:
    """A file of this name and content: from the cache, or else `fetch` gets it.

    Raises:
        ExampleError: what came is something else.
    """
    kept = cache() / name
    if not kept.exists() or digest(kept) != sha256:
        came = fetch()
        if digest(came) != sha256:
            raise ExampleError(f"{name} is not the file that this example was made with")
        shutil.move(came, kept)
    return kept


def debian_source(package: str, suite: str, name: str, *, sha256: str) -> Path:
    """The archive of a Debian source package, through apt's client from the machine's mirror.

    Raises:
        ExampleError: it cannot be had.
    """
    with tempfile.TemporaryDirectory() as folder:

        def fetch() -> Path:
            place = Path(folder)
            for needed in ("lists/partial", "cache/archives/partial"):
                (place / needed).mkdir(parents=True)
            (place / "sources.list").write_text(f"deb-src {mirror()} {suite} main\n", encoding="utf-8")
            settings = {
                "Dir::Etc::SourceList": place / "sources.list",
                "Dir::Etc::SourceParts": "/dev/null",
                "Dir::State::Lists": place / "lists",
                "Dir::Cache": place / "cache",
                "APT::Sandbox::User": "root",
            }
            own = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
            for words in (["update"], ["source", "--download-only", "--tar-only", f"{package}/{suite}"]):
                run(["apt-get", "-qq", *own, *words], what=f"{name} from {suite}", cwd=place)
            return place / name

        return fetched(name, sha256, fetch)


def mirror() -> str:
    """Where this machine's packages come from.

    Raises:
        ExampleError: it is no machine of this distribution.
    """
    words = ["apt-get", "indextargets", "--format", "$(RELEASE) $(SITE)", "Created-By: Packages"]
    try:
        listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        listed = []
    for line in listed:
        release, _, site = line.partition(" ")
        if "security" not in release:
            return site
    raise ExampleError("apt-get, and a Debian mirror that it uses, are needed to fetch source packages")


def cache() -> Path:
    """The folder that keeps what was fetched."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "suspects-example"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def digest(file: Path) -> str:
    """The SHA-256 of its content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def run(command: Sequence[str | Path], *, what: str, cwd: Path | None = None) -> None:
    """Runs a package manager's client.

    Raises:
        ExampleError: it failed; the text has its last line.
    """
    try:
        ended = subprocess.run(
            command,
            check=False,
            cwd=cwd,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=GIVEN_UP,
        )
    except FileNotFoundError:
        raise ExampleError(f"{command[0]} is needed to fetch {what}") from None
    except subprocess.TimeoutExpired:
        raise ExampleError(f"{command[0]} did not fetch {what} in {GIVEN_UP:.0f} s") from None
    if ended.returncode:
        reason = (ended.stderr or ended.stdout).strip().splitlines() or ["no reason given"]
        raise ExampleError(f"{what} could not be fetched: {reason[-1]}")


def files_of(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Regular files of a source archive with their paths below its single top folder."""
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = PurePosixPath(member.name).parts
            content = tar.extractfile(member) if member.isfile() else None
            if content is not None and len(parts) > 1 and ".." not in parts:
                yield "/".join(parts[1:]), content.read()


def begin(directory: Path) -> None:
    """An empty repository; one that was made here is replaced.

    Raises:
        ExampleError: the directory is something else.
    """
    if directory.exists():
        if not (directory / ".git" / OURS).exists():
            raise ExampleError(f"{directory} exists and was not made here; choose another")
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    git(directory, "init", "--quiet", "--template=", "--initial-branch=main")
    (directory / ".git" / OURS).touch()


def commit(directory: Path, tag: str, files: Mapping[str, bytes], *, message: str) -> tuple[str, str]:
    """Replaces the work tree by these files, commits and tags it, a day after the last commit; (tag, id)."""
    for entry in directory.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for path, content in files.items():
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o755 if content.startswith(b"#!") else 0o644)
    day = FIRST_DAY + timedelta(days=len(git(directory, "tag").split()))
    git(directory, "add", "--all", "--force", ".")
    git(directory, "commit", "--quiet", "--message", message, date=day.isoformat())
    git(directory, "tag", tag)
    return tag, git(directory, "rev-parse", "HEAD").strip()


def own_files(example: Path) -> dict[str, bytes]:
    """What an example adds to each commit: its configuration file, and all of its folder `program`."""
    program = example / "program"
    added = {str(f.relative_to(program)): f.read_bytes() for f in sorted(program.rglob("*")) if f.is_file()}
    return added | {".github/suspects.yml": (example / "suspects.yml").read_bytes()}


def between(text: bytes, start: bytes, end: bytes, *, replacement: bytes) -> bytes:
    """The text with another piece from the first `start` up to the next `end`.

    Raises:
        ExampleError: there is no such piece.
    """
    first = text.find(start)
    last = text.find(end, first)
    if min(first, last) < 0:
        raise ExampleError("the planted change does not fit the sources")
    return text[:first] + replacement + text[last:]


def git(directory: Path, *arguments: str, date: str = "") -> str:
    """Runs git with nobody's configuration; its output."""
    fixed = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Suspects"),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "suspects@example.org"),
        **dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), date),
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    words = ["git", *arguments]
    return subprocess.run(
        words, check=True, cwd=directory, env=inherited | fixed, capture_output=True, text=True
    ).stdout
