"""What a run has for itself while other runs go on."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from bot.adapters.builds.run_folder import PREFIX, UIDS_PER_RUN, first_uid, run_folder


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_is_gone_after_the_run(temp: Path) -> None:
    with run_folder() as folder:
        (folder / "file").write_text("x")
        assert folder.parent == temp
    assert not list(temp.iterdir())


def test_what_a_killed_run_left_is_removed_by_the_next(temp: Path) -> None:
    left = temp / f"{PREFIX}left"
    (left / "sealed").mkdir(parents=True)
    (left / "sealed").chmod(0o500)
    with run_folder():
        assert not left.exists()


def test_a_run_that_lives_keeps_its_folder(temp: Path) -> None:
    with run_folder() as first, run_folder() as second:
        assert first != second
        assert first.exists()


def test_a_link_that_looks_like_a_folder_of_ours_is_not_followed(temp: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    (target / "file").write_text("x")
    (temp / f"{PREFIX}link").symlink_to(target)
    with run_folder():
        assert (target / "file").exists()


def test_two_runs_have_different_user_ids_and_a_third_may_have_the_first_ones_again() -> None:
    with first_uid() as one, first_uid() as other:
        assert abs(one - other) >= UIDS_PER_RUN
    with first_uid() as again:
        assert again <= max(one, other)
