"""Reports that hooks in a profiled program leave, and what such hooks are handed: bounded and checked."""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from bot.adapters.profilers import evidence
from bot.adapters.reading.answers import Told
from bot.model.profiles import Method, Target

MOST_REPORTS = 500
MOST_BYTES = 128 << 20
MOST_BYTES_IN_ALL = 512 << 20
MOST_CHARACTERS = 300
"""Of a method's name; the end of a longer one is replaced by its hash."""


def clean_name(text: str) -> str:
    """A name without control, direction and surrogate characters, in one line, of a bounded length."""
    visible = (" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c)[0] != "C")
    name = " ".join("".join(visible).split())
    if len(name) <= MOST_CHARACTERS:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: MOST_CHARACTERS - 9]}~{digest}"


Name = Annotated[str, AfterValidator(clean_name)]
"""Of a method or file, as a reader tells it."""


AnyReport = TypeVar("AnyReport", bound=BaseModel)


class ToldMethod(NamedTuple):
    """A method, as a reader tells it."""

    name: Name
    file: Name | None = None
    line: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None

    @property
    def method(self) -> Method:
        """The same, to compare with others."""
        return Method(*self)


@dataclass(frozen=True)
class Reports:
    """What was left in a folder: contents by file name, and how many files were not read."""

    contents: Mapping[str, bytes]
    left: int = 0


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


class ToldReports(Told, Generic[AnyReport]):
    """What a reader tells of a folder: reports that are what they should be, how many are not.

    files: that were read; unread: that were not; began: processes that told that they have begun.
    """

    reports: list[AnyReport] = Field(default_factory=list)
    refused: int = 0
    files: int = 0
    unread: int = 0
    began: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """On what was left out."""
        damaged = (f"{self.refused} profile files were damaged and left out.",) if self.refused else ()
        return (*unread(self.unread), *damaged)


def read_as(
    folder: Path, kind: type[AnyReport], *, by_line: bool = False, fits: Callable[[AnyReport], bool] = bool
) -> ToldReports[AnyReport]:
    """The reports of a folder (`.json`), each a file, or a line of one; those that do not fit are refused."""
    found = read_reports(folder, ".json")
    each = (c.splitlines() if by_line else [c] for c in found.contents.values())
    reports, refused = [], 0
    for content in chain.from_iterable(each):
        try:
            report = kind.model_validate_json(content)
        except ValidationError:
            refused += 1
            continue
        if fits(report):
            reports.append(report)
        else:
            refused += 1
    return ToldReports[kind](  # type: ignore[valid-type]
        reports=reports,
        refused=refused,
        files=len(found.contents),
        unread=found.left,
        began=len(names_in(folder, ".began")),
    )


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
    """Regular files with this suffix; links, pipes and what is too large or too many is left."""
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
    return Reports(contents, left)


def unread(left: int) -> tuple[str, ...]:
    """A note on files that were not read."""
    return (f"{left} profile files were not read: too many, too large, or no plain files.",) if left else ()
