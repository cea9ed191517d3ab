"""Whose configuration file counts: the merge base's, and what its change at head means."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from bot.model.errors import UsageError
from bot.model.revisions import Comparison
from bot.model.subject import Subject

FileAt = Callable[[str, str], str | None]
"""Text of a file at a revision id; None when it is not there."""
Read = Callable[[str, str], Subject]
"""A subject from a file's text and the name to use in error messages; raises UsageError."""


def choose_subject(
    comparison: Comparison, path: PurePosixPath, file_at: FileAt, read: Read
) -> tuple[Subject, list[str]]:
    """The subject that both sides are measured by, and what the reader must know of the choice.

    The file is the base's; before it was ever merged, the head's. Options that only head knows have no base
    and are listed; options that head dropped leave the space, with the constraints that name them.

    Raises:
        UsageError: neither side has the file, or the file that counts is wrong.
    """
    at_base, at_head = (file_at(r.id, str(path)) for r in (comparison.base, comparison.head))
    if at_base is None:
        if at_head is None:
            error = UsageError(f"{path} is neither in base nor in head")
            error.add_note("Run `suspects init`, or give a file with --config.")
            raise error
        return read(at_head, str(path)), [f"`{path}` is new in this pull request: head's file was used."]
    subject = read(at_base, str(path))
    if at_head is None or at_head == at_base:
        gone = at_head is None
        return subject, [f"`{path}` is removed at head: base's file was used."] if gone else []
    notes = [f"`{path}` changes at head: base's file was used, the change applies after merge."]
    try:
        changed = read(at_head, f"{path} at head")
    except UsageError as error:
        return subject, [*notes, f"Head's `{path}` is not valid: {error}"]
    notes += [
        f"Option `{name}` is new at head: it has no base and was not compared."
        for name in changed.options
        if name not in subject.options
    ]
    gone_at_head = [name for name in subject.options if name not in changed.options]
    if len(gone_at_head) == len(subject.options):
        return subject, notes
    notes += [
        f"Option `{name}` is gone at head: it was left at the program's default." for name in gone_at_head
    ]
    return without_options(subject, gone_at_head), notes


def without_options(subject: Subject, names: list[str]) -> Subject:
    """The subject without some options and without the constraints that name them."""
    if not names:
        return subject
    named = re.compile(r"(?<![\w.-])(" + "|".join(map(re.escape, names)) + r")(?![\w.-])")
    return subject.model_copy(
        update={
            "options": {n: o for n, o in subject.options.items() if n not in names},
            "constraints": tuple(c for c in subject.constraints if not named.search(c)),
        }
    )
