"""Reports that hooks in a profiled program leave, and what such hooks are handed: bounded and checked."""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.adapters.profilers import evidence
from bot.model.profiles import Target

MOST_REPORTS = 500
MOST_BYTES = 128 << 20
MOST_BYTES_IN_ALL = 512 << 20
MOST_CHARACTERS = 300
"""Of a method's name; the end of a longer one is replaced by its hash."""


@dataclass(frozen=True)
class Reports:
    """What was left in a folder: contents by file name, and what could not be read, one sentence each."""

    contents: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


def tool_folder(
    target: Target, what: str, sources: Iterable[Path] = (), settings: Mapping[str, Any] | None = None
) -> Path:
    """A new folder in the target's scratch, writable for its account, with copies of `sources` in it.

    `settings` go to `settings.json`. It may not be able to read our own files.

    Raises:
        OSError: it could not be made.
    """
    folder = evidence.folder_for(target, what)
    for source in sources:
        (folder / source.name).write_bytes(source.read_bytes())
    if settings is not None:
        (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    for entry in folder.iterdir():
        entry.chmod(0o644)
    return folder


def names_in(folder: Path, suffix: str) -> list[str]:
    """Names of the entries with this suffix, in order, at most ten times as many as are read."""
    names: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(suffix):
                names.append(entry.name)
            if len(names) >= 10 * MOST_REPORTS:
                break
    return sorted(names)


def read_reports(folder: Path, suffix: str) -> Reports:
    """Regular files with this suffix; links, pipes and what is too large or too many is left, with a note."""
    contents: dict[str, bytes] = {}
    left, size = 0, 0
    for name in names_in(folder, suffix):
        try:
            content = evidence.read_file(folder / name, most=min(MOST_BYTES, MOST_BYTES_IN_ALL - size))
        except OSError:
            left += 1
            continue
        if len(contents) >= MOST_REPORTS:
            left += 1
            continue
        contents[name] = content
        size += len(content)
    notes = (f"{left} profile files were not read: too many, too large, or no plain files.",) if left else ()
    return Reports(contents, notes)


def clean_name(text: str) -> str:
    """A name without control, direction and surrogate characters, in one line, of a bounded length."""
    visible = (" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c)[0] != "C")
    name = " ".join("".join(visible).split())
    if len(name) <= MOST_CHARACTERS:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: MOST_CHARACTERS - 9]}~{digest}"
