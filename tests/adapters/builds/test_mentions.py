"""Which words a tree lacks, and when nothing is said of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.builds import mentions
from bot.adapters.builds.mentions import unmentioned

WORDS = ("fast", "keep-going", "lvel")


def test_words_are_found_in_programs_and_sources_however_they_are_spelt(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "prog").write_bytes(b"\x7fELF\0usage: --fast\0")
    (tmp_path / "src" / "cli.ts").write_text("keepGoing: boolean")
    assert unmentioned(tmp_path, WORDS) == {"lvel"}
    (tmp_path / "src" / "level.py").write_text("LVEL = 1")
    assert unmentioned(tmp_path, WORDS) == frozenset()


def test_the_configuration_file_and_links_do_not_count(tmp_path: Path) -> None:
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "suspects.yml").write_text("--lvel")
    (tmp_path / "outside").symlink_to("/proc/self/environ")
    assert unmentioned(tmp_path, ["lvel"]) == {"lvel"}


@pytest.mark.parametrize("most", [3, 1000])
def test_nothing_is_said_of_what_is_packed_or_too_large(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "MOST_BYTES", most)
    (tmp_path / ("large.txt" if most < 9 else "app.jar")).write_bytes(b"packed")
    assert unmentioned(tmp_path, WORDS) == frozenset()
