"""Where built trees are kept, and that what is not needed any more does not stay there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.builds.build_cache import Entry
from bot.compose.own_folders import build_folder
from bot.model.sites import Account

OTHER = Account(uid=64000, gid=64000)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everyone may enter, with a repository and a home."""
    folder = Path(tempfile.mkdtemp(prefix="suspects-own-"))
    folder.chmod(0o755)
    (folder / "repo" / ".git").mkdir(parents=True)
    (folder / "home").mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)


def built(folder: Path, key: str = "k") -> Path:
    """A complete tree in a cache."""
    folder.mkdir(parents=True, exist_ok=True)
    entry = Entry(folder, key)
    entry.claim(lambda: False)
    entry.tree.mkdir()
    entry.finish()
    entry.close()
    return entry.tree


def test_built_trees_lie_outside_of_the_repository_and_are_found_again(place: Path) -> None:
    found = build_folder(place / "repo", {"HOME": str(place / "home")}, [None])
    assert found.is_relative_to(place / "home" / ".cache" / "suspects" / "builds")
    assert found == build_folder(place / "repo" / ".." / "repo", {"HOME": str(place / "home")}, [None])
    (place / "two" / "repo").mkdir(parents=True)
    assert found != build_folder(place / "two" / "repo", {"HOME": str(place / "home")}, [None])


def test_the_folder_for_caches_that_the_environment_names_is_used(place: Path) -> None:
    named = {"HOME": str(place / "home"), "XDG_CACHE_HOME": str(place / "cache")}
    assert build_folder(place / "repo", named, [None]).is_relative_to(place / "cache")
    named["XDG_CACHE_HOME"] = "relative"
    assert build_folder(place / "repo", named, [None]).is_relative_to(place / "home" / ".cache")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has accounts to build with")
def test_a_home_that_is_closed_to_the_accounts_of_builds_is_not_used(place: Path) -> None:
    (place / "home").chmod(0o700)
    found = build_folder(place / "repo", {"HOME": str(place / "home")}, [OTHER, None])
    assert found == place / "repo" / ".suspects" / "builds"
    assert not any((place / "home").iterdir())


def test_without_a_folder_for_caches_the_repository_keeps_them_hidden_from_git(place: Path) -> None:
    (place / "home" / ".cache").touch()
    found = build_folder(place / "repo", {"HOME": str(place / "home")}, [None])
    assert found == place / "repo" / ".suspects" / "builds"
    assert (place / "repo" / ".suspects" / ".gitignore").read_text() == "*\n"
    inside = {"HOME": str(place / "home"), "XDG_CACHE_HOME": str(place / "repo" / "cache")}
    assert build_folder(place / "repo", inside, [None]) == found


def test_trees_of_a_repository_that_is_gone_and_those_of_earlier_versions_are_removed(place: Path) -> None:
    environment = {"HOME": str(place / "home")}
    (place / "gone").mkdir()
    gone = built(build_folder(place / "gone", environment, [None]))
    own = built(build_folder(place / "repo", environment, [None]))
    earlier = built(place / "repo" / ".suspects" / "builds")
    history = place / "repo" / ".suspects" / "history"
    history.mkdir()
    shutil.rmtree(place / "gone")
    build_folder(place / "repo", environment, [None])
    assert not gone.parents[1].exists() and not earlier.parents[1].exists()
    assert own.exists() and history.exists()


def test_a_tree_that_a_run_uses_stays(place: Path) -> None:
    old = place / "repo" / ".suspects" / "builds"
    tree = built(old)
    used = Entry(old, "k")
    assert used.claim(lambda: False)
    build_folder(place / "repo", {"HOME": str(place / "home")}, [None])
    assert tree.exists()
    used.close()
