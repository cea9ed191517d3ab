"""Where source lines can be read: the repository's own address, a commit, a plain path, a line."""

from __future__ import annotations

import re
from urllib.parse import quote

from bot.model.report import Report
from bot.report.formats import Prose, code, linked, prose

LONGEST_PATH = 300
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def place(report: Report, file: str | None, line: int | None, *, at_base: bool = False) -> Prose:
    """`file:line` as code, leading to that line at head (or base) when known where; empty without a file."""
    if not file:
        return prose("")
    revision = report.base if at_base else report.head
    address = _address(report.repository, revision.revision if revision else "", file)
    anchor = f"#L{line}" if address and line is not None and line > 0 else ""
    return linked(code(f"{file}:{line}" if line else file), address + anchor)


def _address(repository: str, commit: str, file: str) -> str:
    """The file's address; "" without a repository and a commit, or for a path that could leave them."""
    if not repository or not _COMMIT.fullmatch(commit) or not inside(file):
        return ""
    return f"{repository}/blob/{commit}/{quote(file)}"


def inside(file: str) -> bool:
    """Whether a path is one of a file in the repository: plain, not too long, and without a way out."""
    steps = file.split("/")
    plain = "\\" not in file and file.isprintable() and len(file) <= LONGEST_PATH
    return plain and not any(step in ("", ".", "..") for step in steps)
