"""Submodules come from where a recursive clone keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.submodules import write_submodules
from tests.repositories import commit, git, new_repository

LOCAL = ("-c", "protocol.file.allow=always")


def nested(path: Path) -> tuple[Path, Path]:
    """A repository with a submodule that has one, and a recursive clone of it."""
    inner, middle, outer = (new_repository(path / name) for name in ("inner", "middle", "outer"))
    commit(inner, {"deep.txt": "first\n"})
    git(middle, *LOCAL, "submodule", "--quiet", "add", "--name", "the inner one", str(inner), "lib/inner")
    commit(middle, {"middle.txt": "middle\n"})
    git(outer, *LOCAL, "submodule", "--quiet", "add", str(middle), "third party/middle")
    commit(outer, {"outer.txt": "outer\n"})
    git(path, *LOCAL, "clone", "--quiet", "--recurse-submodules", str(outer), "clone")
    return outer, path / "clone"


def written(clone: Path, home: Path, revision: str = "HEAD") -> Path:
    repository = Repository(clone, home / "private")
    found = repository.resolve(revision, revision, exact_base=True).head
    into = home / "tree"
    into.mkdir()
    repository.archive(found, into)
    write_submodules(repository, found.tree, into)
    return into


def test_submodules_of_submodules_are_written_at_their_commits(tmp_path: Path) -> None:
    _, clone = nested(tmp_path / "all")
    tree = written(clone, tmp_path)
    assert (tree / "outer.txt").read_text() == "outer\n"
    assert (tree / "third party/middle/middle.txt").read_text() == "middle\n"
    assert (tree / "third party/middle/lib/inner/deep.txt").read_text() == "first\n"
    assert not list(tree.rglob(".git"))


def test_a_tree_without_submodules_needs_nothing(tmp_path: Path) -> None:
    there = new_repository(tmp_path / "plain")
    commit(there, {"a": "1\n"})
    assert [p.name for p in written(there, tmp_path).iterdir()] == ["a"]


def test_a_commit_that_was_not_cloned_is_said_with_the_remedy(tmp_path: Path) -> None:
    outer, _ = nested(tmp_path / "all")
    git(tmp_path, "clone", "--quiet", str(outer), "flat")
    with pytest.raises(OSError, match=r"submodule third party/middle: .* fetch submodules recursively"):
        written(tmp_path / "flat", tmp_path)


@pytest.mark.parametrize("name", ["../../elsewhere", "/etc", "a/../../b"])
def test_a_name_that_leads_out_of_the_clone_is_not_followed(tmp_path: Path, name: str) -> None:
    _, clone = nested(tmp_path / "all")
    modules = clone / ".gitmodules"
    modules.write_text(f'[submodule "{name}"]\n\tpath = third party/middle\n\turl = x\n')
    git(clone, "commit", "--quiet", "--all", "--message", "evil")
    with pytest.raises(OSError, match="is not in the clone"):
        written(clone, tmp_path)
