"""Which lines of which files two revisions do not share, by one `git diff` in the mirror."""

from __future__ import annotations

import re

from bot.adapters.repositories.git import Repository
from bot.model.diffs import FileDiff, Hunk
from bot.model.errors import UsageError

LARGEST_FILE = "1m"
"""Larger ones count as binary: nobody wrote them by hand."""
MOST_BYTES = 32 << 20
"""Of the diff's text; files behind are left out."""
MOST_RENAMES = 1000

_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
# A name with control characters or quotes is in quotes: no known method's file is called so. A name with
# blanks has a tab behind it.
_OLD = re.compile(r"^--- a/([^\t\n]+)\t?$", re.MULTILINE)
_NEW = re.compile(r"^\+\+\+ b/([^\t\n]+)\t?$", re.MULTILINE)


def changed_lines(repository: Repository, old: str, new: str) -> tuple[FileDiff, ...] | None:
    """What changed in text files that both revisions (full ids) have; None: one of them cannot be had.

    Added, removed, binary and very large files are left out.
    """
    text = repository.home / "touched.diff"
    try:
        repository.hold(old, new)
        done = repository.mirrored(
            *("-c", "core.quotePath=false", "-c", f"core.bigFileThreshold={LARGEST_FILE}"),
            *(
                "diff",
                "--no-color",
                "--no-ext-diff",
                "--no-textconv",
                "--unified=0",
                "--inter-hunk-context=0",
            ),
            *(
                "--src-prefix=a/",
                "--dst-prefix=b/",
                "--find-renames",
                f"-l{MOST_RENAMES}",
                "--diff-filter=MR",
            ),
            *(f"--output={text}", old, new, "--"),
        )
        if done.code != 0:
            return None
        with text.open("rb") as file:
            return parsed(file.read(MOST_BYTES).decode("utf-8", "replace"))
    except (UsageError, OSError):
        return None
    finally:
        text.unlink(missing_ok=True)


def parsed(diff: str) -> tuple[FileDiff, ...]:
    """Reads a diff without context lines: every line of a file begins with a sign, so it is no header."""
    found = []
    for section in _FILE.split(diff)[1:]:
        first = _HUNK.search(section)
        if first is None:  # binary, or only renamed
            continue
        names = [pattern.search(section, 0, first.start()) for pattern in (_OLD, _NEW)]
        if names[0] and names[1]:
            hunks = tuple(_hunk(match) for match in _HUNK.finditer(section))
            found.append(FileDiff(names[0][1], names[1][1], hunks))
    return tuple(found)


def _hunk(match: re.Match[str]) -> Hunk:
    old, old_count, new, new_count = (int(group) if group else 1 for group in match.groups())
    return Hunk(_lines(old, old_count), _lines(new, new_count))


def _lines(first: int, count: int) -> range:
    """Git names the line before, where there is none."""
    return range(first, first + count) if count else range(first + 1, first + 1)
