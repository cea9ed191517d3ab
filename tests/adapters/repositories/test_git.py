"""Revisions are resolved, read and checked out without running anything of theirs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.adapters.repositories.git import Repository
from bot.model.errors import UsageError
from tests.repositories import commit, git, new_repository


@pytest.fixture
def forked(tmp_path: Path) -> Path:
    """main: first (tag v1), third; feature: second, from the first."""
    path = new_repository(tmp_path / "repository")
    commit(path, {"a.txt": "one\n", "conf/ü.yml": "x: 1\n"})
    git(path, "tag", "v1")
    git(path, "checkout", "--quiet", "-b", "feature")
    commit(path, {"a.txt": "two\n"})
    git(path, "checkout", "--quiet", "main")
    commit(path, {"b.txt": "three\n"})
    return path


def opened(path: Path) -> Repository:
    """The repository with a new private folder beside it."""
    home = path.parent / "private"
    return Repository(path, home)


def test_base_is_the_merge_base_and_says_so(forked: Path) -> None:
    comparison = opened(forked).resolve("main", "feature")
    assert comparison.base.id == git(forked, "rev-parse", "v1")
    assert comparison.base.label == "v1"
    assert comparison.head.id == git(forked, "rev-parse", "feature")
    assert comparison.head.label == "feature"
    assert comparison.head.tree == git(forked, "rev-parse", "feature^{tree}")
    assert comparison.notes == (f"Base is {comparison.base.id[:7]}, the merge base of main and feature.",)
    assert not comparison.same_tree


def test_an_exact_base_stays(forked: Path) -> None:
    comparison = opened(forked).resolve("main", "feature", exact_base=True)
    assert comparison.base.label == "main"
    assert comparison.notes == ()


def test_equal_trees_are_visible(forked: Path) -> None:
    git(forked, "commit", "--quiet", "--allow-empty", "--message", "nothing")
    comparison = opened(forked).resolve("HEAD~1", "HEAD")
    assert comparison.base.id != comparison.head.id
    assert comparison.same_tree
    assert comparison.head.label == "main" or comparison.head.id.startswith(comparison.head.label)


def test_a_head_that_merged_main_is_compared_with_what_it_merged(forked: Path) -> None:
    git(forked, "checkout", "--quiet", "feature")
    git(forked, "merge", "--quiet", "--message", "merge", "main")
    commit(forked, {"c.txt": "four\n"})
    comparison = opened(forked).resolve("main", "feature")
    assert comparison.base.id == git(forked, "rev-parse", "main")


def test_a_branch_known_only_at_origin_is_found(forked: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(forked), "clone")
    comparison = opened(tmp_path / "clone").resolve("v1", "feature")
    assert comparison.head.id == git(forked, "rev-parse", "feature")


def test_a_shallow_clone_asks_for_its_history(forked: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", f"file://{forked}", "clone")
    repository = opened(tmp_path / "clone")
    for base in ("origin/feature", "HEAD~1"):
        with pytest.raises(UsageError, match="shallow clone") as caught:
            repository.resolve(base, "main")
        assert "fetch-depth: 0" in caught.value.__notes__[0]
    assert repository.resolve("origin/feature", "main", exact_base=True).base.tree


@pytest.mark.parametrize("word", ["nowhere", "-x", "--all", "v1..main", "", "0" * 40, "HEAD:a.txt"])
def test_a_missing_revision_is_one_sentence(forked: Path, word: str) -> None:
    with pytest.raises(UsageError, match="is not in the repository"):
        opened(forked).resolve(word, "main")


def test_unrelated_histories_are_one_sentence(forked: Path) -> None:
    git(forked, "checkout", "--quiet", "--orphan", "other")
    commit(forked, {"z.txt": "z"})
    with pytest.raises(UsageError, match="no common history"):
        opened(forked).resolve("main", "other")


def test_a_folder_that_is_no_repository_or_empty_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(UsageError, match="not in a git repository"):
        opened(tmp_path / "plain")
    with pytest.raises(UsageError, match="no commit yet"):
        opened(new_repository(tmp_path / "empty"))
    with pytest.raises(UsageError, match="no folder"):
        opened(tmp_path / "nowhere")


def test_git_that_is_not_installed_is_one_sentence(forked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.adapters.processes.process.PLAIN_ENVIRONMENT", {"PATH": "/nonexistent"})
    with pytest.raises(UsageError, match="git is not installed"):
        opened(forked)


def test_a_folder_below_a_work_tree_and_a_bare_repository_work(forked: Path, tmp_path: Path) -> None:
    inner = Repository(forked / "conf", tmp_path / "one")
    assert inner.top == forked
    git(tmp_path, "clone", "--quiet", "--bare", str(forked), "bare.git")
    git(forked, "worktree", "add", "--quiet", str(tmp_path / "tree"), "feature")
    expected = inner.resolve("main", "feature")
    assert Repository(tmp_path / "bare.git", tmp_path / "two").resolve("main", "feature") == expected
    assert Repository(tmp_path / "tree", tmp_path / "three").resolve("main", "feature") == expected


def test_a_whole_clone_lends_its_files_and_a_shallow_one_is_copied(forked: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{forked}", "shallow")
    copied = {}
    for clone in (forked, tmp_path / "shallow"):
        repository = Repository(clone, tmp_path / f"home of {clone.name}")
        head = repository.resolve("main", "main", exact_base=True).head
        tree = tmp_path / f"tree of {clone.name}"
        tree.mkdir()
        repository.archive(head, tree)
        assert (tree / "b.txt").read_text() == "three\n"
        copied[clone.name] = any((repository.home / "mirror.git" / "objects").glob("??/*"))
    assert copied == {"repository": False, "shallow": True}


def test_a_clone_without_its_files_is_one_sentence(forked: Path, tmp_path: Path) -> None:
    git(forked, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{forked}", "partial")
    with pytest.raises(UsageError, match="could not be copied from") as raised:
        Repository(tmp_path / "partial", tmp_path / "home").resolve("main", "main", exact_base=True)
    assert raised.value.__notes__ == ["A partial clone lacks files: clone without --filter."]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_another_user_is_read(forked: Path) -> None:
    for path in (forked, *forked.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    repository = opened(forked)
    comparison = repository.resolve("main", "feature")
    assert repository.read_file(comparison.head, "a.txt") == "two\n"


def test_files_are_read_from_a_revision_only_when_regular(forked: Path) -> None:
    (forked / "link").symlink_to("/etc/passwd")
    (forked / "binary").write_bytes(b"\xff\xfe")
    (forked / "large").write_bytes(b"x" * ((1 << 20) + 1))
    commit(forked, {})
    repository = opened(forked)
    head = repository.resolve("main", "main").head
    assert repository.read_file(head, "conf/ü.yml") == "x: 1\n"
    for absent in ("nowhere", "link", "conf", "*.txt", "../repository/a.txt"):
        assert repository.read_file(head, absent) is None
    with pytest.raises(UsageError, match="not UTF-8"):
        repository.read_file(head, "binary")
    with pytest.raises(UsageError, match="larger than"):
        repository.read_file(head, "large")


def test_a_checkout_holds_all_files_whatever_their_attributes(forked: Path, tmp_path: Path) -> None:
    (forked / "passwd").symlink_to("/etc/passwd")
    (forked / "up").symlink_to("../..")
    attributes = "bench export-ignore\na.txt export-subst\n*.bin filter=lfs\n"
    commit(
        forked,
        {
            ".gitattributes": attributes,
            "bench/run.sh": "echo",
            "a.txt": "$Format:%H$\n",
            "x.bin": "pointer",
            "Readme": "1",
            "README": "2",
        },
    )
    evil = tmp_path / "ran"
    git(forked, "config", "filter.lfs.smudge", f"touch {evil}")
    git(forked, "config", "core.fsmonitor", f"touch {evil}")
    (forked / ".git" / "hooks" / "post-checkout").write_text(f"#!/bin/sh\ntouch {evil}\n")
    (forked / ".git" / "hooks" / "post-checkout").chmod(0o755)
    into = tmp_path / "into"
    into.mkdir()
    repository = opened(forked)
    repository.archive(repository.resolve("v1", "main").head, into)
    files = git(forked, "ls-tree", "-r", "--name-only", "-z", "main").split("\0")
    found = {str(p.relative_to(into)) for p in into.rglob("*") if p.is_symlink() or p.is_file()}
    assert found == {f for f in files if f}
    assert (into / "a.txt").read_text() == "$Format:%H$\n"
    assert (into / "passwd").readlink() == Path("/etc/passwd")
    assert os.access(into / "bench/run.sh", os.X_OK)
    assert {int(p.lstat().st_mtime) for p in into.rglob("*")} == {1704164645}
    assert not evil.exists()
    assert sorted(p.name for p in (forked.parent / "private").iterdir()) == [".gitconfig", "mirror.git"]
