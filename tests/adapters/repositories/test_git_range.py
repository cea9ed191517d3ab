"""The revisions of a range: bad's first-parent line from good on, or one clear line why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.repositories.git import Repository
from bot.model.errors import UsageError
from bot.model.revisions import Range
from tests.repositories import commit, git, new_repository


@pytest.fixture
def line(tmp_path: Path) -> Path:
    """main: c0 (v1.0), c1, merge of side (s1, s2), c3, c4 without a change, c5 (v1.1, annotated)."""
    path = new_repository(tmp_path / "repository")
    commit(path, {"n": "0"}, "c0")
    git(path, "tag", "v1.0")
    commit(path, {"n": "1"}, "c1")
    git(path, "checkout", "--quiet", "-b", "side")
    for name in ("s1", "s2"):
        commit(path, {"s": name}, name)
    git(path, "checkout", "--quiet", "main")
    git(path, "merge", "--quiet", "--no-ff", "--message", "merge side", "side")
    commit(path, {"n": "3"}, "c3\tand more\n\nBody")
    commit(path, {}, "c4")
    commit(path, {"n": "5"}, "c5")
    git(path, "tag", "--annotate", "--message", "release", "v1.1")
    git(path, "tag", "another")
    return path


def found(path: Path, good: str, bad: str, *, tags: bool = False) -> Range:
    return Repository(path, path.parent / "private").range(good, bad, tags=tags)


def refused(path: Path, good: str, bad: str) -> str:
    with pytest.raises(UsageError) as caught:
        found(path, good, bad)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_revisions_stand_in_first_parent_order_with_label_subject_and_tree(line: Path) -> None:
    got = found(line, "v1.0", "main")
    assert [r.subject for r in got.revisions] == ["c0", "c1", "merge side", "c3\tand more", "c5"]
    assert [r.label for r in got.revisions[::4]] == ["v1.0", "v1.1"]
    assert got.revisions[1].label == git(line, "rev-parse", "--short", "main~4")
    assert [r.id for r in got.revisions] == [
        git(line, "rev-parse", f"main~{back}") for back in (5, 4, 3, 2, 0)
    ]
    assert got.revisions[3].tree == git(line, "rev-parse", "main~2^{tree}")
    assert not got.same_tree


def test_merges_and_commits_without_a_change_are_told(line: Path) -> None:
    notes = found(line, "v1.0", "main").notes
    assert any("Merges in the range: 1" in note for note in notes)
    assert any("Left out" in note and "1 of 6" in note for note in notes)


def test_every_revision_can_be_checked_out(line: Path, tmp_path: Path) -> None:
    repository = Repository(line, tmp_path / "private")
    for place, revision in enumerate(repository.range("v1.0", "main").revisions):
        into = tmp_path / f"out{place}"
        into.mkdir()
        repository.archive(revision, into)
        assert (into / "n").read_text() == ["0", "1", "1", "3", "5"][place]


def test_coarse_revisions_are_the_tagged_ones_and_the_ends(line: Path) -> None:
    git(line, "tag", "beside", "side")
    git(line, "tag", "v1.0.1", "main~2")
    got = found(line, "v1.0", "main", tags=True)
    assert [r.label for r in got.revisions] == ["v1.0", "v1.0.1", "v1.1"]
    got = found(line, "v1.0", "main~3", tags=True)
    assert [r.subject for r in got.revisions] == ["c0", "merge side"]


def test_a_person_s_tag_is_preferred(line: Path) -> None:
    assert found(line, "v1.0", "another").revisions[-1].label == "another"


def test_equal_files_at_both_ends_are_kept_and_seen(line: Path) -> None:
    got = found(line, "main~2", "main~1")
    assert len(got.revisions) == 2 and got.same_tree


def test_a_good_one_beside_the_line_is_replaced_and_said_so(line: Path) -> None:
    got = found(line, "side", "main")
    assert [r.subject for r in got.revisions] == ["c1", "merge side", "c3\tand more", "c5"]
    assert "side is not on the first-parent line of main" in got.notes[0]
    assert got.revisions[0].label in got.notes[0]


def test_a_rewritten_branch_begins_where_it_was_left(line: Path) -> None:
    git(line, "branch", "old")
    git(line, "reset", "--quiet", "--hard", "main~2")
    commit(line, {"n": "6"}, "c6")
    got = found(line, "old", "main")
    assert [r.subject for r in got.revisions] == ["c3\tand more", "c6"]
    assert "not on the first-parent line" in got.notes[0]


def test_a_range_of_one_commit_or_backwards_is_one_line(line: Path) -> None:
    assert "is one commit" in refused(line, "main", "v1.1")
    assert "lies in the history of main" in refused(line, "main", "v1.0")


def test_a_missing_revision_is_one_line(line: Path) -> None:
    assert "not in the repository" in refused(line, "v0.9", "main")
    assert "not in the repository" in refused(line, "v1.0", "--all")


def test_no_common_history_is_one_line(line: Path) -> None:
    git(line, "checkout", "--quiet", "--orphan", "other")
    commit(line, {"z": "z"}, "z")
    assert "no common history" in refused(line, "main", "other")
    git(line, "merge", "--quiet", "--allow-unrelated-histories", "--strategy=ours", "--message", "m", "main")
    assert "not on the first-parent line" in refused(line, "v1.0", "other")


def test_a_shallow_clone_asks_for_its_history(line: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=2", "--no-single-branch", f"file://{line}", "clone")
    assert "shallow clone" in refused(tmp_path / "clone", "v1.0", "main")
    assert len(found(tmp_path / "clone", "main~1", "main").revisions) == 2
