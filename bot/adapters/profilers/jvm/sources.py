"""Which source file of the checkout a JVM method is in, and where in it the method begins."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from bot.adapters.profilers import evidence
from bot.adapters.profilers.evidence import told
from bot.adapters.profilers.reports import ToldMethod, clean_name
from bot.model.profiles import Method, Target

MOST_FILES = 200_000
MOST_BYTES = 4 << 20
MOST_LINES_UP = 2000
_SUFFIXES = (".java", ".kt", ".scala", ".groovy")
_NO_DECLARATION = re.compile(r"^\s*(return|new|else|if|while|for|switch|throw|assert|\.|//|\*)\b|=|;\s*$")


class Placed:
    """Methods by their qualified name and a line that was seen in them; those not asked for have no file."""

    def __init__(self, target: Target, asked: Iterable[tuple[str, int | None]]) -> None:
        """Has a checkout read where it does no harm; `notes` says if it could not be."""
        self.notes: tuple[str, ...] = ()
        self._known: dict[tuple[str, int | None], Method] = {}
        several = list(dict.fromkeys(asked))
        try:
            found = told(target, tell_places, target.root, several, files=[target.root])
        except OSError as error:
            self.notes = (f"Source files could not be read, so that methods have none: {error}.",)
            return
        self._known = {one: place.method for one, place in zip(several, found, strict=False)}

    def method(self, name: str, line: int | None = None) -> Method:
        """The method of this qualified name; `line`: one that was seen running in it."""
        return self._known.get((name, line)) or Method(clean_name(name))


def tell_places(root: Path, asked: list[tuple[str, int | None]]) -> list[ToldMethod]:
    """A reader: where methods are, as many as were asked for."""
    sources = Sources(root)
    found = [sources.method(name, line) for name, line in asked]
    return [ToldMethod(method.name, method.file, method.line) for method in found]


@dataclass
class Sources:
    """Looks once through a checkout; a method whose file is not the only one of its name has none."""

    root: Path
    _by_stem: dict[str, list[PurePosixPath]] = field(default_factory=dict)
    _lines: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Lists the source files, links not followed."""
        found: defaultdict[str, list[PurePosixPath]] = defaultdict(list)
        seen = 0
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                if name.endswith(_SUFFIXES):
                    path = PurePosixPath(Path(folder, name).relative_to(self.root).as_posix())
                    found[path.stem].append(path)
            seen += len(files)
            if seen > MOST_FILES:
                break
        self._by_stem = dict(found)

    def method(self, name: str, line: int | None = None) -> Method:
        """The method of this qualified name; `line`: one that was seen running in it."""
        name = clean_name(name)
        file = self._file(name)
        return Method(name, file, self._beginning(file, name, line) if file and line else None)

    def _file(self, name: str) -> str | None:
        parts = tuple(name.split(".")[:-1])
        for end in range(len(parts), 0, -1):
            stem = parts[end - 1]
            for known in dict.fromkeys((stem, stem.removesuffix("Kt"))):
                wanted = (*parts[: end - 1], known)
                paths = [
                    p for p in self._by_stem.get(known, ()) if (*p.parent.parts, p.stem)[-end:] == wanted
                ]
                if len(paths) == 1:
                    return str(paths[0])
        return None

    def _beginning(self, file: str, name: str, line: int) -> int | None:
        """The nearest line above that reads like the method's declaration; None: nothing sure."""
        if file not in self._lines:
            try:
                text = evidence.read_file(self.root / file, most=MOST_BYTES).decode("utf-8", "replace")
            except OSError:
                text = ""
            self._lines[file] = text.split("\n")
        *_, owner, own = name.split(".")
        declared = re.compile(rf"(^|[\s>\]]){re.escape(owner if own == '<init>' else own)}\s*[(<]")
        lines = self._lines[file][:line]
        for number in range(len(lines), max(0, len(lines) - MOST_LINES_UP), -1):
            text = lines[number - 1].partition("{")[0]
            if declared.search(text) and not _NO_DECLARATION.search(text):
                return number
        return None
