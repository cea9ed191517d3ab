"""A revision's submodules, written from the copies that a recursive clone keeps of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bot.adapters.repositories.git import Repository

DEEPEST = 8
"""Submodules of submodules that are followed."""
_GITLINK = "160000"


def write_submodules(repository: Repository, tree: str, into: Path) -> None:
    """Fills the empty folders that `tree`, written to `into`, has for its submodules, theirs included.

    Nothing is downloaded: their commits are looked for where `git clone --recurse-submodules` puts them.

    Raises:
        OSError: a commit is not there, or cannot be written.
    """
    _write(repository, tree, into, repository.source, DEEPEST)


def _write(repository: Repository, tree: str, into: Path, clone: Path, deeper: int) -> None:
    links = dict(_links(repository, tree))
    if not links:
        return
    if not deeper:
        raise OSError(f"submodules are nested more than {DEEPEST} deep")
    names = _names(repository, tree)
    for path, commit in links.items():
        kept = _kept(clone, names.get(path, path))
        copied = kept is not None and repository.copied_from(kept, commit)
        if kept is None or not copied:
            raise OSError(
                f"submodule {path}: its commit {commit[:12]} is not in the clone;"
                " fetch submodules recursively, with their whole history"
            )
        folder = into / path
        if folder.is_symlink():
            raise OSError(f"submodule {path}: there is a link in its place")
        folder.mkdir(parents=True, exist_ok=True)
        repository.write_tree(commit, folder)
        _write(repository, commit, folder, kept, deeper - 1)


def _links(repository: Repository, tree: str) -> Iterator[tuple[str, str]]:
    """Paths of submodules and their commits."""
    listed = repository.mirrored("ls-tree", "-r", "-z", "--format=%(objectmode) %(objectname) %(path)", tree)
    for entry in listed.output.decode("utf-8", "surrogateescape").split("\0"):
        mode, _, rest = entry.partition(" ")
        if mode == _GITLINK:
            commit, _, path = rest.partition(" ")
            yield path, commit


def _names(repository: Repository, tree: str) -> dict[str, str]:
    """Names of submodules by path, as .gitmodules has them."""
    blob = f"{tree}:.gitmodules"
    listed = repository.mirrored("config", "-z", "--blob", blob, "--get-regexp", r"^submodule\..*\.path$")
    found = {}
    for entry in listed.output.decode("utf-8", "surrogateescape").split("\0"):
        key, _, path = entry.partition("\n")
        found[path.rstrip("/")] = key[len("submodule.") : -len(".path")]
    return found


def _kept(clone: Path, name: str) -> Path | None:
    """Where a clone keeps a submodule's repository; a name that leads elsewhere has none."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute():
        return None
    folder = clone.joinpath("modules", *parts)
    return folder if folder.is_dir() else None
