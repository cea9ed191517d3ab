"""Head's folders laid over other revisions."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.overlay import inputs_from, inputs_source, overlaid, overlay_source
from bot.model.errors import UsageError
from bot.model.revisions import Comparison, Revision
from bot.model.subject import Subject
from tests.repositories import commit, git, new_repository

BASE = {"bench/run.sh": "old\n", "bench/gone.txt": "gone\n", "program": "base\n"}
HEAD: dict[str, str | None] = {
    "bench/run.sh": "new\n",
    "bench/gone.txt": None,
    "bench/deep/input": "1\n",
    "program": "head\n",
}


def compared(path: Path, head: dict[str, str | None] = HEAD) -> tuple[Repository, Comparison]:
    there = new_repository(path / "repository")
    commit(there, BASE)
    git(there, "tag", "v1")
    commit(there, head)
    repository = Repository(there, path / "private")
    return repository, repository.resolve("v1", "HEAD")


def files(repository: Repository, revision: Revision, into: Path) -> dict[str, str]:
    into.mkdir(parents=True)
    repository.archive(revision, into)
    return {str(p.relative_to(into)): p.read_text() for p in into.rglob("*") if p.is_file()}


def test_base_gets_the_folders_of_head_and_nothing_else(tmp_path: Path) -> None:
    repository, found = compared(tmp_path)
    base, head = overlaid(repository, [found.base, found.head], found.head, ["bench/"])
    assert head == found.head
    assert (base.id, base.label) == (found.base.id, found.base.label) and base.tree != found.base.tree
    assert files(repository, base, tmp_path / "at" / "base") == {
        "bench/run.sh": "new\n",
        "bench/deep/input": "1\n",
        "program": "base\n",
    }
    assert repository.read_file(found.base, "bench/run.sh") == "old\n"  # what the base says of itself


def test_revisions_that_differ_only_there_are_equal(tmp_path: Path) -> None:
    repository, found = compared(tmp_path, {"bench/run.sh": "new\n"})
    (base,) = overlaid(repository, [found.base], found.head, ["bench"])
    assert not found.same_tree and Comparison(base, found.head).same_tree


def test_a_single_file_may_be_laid_over_too(tmp_path: Path) -> None:
    repository, found = compared(tmp_path)
    (base,) = overlaid(repository, [found.base], found.head, ["bench/run.sh"])
    assert files(repository, base, tmp_path / "at" / "base")["bench/run.sh"] == "new\n"


def test_without_a_wish_nothing_is_asked_of_git(tmp_path: Path) -> None:
    repository, found = compared(tmp_path)
    assert overlaid(repository, [found.base], found.head, ()) == (found.base,)


@pytest.mark.parametrize("path", ["nothing", "bench/nothing", "*"])
def test_a_path_that_head_lacks_is_one_line(tmp_path: Path, path: str) -> None:
    repository, found = compared(tmp_path)
    with pytest.raises(UsageError, match=r"^overlay: there is no .* at .*, or end at a revision that has it"):
        overlaid(repository, [found.base], found.head, [path])


def test_a_file_where_a_folder_has_to_be_gives_way(tmp_path: Path) -> None:
    there = new_repository(tmp_path / "repository")
    commit(there, {"bench": "a file\n", "above": "a file\n"})
    git(there, "tag", "v1")
    commit(there, {"bench": None, "above": None})
    commit(there, {"bench/run.sh": "new\n", "above/it/run.sh": "new\n"})
    repository = Repository(there, tmp_path / "private")
    found = repository.resolve("v1", "HEAD")
    (base,) = overlaid(repository, [found.base], found.head, ["bench", "above/it"])
    assert files(repository, base, tmp_path / "at" / "base") == {
        "bench/run.sh": "new\n",
        "above/it/run.sh": "new\n",
    }


def test_revisions_from_before_the_benchmark_get_that_of_what_is_checked_out(
    tmp_path: Path,
) -> None:
    there = new_repository(tmp_path / "repository")
    for number in (1, 2):
        commit(there, {"program": f"{number}\n"})
        git(there, "tag", f"v{number}")
    commit(there, {"bench/run.sh": "new\n"})
    repository = Repository(there, tmp_path / "private")
    found = repository.resolve("v1", "v2", exact_base=True)
    source, notes = overlay_source(repository, found.head, ["bench"])
    _, head = overlaid(repository, [found.base, found.head], source, ["bench"])
    assert files(repository, head, tmp_path / "head") == {"program": "2\n", "bench/run.sh": "new\n"}
    assert head.id == found.head.id and notes[0].startswith(
        "`overlay` is not at v2: all revisions have the files"
    )
    assert overlay_source(repository, source, ["bench"]) == (source, ())
    assert overlay_source(repository, found.head, ["nothing"]) == (found.head, ())


INPUTS = {
    "program": {"runtime": "native", "run": "./program {workload}"},
    "workloads": {"text": {"path": "text", "prepare": "cd . && ./bench/make.sh"}, "two": {"path": "two"}},
    "files": {"conf": "conf.j2"},
    "options": {"a": {"flag": "-a"}},
}


def test_a_revision_gives_others_the_templates_workloads_and_scripts_that_they_lack_and_no_more(
    tmp_path: Path,
) -> None:
    there = new_repository(tmp_path / "repository")
    commit(there, {"program": "1\n", "two": "old\n"})
    git(there, "tag", "v1")
    commit(there, {"program": "2\n"})
    git(there, "tag", "v2")
    commit(there, {"bench/make.sh": "make\n", "conf.j2": "x\n", "two": "new\n", "program": "3\n"})
    repository = Repository(there, tmp_path / "private")
    found = repository.resolve("v1", "v2", exact_base=True)
    subject = Subject.model_validate(INPUTS)
    source, laid = inputs_from(repository, "HEAD", subject, [found.base, found.head])
    _, head = overlaid(repository, [found.base, found.head], source, laid)
    given = {"bench/make.sh": "make\n", "conf.j2": "x\n"}
    own = {"program": "2\n", "two": "old\n"}  # a workload may be the program's own code
    assert files(repository, head, tmp_path / "head") == own | given
    assert inputs_source(repository, found.base, source, subject) == source.id
    assert inputs_source(repository, found.base, found.head, subject) == ""
    with_overlay = subject.model_copy(update={"overlay": ("bench",)})
    assert inputs_source(repository, found.base, found.head, with_overlay) == found.head.id
    with pytest.raises(UsageError, match="nowhere"):
        inputs_from(repository, "nowhere", subject, [found.base])
