"""Makes a revision that is head without its changes to some lines: what proves that these are guilty."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.adapters.repositories.git import Repository
from bot.model.errors import UsageError
from bot.model.revisions import Comparison, Revision

SIGNED = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "suspects"),
        ("EMAIL", "suspects@localhost"),
        ("DATE", "2000-01-01T00:00:00Z"),
    )
}
"""The same revert is the same commit in each run."""

LARGEST_SOURCE = 16 << 20
"""A program in one file (SQLite's amalgamation) has 9 MB."""

_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def without(repository: Repository, comparison: Comparison, path: str, lines: range) -> Revision | None:
    """Head, but with base's text where `lines` of a file (from 1, at head) were changed.

    None: nothing changed there, a change reaches beyond these lines, or the file is new, binary or too large.

    Raises:
        OSError: git could not write it.
    """
    base, head = comparison.base, comparison.head
    try:
        texts = [repository.read_file(revision, path, most=LARGEST_SOURCE) for revision in (base, head)]
    except UsageError:
        return None
    if texts[0] is None or texts[1] is None:
        return None
    shown = repository.mirrored(
        "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", base.id, head.id, "--", path
    )
    reverted = revert(texts[0], texts[1], shown.output, lines)
    return None if reverted is None else _commit(repository, head, path, reverted)


def revert(base: str, head: str, diff: bytes, lines: range) -> str | None:
    """Head's text with base's where its `lines` were changed, by a diff without context; None as above."""
    before, after = base.splitlines(keepends=True), head.splitlines(keepends=True)
    inside = []
    for match in _HUNK.finditer(diff):
        hunk = [int(group) if group else 1 for group in match.groups()]
        first, last = hunk[2], hunk[2] + hunk[3] - 1
        if hunk[3] == 0:  # only removed: after line `first`
            touching = alone = first in lines and first + 1 in lines
        else:
            touching = first <= lines[-1] and last >= lines[0] if lines else False
            alone = first in lines and last in lines
        if touching and not alone:
            return None
        if touching:
            inside.append(hunk)
    if not inside:
        return None
    for base_first, base_count, head_first, head_count in reversed(inside):
        old = before[base_first - 1 : base_first - 1 + base_count] if base_count else []
        start = head_first - 1 if head_count else head_first
        after[start : start + head_count] = old
    return "".join(after)


def _commit(repository: Repository, head: Revision, path: str, text: str) -> Revision:
    """A commit like head but for one file."""
    place = repository.home / "reverted"
    index = {"GIT_INDEX_FILE": str(repository.home / "index-reverted")}
    place.write_bytes(text.encode())
    mode = _run(repository, "ls-tree", "--format=%(objectmode)", head.id, "--", path)
    blob = _run(repository, "hash-object", "-w", "--no-filters", str(place))
    _run(repository, "read-tree", head.id, env=index)
    _run(repository, "update-index", "--cacheinfo", f"{mode},{blob},{path}", env=index)
    tree = _run(repository, "write-tree", env=index)
    commit = _run(repository, "commit-tree", tree, "-p", head.id, "-m", "Without a change", env=SIGNED)
    repository.made(commit)
    return replace(head, id=commit, tree=tree, label=f"{head.label} without a change")


def _run(repository: Repository, *words: str, env: dict[str, str] | None = None) -> str:
    done = repository.mirrored(*words, env=env)
    if done.code != 0:
        raise OSError(f"git {words[0]}: {done.error.splitlines()[0] if done.error else 'failed'}")
    return done.output.decode().strip()
