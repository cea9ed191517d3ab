"""Head without its changes to some lines."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.partial_revert import revert, without
from tests.repositories import commit, new_repository

BASE = "def a():\n    return 1\n\ndef b():\n    return 2\n\ndef c():\n    return 3\n"
HEAD = "def a():\n    x = 1\n    return x\n\ndef b():\n    return 22\n\ndef d():\n    return 4\n"


@pytest.fixture
def two(tmp_path: Path) -> tuple[Repository, str, str]:
    """A repository with base and head."""
    place = new_repository(tmp_path / "repository")
    base = commit(place, {"work.py": BASE, "run.sh": "echo\n"}, "base")
    head = commit(place, {"work.py": HEAD, "new.py": "x = 1\n"}, "head")
    return Repository(place, tmp_path / "private"), base, head


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (range(1, 4), HEAD.replace("    x = 1\n    return x\n", "    return 1\n")),
        (range(5, 7), HEAD.replace("22", "2")),
        (range(1, 7), HEAD.replace("22", "2").replace("    x = 1\n    return x\n", "    return 1\n")),
    ],
)
def test_only_the_changes_in_the_lines_are_reverted(
    two: tuple[Repository, str, str], tmp_path: Path, lines: range, expected: str
) -> None:
    repository, base, head = two
    comparison = repository.resolve(base, head)
    made = without(repository, comparison, "work.py", lines)
    assert made is not None and made.tree not in {comparison.base.tree, comparison.head.tree}
    assert without(repository, comparison, "work.py", lines) == made
    into = tmp_path / "out" / "tree"
    into.mkdir(parents=True)
    repository.archive(made, into)
    assert (into / "work.py").read_text() == expected
    assert (into / "new.py").read_text() == "x = 1\n"


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("work.py", range(4, 5)),  # nothing changed there
        ("work.py", range(2, 3)),  # the change reaches further
        ("new.py", range(1, 2)),
        ("missing.py", range(1, 2)),
        ("work.py", range(0)),
    ],
)
def test_what_cannot_be_reverted_alone_is_not(
    two: tuple[Repository, str, str], path: str, lines: range
) -> None:
    repository, base, head = two
    assert without(repository, repository.resolve(base, head), path, lines) is None


def test_a_change_in_a_program_of_one_large_file_is_reverted(tmp_path: Path) -> None:
    place, rest = new_repository(tmp_path / "repository"), "# a line of a long program\n" * 50_000
    base = commit(place, {"work.py": BASE + rest}, "base")
    head = commit(place, {"work.py": BASE.replace("2", "22") + rest}, "head")
    repository = Repository(place, tmp_path / "private")
    comparison = repository.resolve(base, head)
    made = without(repository, comparison, "work.py", range(4, 6))
    assert made is not None and made.tree == comparison.base.tree


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=12)


@given(LINES, LINES)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_reverting_all_lines_gives_base_again(tmp_path: Path, before: list[str], after: list[str]) -> None:
    texts = ["".join(["first\n", *lines, "last\n"]) for lines in (before, after)]
    files = [tmp_path / "before", tmp_path / "after"]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    words = ["git", "diff", "--no-index", "--unified=0", "--", *map(str, files)]
    diff = subprocess.run(words, capture_output=True, check=False).stdout
    everything = range(1, len(texts[1].splitlines()) + 1)
    assert revert(texts[0], texts[1], diff, everything) == (texts[0] if texts[0] != texts[1] else None)
