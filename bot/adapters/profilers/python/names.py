"""Names Python code as people do: module by its place among packages, file relative to the checkout."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from bot.adapters.profilers.reports import clean_name
from bot.model.profiles import Method

_MOST_BYTES = 1 << 22
_INSTALLED = re.compile(r"^(.*/(?:site|dist)-packages)/(.+)$", re.DOTALL)
_STANDARD = re.compile(r"^(.*/(?:lib|lib64)/(?:python|pypy)3(?:\.\d+)?)/(.+)$", re.DOTALL)
_FROZEN = re.compile(r"^<frozen ([\w.]+)>$")
_ANONYMOUS = re.compile(
    r"^<(?:lambda|listcomp|setcomp|dictcomp|genexpr|generic parameters of .*)>$", re.DOTALL
)


@dataclass(frozen=True)
class Naming:
    """Names the code of one process. `root`: the checkout; `cwd`: where it began; `agent`: our own code."""

    root: Path
    cwd: str
    agent: Path | None = None
    _places: dict[str, tuple[str, str | None] | None] = field(default_factory=dict)

    def method(self, file: str, line: int, qualified: str) -> Method | None:
        """The method; None: it has no name of its own and counts to its caller."""
        if _ANONYMOUS.match(qualified.rpartition(".")[2]):
            return None
        if file not in self._places:
            self._places[file] = self._place(file)
        place = self._places[file]
        if place is None:
            return None
        return Method(clean_name(f"{place[0]}:{qualified}"), place[1], line if line > 0 else None)

    def _place(self, file: str) -> tuple[str, str | None] | None:
        """Module and file; None: code that was generated."""
        if frozen := _FROZEN.match(file):
            return frozen[1], None
        if file.startswith("<") or not file or "\0" in file:
            return None
        if self.agent is not None and file.startswith(f"{self.agent}/"):
            return None
        path = os.path.normpath(os.path.join(self.cwd, file))  # noqa: PTH118  (text of a stranger, no place of ours)
        for pattern in (_INSTALLED, _STANDARD):
            if found := pattern.match(path):
                return _module(found[2]), self._source(found[2], Path(path))
        inside = self._inside(path)
        if inside is None:
            return _module(os.path.basename(path)), None  # noqa: PTH119
        return _module(_from_package(self.root, inside)), clean_name(inside)

    def _inside(self, path: str) -> str | None:
        """The path relative to the checkout, also when one of both was reached through a link."""
        roots = dict.fromkeys((os.path.normpath(self.root), os.path.realpath(self.root)))
        for place in dict.fromkeys((path, os.path.realpath(path))):
            for root in roots:
                if place.startswith(f"{root}/"):
                    return place[len(root) + 1 :]
        return None

    def _source(self, installed: str, path: Path) -> str | None:
        """The file of the checkout that an installed one is a copy of, byte for byte."""
        for candidate in (installed, f"src/{installed}"):
            if _same(self.root / candidate, path):
                return clean_name(candidate)
        return None


def suffixes(module: str, file: str | None) -> list[str]:
    """How the path of a module's file may end; more than one module may share an end."""
    place = module.replace(".", "/")
    ends = [f"{place}.py", f"{place}/__init__.py"]
    return list(dict.fromkeys([file, *ends] if file else ends))


def _module(relative: str) -> str:
    """`pkg/mod.py` -> `pkg.mod`, `pkg/__init__.py` -> `pkg`."""
    parts = relative.split("/")
    parts[-1] = re.sub(r"\.(?:py|pyc|pyw)$", "", parts[-1])
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


def _from_package(root: Path, relative: str) -> str:
    """The path from the outermost package on (src/pkg/mod.py -> pkg/mod.py); without packages, as it is."""
    parts = relative.split("/")
    start = len(parts) - 1
    while start > 0 and (root.joinpath(*parts[:start]) / "__init__.py").is_file():
        start -= 1
    if start == len(parts) - 1:
        return "/".join(parts[1:] if len(parts) > 1 and parts[0] == "src" else parts)
    return "/".join(parts[start:])


def _same(ours: Path, installed: Path) -> bool:
    try:
        small = ours.is_file() and installed.is_file() and 0 < ours.stat().st_size <= _MOST_BYTES
        if not small or ours.stat().st_size != installed.stat().st_size:
            return False
        return ours.read_bytes() == installed.read_bytes()
    except OSError:
        return False
