"""From places that V8 tells (file, line, column, offsets) to methods, by parsing the files that ran."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from pydantic import TypeAdapter

from bot.adapters.profilers.evidence import told
from bot.adapters.profilers.node.parsing import ask_parser, valid_lines
from bot.adapters.profilers.reports import clean_name
from bot.model.profiles import Method, Target

MOST_FILES = 20_000
MOST_TOLD = 500
"""Characters of a name that sampler.cjs passes on."""
MODULE = "<module>"
"""The code of a file outside of all functions."""
_SUFFIX = re.compile(r"\.[cm]?[jt]sx?$")


class _Function(NamedTuple):
    """As names.cjs tells it: offsets of its text, the place V8 tells, its end; that place as line, column."""

    name: str | None
    outer: int
    start: int
    end: int
    line: int
    column: int


_PARSED: TypeAdapter[tuple[str, list[_Function] | str]] = TypeAdapter(tuple[str, list[_Function] | str])


class Frame(NamedTuple):
    """A function as V8 tells it: its own short name, the script's url, line and column from 0."""

    name: str
    url: str
    line: int
    column: int


class Span(NamedTuple):
    """A function as block coverage tells it: its own short name, the script's url, offsets of its text."""

    name: str
    url: str
    start: int
    end: int


@dataclass
class SourceFile:
    """A file that ran. `parsed`: its functions are known, and they are those that ran."""

    module: str
    file: str | None
    parsed: bool = False
    places: dict[tuple[int, int], _Function] = field(default_factory=dict)
    ends: dict[int, list[_Function]] = field(default_factory=dict)

    def learn(self, functions: list[_Function]) -> None:
        """Takes what parsing found."""
        self.parsed = True
        for one in functions:
            self.places[one.line, one.column] = one
            self.ends.setdefault(one.end, []).append(one)

    def at(self, frame: Frame) -> _Function | None:
        """The function that begins there."""
        return self.places.get((frame.line, frame.column))

    def over(self, span: Span) -> _Function | None:
        """The function whose text that is."""
        return next((f for f in self.ends.get(span.end, ()) if f.outer <= span.start <= f.start), None)

    def method(self, name: str, line: int) -> Method:
        """A method of this file; `line` from 0."""
        return Method(f"{self.module}:{clean_name(name)}", self.file, line + 1)


class Sources:
    """Names what ran in one target: `parse` first, then ask."""

    def __init__(self, target: Target) -> None:
        self.notes: list[str] = []
        self._target = target
        self._root = target.root.resolve()
        self._scratch = target.scratch.resolve()
        self._files: dict[str, SourceFile | None] = {}

    def parse(self, frames: Collection[Frame], spans: Collection[Span]) -> None:
        """Parses the files in which these are as the target's account, in a process with little time.

        Raises:
            OSError: the scratch folder cannot take the parser.
        """
        urls = {frame.url for frame in frames} | {span.url for span in spans}
        wanted = sorted({path for url in urls if (path := _path(url)) and self._file(path)})
        answer, notes = ask_parser(self._target, "names.cjs", wanted[:MOST_FILES])
        self.notes.extend(notes)
        self._read(answer)
        self._doubt(frames, spans)
        self._tell(wanted)

    def method(self, frame: Frame) -> Method | None:
        """The method of a frame; None: anonymous, generated or Node's own, so it counts to its caller."""
        source = self._source(frame.url)
        if source is None:
            return None
        if frame.line <= 0 and frame.column <= 0 and not frame.name:
            return source.method(MODULE, 0)
        if not source.parsed:
            own = frame.name and not frame.name.startswith(("<", "("))
            return source.method(frame.name, frame.line) if own else None
        found = source.at(frame)
        return source.method(found.name, found.line) if found and found.name else None

    def method_over(self, span: Span) -> Method | None:
        """The method whose text that is; None: it has none, or is not sure."""
        source = self._source(span.url)
        found = source.over(span) if source and source.parsed else None
        return source.method(found.name, found.line) if source and found and found.name else None

    def _source(self, url: str) -> SourceFile | None:
        path = _path(url)
        return self._file(path) if path else None

    def _file(self, path: str) -> SourceFile | None:
        """What a path is known as; None: generated at run time."""
        if path not in self._files:
            self._files[path] = self._identify(Path(path))
        return self._files[path]

    def _identify(self, path: Path) -> SourceFile | None:
        if path.is_relative_to(self._scratch) or path.is_relative_to(self._target.scratch):
            return None
        for root in (self._root, self._target.root):
            if path.is_relative_to(root):
                inside = path.relative_to(root).as_posix()
                return SourceFile(module_of(inside), inside)
        outside = path.as_posix().rpartition("/node_modules/")[2]
        return SourceFile(module_of(outside), None)

    def _read(self, answer: Path) -> None:
        try:
            found = told(self._target, tell_functions, answer, files=[answer.parent])
        except OSError:
            return
        for path, functions in found:
            if (source := self._files.get(path)) is not None:
                source.learn(functions)

    def _doubt(self, frames: Iterable[Frame], spans: Iterable[Span]) -> None:
        """A file with functions where parsing finds others, or none, is not what ran: it was translated."""
        for frame in frames:
            source = self._source(frame.url)
            if source and source.parsed:
                source.parsed = _agree(frame.name, source.at(frame))
        for span in spans:
            source = self._source(span.url)
            if source and source.parsed:
                source.parsed = _agree(span.name, source.over(span))

    def _tell(self, wanted: list[str]) -> None:
        unread = [known.module for path in wanted if (known := self._file(path)) and not known.parsed]
        if unread:
            self.notes.append(
                f"The functions of {len(unread)} files (first: {unread[0]}) have the short names that V8 "
                "gives them: the files could not be parsed, or are not what ran."
            )


def tell_functions(answer: Path) -> list[tuple[str, list[_Function]]]:
    """A reader: the functions of the files that could be parsed."""
    each = valid_lines(answer, _PARSED)
    return [(path, functions) for path, functions in each if not isinstance(functions, str)]


def module_of(file: str) -> str:
    """How a file is called in the names of its methods: its path without the suffix of its language."""
    return clean_name(_SUFFIX.sub("", file))


def _path(url: str) -> str | None:
    """The file behind a script's url; None for Node's own and for evaluated code."""
    if url.startswith("file://"):
        url = unquote(url.removeprefix("file://").partition("?")[0].partition("#")[0])
    return url if url.startswith("/") and "\0" not in url else None


def _agree(told: str, found: _Function | None) -> bool:
    """Whether V8's own name of a function can be that of the parsed one. V8 has none for many."""
    if not told or told.startswith("<") or len(told) >= MOST_TOLD:
        return True
    if found is None or not found.name:
        return found is not None
    # For a function without a name of its own V8 guesses from what stands around it.
    return any(f".{t}." in f".{found.name}." for t in (told, told.rpartition(".")[2]))
