"""Revisions with some folders of another one: head's benchmark scripts and inputs on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.git_errors import first_line
from bot.model.errors import UsageError
from bot.model.revisions import Revision
from bot.model.subject import Subject

SHOWN = 10
"""Digits of a commit's id that a note shows."""


def overlaid(
    repository: Repository, revisions: Sequence[Revision], head: Revision, paths: Sequence[str]
) -> tuple[Revision, ...]:
    """The revisions with head's files below `paths`, and none of their own there; head itself is as it was.

    Ids and dates stay: a tree is all that changes, so that revisions which differ only there are equal.

    Raises:
        UsageError: head has no such path, or git cannot lay it over a revision.
    """
    if not paths:
        return tuple(revisions)
    repository.hold(*(r.id for r in (*revisions, head)))
    laid = [_entry(repository, head, path) for path in paths]
    trees: dict[str, str] = {}
    for revision in revisions:
        if revision.tree not in trees:
            trees[revision.tree] = _tree(repository, revision, laid)
    return tuple(replace(revision, tree=trees[revision.tree]) for revision in revisions)


def overlay_source(
    repository: Repository, head: Revision, paths: Sequence[str]
) -> tuple[Revision, tuple[str, ...]]:
    """Whose files are laid over: head's, or the checked-out commit's where an older head lacks some; a note.

    So old releases can be compared, which came before their benchmark.
    """
    if not paths:
        return head, ()
    repository.hold(head.id)
    if all(_found(repository, head, path) for path in paths):
        return head, ()
    try:
        here = repository.resolve("HEAD", "HEAD", exact_base=True).head
    except UsageError:  # nothing is checked out
        return head, ()
    repository.hold(here.id)
    if not all(_found(repository, here, path) for path in paths):
        return head, ()  # which says what is missing
    at = f"the commit that is checked out ({here.id[:SHOWN]})"
    return here, (f"`overlay` is not at {head.label}: all revisions have the files of {at}.",)


def inputs_from(
    repository: Repository, word: str, subject: Subject, sides: Sequence[Revision]
) -> tuple[Revision, list[str]]:
    """A revision, and the paths of all that it gives to sides: the overlay, and inputs that none of them has.

    Never those that one has: a workload may be the program's own code.

    Raises:
        UsageError: there is no such revision.
    """
    source = repository.resolve(word, word, exact_base=True).head
    repository.hold(source.id, *(side.id for side in sides))
    lacking = [path for path in _inputs(subject) if not any(_found(repository, r, path) for r in sides)]
    return source, [*subject.overlay, *(path for path in lacking if _found(repository, source, path))]


def inputs_source(repository: Repository, first: Revision, source: Revision, subject: Subject) -> str:
    """The id of the revision whose inputs a range is measured with; empty: its first one lacks none."""
    if subject.overlay:
        return source.id
    _, laid = inputs_from(repository, source.id, subject, [first])
    return source.id if laid else ""


def _inputs(subject: Subject) -> list[str]:
    """Paths of templates, workloads, and what prepares these: words of commands, some of which are none."""
    made = [word for workload in subject.workloads.values() for word in (workload.prepare or "").split()]
    workloads = (workload.path for workload in subject.workloads.values())
    words = (word.strip("'\"").removeprefix("./") for word in made)
    return [*subject.files.values(), *workloads, *(word for word in words if word.strip("./"))]


def _found(repository: Repository, head: Revision, path: str) -> list[str]:
    """Mode and object of what a revision has there; empty: nothing."""
    where = ("--format=%(objectmode) %(objectname)", head.tree, "--", path.rstrip("/"))
    shown = repository.mirrored("ls-tree", *where)
    found = shown.output.decode().split()
    return found if shown.code == 0 and len(found) == 2 else []


def _entry(repository: Repository, head: Revision, path: str) -> tuple[str, str, str]:
    """Path, mode and object of what head has there."""
    path, found = path.rstrip("/"), _found(repository, head, path)
    if not found:
        raise UsageError(
            f"overlay: there is no {path} at {head.label};"
            " name a folder that it has, or end at a revision that has it"
        )
    return path, found[0], found[1]


def _tree(repository: Repository, revision: Revision, laid: Sequence[tuple[str, str, str]]) -> str:
    index = repository.home / "index-overlaid"
    env = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(repository.home)}

    def run(*words: str) -> str:
        done = repository.mirrored(*words, env=env)
        if done.code != 0:
            raise UsageError(f"overlay: cannot be laid over {revision.label}: {first_line(done.error)}")
        return done.output.decode().strip()

    try:
        run("read-tree", revision.tree)
        for path, mode, name in laid:
            run("rm", "-r", "--cached", "--quiet", "--force", "--ignore-unmatch", "--", path)
            if mode == "040000":
                run("read-tree", f"--prefix={path}/", name)
            else:
                run("update-index", "--add", "--cacheinfo", f"{mode},{name},{path}")
        return run("write-tree")
    finally:
        index.unlink(missing_ok=True)
