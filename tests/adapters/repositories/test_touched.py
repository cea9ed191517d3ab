"""Which lines of which files two revisions do not share."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.repositories import touched
from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.touched import changed_lines, parsed
from bot.model.diffs import FileDiff, Hunk
from tests.repositories import commit, git, new_repository

LINES = "".join(f"line {number}\n" for number in range(1, 21))


def edited(text: str, *lines: int, added: int = 0) -> str:
    """The text with lines changed, and some added behind line 18."""
    parts = text.splitlines(keepends=True)
    for line in lines:
        parts[line - 1] = "-- a/other.py\n"  # shown as a header is: `--- a/other.py`
    return "".join([*parts[:18], "@@ -1 +1 @@\n" * added, *parts[18:]])


def diff(tmp_path: Path, *files: dict[str, str | None]) -> tuple[FileDiff, ...] | None:
    place = new_repository(tmp_path / "repository")
    old, new = (commit(place, f) for f in files)
    return changed_lines(Repository(place, tmp_path / "private"), old, new)


def test_changed_lines_of_both_sides_are_told(tmp_path: Path) -> None:
    found = diff(tmp_path, {"a.py": LINES, "b.py": LINES}, {"a.py": edited(LINES, 3, 4, 9, added=2)})
    hunks = (
        Hunk(range(3, 5), range(3, 5)),
        Hunk(range(9, 10), range(9, 10)),
        Hunk(range(19, 19), range(19, 21)),
    )
    assert found == (FileDiff("a.py", "a.py", hunks),)


def test_removed_lines_stand_nowhere_in_the_new_file(tmp_path: Path) -> None:
    found = diff(tmp_path, {"a.py": LINES}, {"a.py": LINES.replace("line 5\n", "").replace("line 1\n", "")})
    assert found is not None
    assert found[0].hunks == (Hunk(range(1, 2), range(1, 1)), Hunk(range(5, 6), range(4, 4)))


def test_a_renamed_file_keeps_both_names(tmp_path: Path) -> None:
    found = diff(tmp_path, {"a.py": LINES}, {"a.py": None, "über/b c.py": edited(LINES, 7)})
    assert found == (FileDiff("a.py", "über/b c.py", (Hunk(range(7, 8), range(7, 8)),)),)


def test_added_removed_binary_large_and_only_renamed_files_are_left_out(tmp_path: Path) -> None:
    large = LINES * 10_000
    before: dict[str, str | None] = {"gone.py": "x\n", "data": "\0a", "large.c": large, "moved.py": LINES}
    after = {"gone.py": None, "new.py": "y\n", "data": "\0b", "large.c": "z\n" + large}
    assert diff(tmp_path, before, {**after, "moved.py": None, "other.py": LINES}) == ()


def test_names_and_contents_that_look_like_a_diff_mislead_nobody(tmp_path: Path) -> None:
    names = ["--- a/x", "a\nb.py", 'q"uote.py', "tab\t.py", " b/c.py", "-rf", "+++ b/y"]
    before = dict[str, str | None](dict.fromkeys(names, LINES))
    found = diff(tmp_path, before, {name: edited(LINES, 2, added=1) for name in names})
    assert found is not None
    assert {f.old for f in found} == {"--- a/x", " b/c.py", "-rf", "+++ b/y"}
    assert {f.hunks for f in found} == {(Hunk(range(2, 3), range(2, 3)), Hunk(range(19, 19), range(19, 20)))}


def test_attributes_and_settings_of_the_repository_change_nothing(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "repository")
    git(place, "config", "diff.noprefix", "true")
    git(place, "config", "diff.evil.command", f"touch {tmp_path}/ran")
    git(place, "config", "diff.evil.textconv", f"touch {tmp_path}/ran")
    old = commit(place, {"a.py": LINES, ".gitattributes": "*.py diff=evil\n"})
    new = commit(place, {"a.py": edited(LINES, 1)})
    found = changed_lines(Repository(place, tmp_path / "private"), old, new)
    assert found == (FileDiff("a.py", "a.py", (Hunk(range(1, 2), range(1, 2)),)),)
    assert not (tmp_path / "ran").exists()


def test_an_endless_diff_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(touched, "MOST_BYTES", 400)
    files: dict[str, str | None] = {f"{number}.py": LINES for number in range(20)}
    found = diff(tmp_path, files, {name: edited(LINES, 2) for name in files})
    assert found is not None and 0 < len(found) < 20


def test_a_revision_that_is_not_there_is_none(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "repository")
    old = commit(place, {"a.py": LINES})
    repository = Repository(place, tmp_path / "private")
    assert changed_lines(repository, "1" * 40, old) is None
    assert changed_lines(repository, "old", old) is None
    assert changed_lines(repository, old, old) == ()


def test_text_that_is_no_diff_is_nothing() -> None:
    assert parsed("") == parsed("diff --git \n") == parsed("--- a/x\n+++ b/x\n@@ -1 +1 @@\n") == ()
