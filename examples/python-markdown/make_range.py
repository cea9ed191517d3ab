"""Makes a git repository out of Python-Markdown's releases: a commit each, with a document and suspects.yml.

Standard library only. Packages come through pip's own client, pinned by version and SHA-256 in releases.txt,
and are kept in the user's cache folder. Dates are fixed: the commits have the same ids on every machine.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

HERE = Path(__file__).resolve().parent
PROGRAM = "Markdown"
DOCUMENT = PurePosixPath("bench/document.md")
FIRST_DAY = datetime(2018, 1, 1, tzinfo=UTC)
DEPENDENCY_PARTS = ("pkg_resources/", "setuptools-")
"""What 3.0 to 3.2.1 need of setuptools when they run: how they look their extensions up."""
OURS = "suspects-example"  # a file in .git that says: made here, may be replaced


class RangeError(Exception):
    """Something a person must change; its text is one line."""


@dataclass(frozen=True)
class Package:
    """A line of releases.txt: name, version and the wheel's SHA-256."""

    name: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        """The line as pip reads it."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


def main() -> int:
    """Command line: a directory and, if wanted, only some of the releases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("releases", nargs="*", help="only these, in this order (all when absent)")
    arguments = parser.parse_args()
    try:
        commits = make(arguments.directory, arguments.releases)
    except RangeError as error:
        print(f"make_range: {error}", file=sys.stderr)
        return 1
    for release, commit in commits:
        print(release, commit)
    return 0


def make(directory: Path, only: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Builds the repository; (release, commit id) in order, each release also a tag.

    Raises:
        RangeError: the directory is something else, or a package cannot be had.
    """
    packages = read_lock()
    releases = {p.version: p for p in packages if p.name == PROGRAM}
    if unknown := [version for version in only if version not in releases]:
        raise RangeError(f"{unknown[0]} is not in releases.txt")
    if directory.exists():
        if not (directory / ".git" / OURS).exists():
            raise RangeError(f"{directory} exists and was not made here; choose another")
        shutil.rmtree(directory)
    wheels = {version: fetch(releases[version]) for version in (only or releases)}
    dependencies = [fetch(p) for p in packages if p.name != PROGRAM]
    directory.mkdir(parents=True)
    git(directory, "init", "--quiet", "--template=", "--initial-branch=main")
    (directory / ".git" / OURS).touch()
    document = subprocess.run([sys.executable, HERE / "make_document.py"], check=True, capture_output=True)
    days = {version: FIRST_DAY + timedelta(days=i) for i, version in enumerate(releases)}
    commits = []
    for version, wheel in wheels.items():
        lay_out(directory, wheel, dependencies, document.stdout)
        commits.append((version, commit(directory, version, day=days[version])))
    return commits


def read_lock() -> list[Package]:
    """The packages of releases.txt: Markdown's releases, oldest first, and what they need."""
    lines = (HERE / "releases.txt").read_text(encoding="utf-8").splitlines()
    packages = []
    for line in lines:
        if line and not line.startswith("#"):
            pinned, _, sha256 = line.partition(" --hash=sha256:")
            name, _, version = pinned.partition("==")
            packages.append(Package(name, version, sha256))
    return packages


def fetch(package: Package) -> Path:
    """The package's wheel, from the cache or through `pip download`; its SHA-256 is checked in both cases.

    Raises:
        RangeError: pip failed; the text has its last line.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "suspects-example"
    cache.mkdir(parents=True, exist_ok=True)
    wheel = cache / f"{package.name}-{package.version}.whl"
    if wheel.exists() and hashlib.sha256(wheel.read_bytes()).hexdigest() == package.sha256:
        return wheel
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        wanted = Path(folder, "wanted.txt")
        wanted.write_text(package.requirement, encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-input", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
        ended = subprocess.run(
            [*command, "--dest", folder, "--requirement", wanted],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        fetched = list(Path(folder).glob("*.whl"))
        if ended.returncode or len(fetched) != 1:
            reason = ended.stderr.strip().splitlines() or ["no wheel"]
            raise RangeError(f"pip could not fetch {package.name} {package.version}: {reason[-1]}")
        fetched[0].replace(wheel)
    return wheel


def lay_out(directory: Path, wheel: Path, dependencies: Sequence[Path], document: bytes) -> None:
    """Replaces the work tree by a release with what its trials need."""
    for entry in directory.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    unpack(wheel, directory)
    for dependency in dependencies:
        unpack(dependency, directory, only=DEPENDENCY_PARTS)
    target = directory / DOCUMENT
    target.parent.mkdir()
    target.write_bytes(document)
    configuration = directory / ".github" / "suspects.yml"
    configuration.parent.mkdir()
    shutil.copyfile(HERE / "suspects.yml", configuration)


def unpack(wheel: Path, folder: Path, *, only: tuple[str, ...] = ("",)) -> None:
    """Writes the files of a wheel whose paths begin so; as `pip install --target` does."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(only) and not name.endswith("/") and ".." not in PurePosixPath(name).parts:
                place = folder / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(name))


def commit(directory: Path, release: str, *, day: datetime) -> str:
    """Commits and tags the work tree; the commit's id."""
    git(directory, "add", "--all", "--force", ".")
    git(directory, "commit", "--quiet", "--message", f"Release {release}", date=day.isoformat())
    git(directory, "tag", release)
    return git(directory, "rev-parse", "HEAD").strip()


def git(folder: Path, *arguments: str, date: str = "") -> str:
    """Runs git with nobody's configuration; its output.

    Raises:
        RangeError: it failed.
    """
    fixed = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Suspects"),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "suspects@example.org"),
        **dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), date),
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    ended = subprocess.run(
        ["git", *arguments], check=False, cwd=folder, env=inherited | fixed, capture_output=True, text=True
    )
    if ended.returncode:
        raise RangeError(f"git {arguments[0]}: {(ended.stderr.strip().splitlines() or ['failed'])[-1]}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
