"""What is left in a workspace goes through none of its links, and belongs to its owner."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.adapters.workspace import left_in

OWNER = 1001


def test_what_a_checkout_has_in_its_place_is_removed_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "results").symlink_to(outside)
    with left_in(workspace, "results") as folder:
        (folder / "report").write_text("new")
    assert not (workspace / "results").is_symlink()
    assert [path.name for path in outside.iterdir()] == ["kept"]
    (workspace / "results/report").unlink()
    (workspace / "results/report").symlink_to(outside / "kept")
    with left_in(workspace, "results") as folder:
        (folder / "report").write_text("newer")
    assert (outside / "kept").read_text() == "kept"


def test_a_file_in_its_place_is_replaced_and_an_empty_folder_does_not_stay(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with left_in(tmp_path, "results") as folder:
        assert folder.is_dir()
    assert not folder.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_root_leaves_belongs_to_the_workspaces_owner(tmp_path: Path) -> None:
    os.chown(tmp_path, OWNER, OWNER)
    with left_in(tmp_path, "results") as folder:
        (folder / "part").mkdir()
        (folder / "part/file").write_text("")
    owners = {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}
    assert owners == {OWNER}
