"""What the cache of built trees keeps and what it throws away."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.builds.build_cache import KEPT_TREES, Entry, prune


def made(root: Path, key: str, *, complete: bool = True) -> Entry:
    """An entry with one file in its tree, still held."""
    entry = Entry(root, key)
    assert not entry.claim(lambda: False)
    entry.tree.mkdir()
    (entry.tree / "file").write_text("x")
    if complete:
        entry.finish()
    return entry


def folders(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if path.is_dir()}


def test_trees_that_killed_builds_left_half_made_are_removed(tmp_path: Path) -> None:
    made(tmp_path, "half", complete=False).close()
    made(tmp_path, "whole").close()
    prune(tmp_path)
    assert folders(tmp_path) == {"whole"}


def test_a_tree_that_is_being_built_stays(tmp_path: Path) -> None:
    building = made(tmp_path, "half", complete=False)
    prune(tmp_path)
    assert folders(tmp_path) == {"half"}
    building.close()


def test_only_the_last_used_trees_are_kept(tmp_path: Path) -> None:
    for number in range(KEPT_TREES + 3):
        made(tmp_path, str(number)).close()
    prune(tmp_path)
    assert len(folders(tmp_path)) == len(list(tmp_path.glob("*.json"))) == KEPT_TREES
