"""The first-parent line between two commits: how git is asked for it, and what of it is worth measuring."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.model.revisions import Revision

COMMIT_FORMAT = "%H %T %h %P%x09%s"
TAG_FORMAT = "%(objecttype) %(objectname) %(*objectname)%09%(refname:strip=2)"
LONGEST_SUBJECT = 200


@dataclass(frozen=True)
class Commit:
    """A commit as the line needs it; `short` is its abbreviated id."""

    id: str
    tree: str
    short: str
    parents: tuple[str, ...]
    subject: str


def commits(listing: str) -> list[Commit]:
    """Commits of `git rev-list --pretty=format:COMMIT_FORMAT`, in its order."""
    found = []
    for line in listing.splitlines():
        facts, tab, subject = line.partition("\t")
        if tab:  # else git's own line before each commit
            commit, tree, short, *parents = facts.split()
            found.append(Commit(commit, tree, short, tuple(parents), subject[:LONGEST_SUBJECT]))
    return found


def tags(listing: str) -> Mapping[str, Sequence[str]]:
    """Commit -> its tags, from `git for-each-ref --format=TAG_FORMAT refs/tags`; annotated ones first."""
    found: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    for line in listing.splitlines():
        facts, _, name = line.partition("\t")
        kind, *ids = facts.split()
        found[ids[-1]].append((kind != "tag", name))
    return {commit: [name for _, name in sorted(names)] for commit, names in found.items()}


def revisions(
    line: Sequence[Commit], tagged: Mapping[str, Sequence[str]], words: Sequence[str], *, coarse: bool
) -> tuple[list[Revision], list[str]]:
    """The revisions of a line that can differ, both ends included, and what a reader must know of them.

    words: what a person called the ends. coarse: between the ends, tagged commits only.
    """
    notes = []
    kept = [c for c in line if not coarse or c.id in tagged or c in (line[0], line[-1])]
    if coarse:
        notes.append(f"{len(kept)} of {len(line)} commits are tagged or an end: only these were looked at.")
    merges = sum(len(commit.parents) > 1 for commit in kept[1:])
    if merges and not coarse:
        notes.append(f"Merges in the range: {merges}. All that one brought counts as one change.")
    moved = [
        c for before, c in zip([None, *kept], kept, strict=False) if before is None or before.tree != c.tree
    ]
    if moved[-1] is not kept[-1]:
        moved.append(kept[-1])
    if len(moved) < len(kept):
        equal = len(kept) - len(moved)
        notes.append(
            f"Left out, because their files are those of the revision before: {equal} of {len(kept)}."
        )
    return [Revision(c.id, _label(c, tagged, words), c.tree, c.subject) for c in moved], notes


def _label(commit: Commit, tagged: Mapping[str, Sequence[str]], words: Sequence[str]) -> str:
    names = tagged.get(commit.id, ())
    return next((name for name in names if name in words), names[0] if names else commit.short)
