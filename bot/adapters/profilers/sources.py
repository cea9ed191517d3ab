"""Source texts of methods, from where they are named to where their block ends: what renaming keeps."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bot.adapters.profilers.evidence import read_file
from bot.adapters.profilers.reports import ToldMethod
from bot.adapters.reading.reader import read
from bot.model.profiles import Method
from bot.model.sites import Site

MOST_BYTES = 16 << 20
"""Of a source file: programs in one file (SQLite's amalgamation) have 9 MB."""
MOST_LINES = 3000
"""Of a method."""
LINES_BEFORE = 24
"""An optimised function may seem to begin a few lines after its name, or behind its last parameter."""

_Line = Annotated[int, Field(ge=0, lt=1 << 31)]
_LAST_WORD = re.compile(r"\w+(?=\W*$)")
_INNERMOST = re.compile(r"<[^<>]*>")
_BEFORE_CALL = re.compile(r"[{;=]|\b(?:return|if|while|for|switch)\b")
_BEFORE_FUNCTION = re.compile(r"\bfunction\b[\s*]*$")
_JAVASCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_FUNCTION_BEHIND = r"""['"]?\s*[:=,]\s*(?:async\b\s*)?(?:function\b|\(|[\w$]+\s*=>)"""
"""What follows the name of a function that is a value: assigned, of a key, or handed over with it."""
_PYTHON_BLOCK = re.compile(r"(\s*)(?:async\s+)?(?:def|class)\s+(\w+)")
_CALLED = re.compile(r"[^(){};=]*\([^(){}]*\)[ \t]*\n\s*(?:if|for|while|switch|return|try|do|else)\b")
"""A call without a semicolon behind it, and the next statement."""
# What braces in it do not count: comments, strings, characters.
_OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n]){1,8}'|`(?:\\.|[^`\\])*`", re.DOTALL
)


def bodies(root: Path, methods: Iterable[Method]) -> Mapping[Method, str]:
    """Texts of the methods whose file, line and name are found in the checkout; others are left out.

    Languages with braces, and Python. The text begins with the line that names the method. One without a line
    is found where the whole file has one function of its name (in Python: and of its class).
    """
    by_file: dict[str, list[Method]] = defaultdict(list)
    for method in methods:
        if method.file is not None:
            by_file[method.file].append(method)
    found: dict[Method, str] = {}
    for file, several in by_file.items():
        lines = _lines(root, file)
        for method in several:
            if (placed := _placed(lines, method)) is not None:
                found[method] = placed[1]
    return found


def extent(root: Path, method: Method) -> range:
    """Lines of a method in its file, from 1; empty where its text is not found."""
    placed = None if method.file is None else _placed(_lines(root, method.file), method)
    return range(0) if placed is None else range(placed[0] + 1, placed[0] + 2 + placed[1].count("\n"))


def bodies_at(site: Site, methods: Iterable[Method]) -> Mapping[Method, str]:
    """The same of a side's checkout, read where it does no harm; none, if they cannot be read."""
    several = list(methods)
    asked = [ToldMethod(method.name, method.file, method.line) for method in several]
    try:
        found = read(tell_bodies, site.root, asked, files=[site.root], account=site.account)
    except OSError:
        return {}
    return {several[number]: text for number, text in found if 0 <= number < len(several)}


def extent_at(site: Site, method: Method) -> range:
    """The same of a side's checkout, read where it does no harm; empty, if it cannot be read."""
    asked = ToldMethod(method.name, method.file, method.line)
    try:
        found = read(tell_extent, site.root, asked, files=[site.root], account=site.account)
    except OSError:
        return range(0)
    return range(*found)


def tell_bodies(root: Path, asked: list[ToldMethod]) -> list[tuple[int, str]]:
    """A reader: texts by the number of the method that was asked for."""
    methods = [told.method for told in asked]
    found = bodies(root, methods)
    return [(number, found[method]) for number, method in enumerate(methods) if method in found]


def tell_extent(root: Path, asked: ToldMethod) -> tuple[_Line, _Line]:
    """A reader: the first line, and the one behind the last."""
    lines = extent(root, asked.method)
    return lines.start, lines.stop


def _placed(lines: Sequence[str], method: Method) -> tuple[int, str] | None:
    """The line, from 0, at which a method's text begins, and that text."""
    if method.line is None:
        return _only(lines, method)
    named = _named_at(lines, method)
    return None if named is None else _text_at(lines, method, *named)


def _text_at(lines: Sequence[str], method: Method, begin: int, column: int) -> tuple[int, str] | None:
    python = (method.file or "").endswith(".py")
    text = _indented(lines[begin:]) if python else _braced(lines[begin:], column)
    return (begin, text) if text else None


def _only(lines: Sequence[str], method: Method) -> tuple[int, str] | None:
    """Where a file has one function of a method's name; a text that may be a call's is none."""
    found = []
    named = _naming(method)
    for begin, line in enumerate(lines):
        column = named(line)
        if column is None or not _defines(lines, method, begin, column):
            continue
        if (placed := _text_at(lines, method, begin, column)) is not None:
            found.append(placed)
    return found[0] if len(found) == 1 else None


def _defines(lines: Sequence[str], method: Method, begin: int, column: int) -> bool:
    """Whether a name is that of a function here: by `def` and its class, or by what comes behind it."""
    if (method.file or "").endswith(".py"):
        return _qualified(lines, begin) == method.name.partition(":")[2].replace(".<locals>", "")
    behind = "\n".join(lines[begin : begin + LINES_BEFORE])[column:]
    return _CALLED.match(behind) is None


def _qualified(lines: Sequence[str], begin: int) -> str:
    """The name of a Python function with those of the blocks that it stands in; empty: it is none."""
    names: list[str] = []
    depth = 1 << 31
    for line in reversed(lines[: begin + 1]):
        block = _PYTHON_BLOCK.match(line)
        if block is None or (indented := len(block[1])) >= depth:
            if not names:
                return ""
            continue
        names.append(block[2])
        depth = indented
        if not depth:
            break
    return ".".join(reversed(names))


def _lines(root: Path, file: str) -> Sequence[str]:
    try:
        path = (root / file).resolve()
        if not path.is_relative_to(root.resolve()):
            return ()
        return read_file(path, most=MOST_BYTES).decode("utf-8", "replace").split("\n")
    except (OSError, ValueError, RuntimeError):
        return ()


def _named_at(lines: Sequence[str], method: Method) -> tuple[int, int] | None:
    """The line, at or shortly before where the method begins, that names it, and the name's column."""
    if method.line is None or not 0 < method.line <= len(lines):
        return None
    named = _naming(method)
    for number in range(method.line - 1, max(-1, method.line - 1 - LINES_BEFORE), -1):
        if (column := named(lines[number])) is not None:
            return number, column
    return None


def _naming(method: Method) -> Callable[[str], int | None]:
    """What finds the column at which a line names the method; None: it does not."""
    plain = method.name
    while (shorter := _INNERMOST.sub("", plain)) != plain:
        plain = shorter
    word = _LAST_WORD.search(plain)
    if word is None:
        return lambda _: None
    javascript = _JAVASCRIPT.search(method.file or "") is not None
    quoted = r"(?:['\"]\s*\]?)?" if javascript else ""  # a key of a class or literal that is no identifier
    name = re.compile(rf"(?<!\w){re.escape(word[0])}{quoted}\s*(?:<[^<>()]*>\s*)?\(")
    value = re.compile(rf"(?<![\w$]){re.escape(word[0])}{_FUNCTION_BEHIND}")

    def column(line: str) -> int | None:
        match = name.search(line)
        if match is not None and not _calls(line[: match.start()]):
            return match.start()
        match = value.search(line) if javascript else None
        return None if match is None else match.start()

    return column


def _calls(before: str) -> bool:
    """Whether a name and a parenthesis behind this text are a call: attributes close their parentheses."""
    if _BEFORE_FUNCTION.search(before):
        return False
    return _BEFORE_CALL.search(before) is not None or before.count("(") != before.count(")")


def _braced(lines: Sequence[str], column: int) -> str:
    """Up to the brace that closes the first one behind the name in this column, outside of parentheses.

    Nothing, when a statement ends before it (a call, say).
    """
    text = "\n".join(lines[:MOST_LINES])
    plain = _OPAQUE.sub(lambda match: " " * len(match[0]), text)
    depth = within = 0
    for place, character in enumerate(plain[column:], column):
        if depth == 0 and character in "()":
            within += 1 if character == "(" else -1
        elif depth == 0 and within > 0:
            continue
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth <= 0:
                return text[: place + 1] if depth == 0 else ""
        elif character == ";" and depth == 0:
            return ""
    return ""


def _indented(lines: Sequence[str]) -> str:
    """Up to the first line that is not indented more than the first one, after its colon."""
    depth = len(lines[0]) - len(lines[0].lstrip())
    kept = [lines[0]]
    header = True
    for line in lines[1:MOST_LINES]:
        inside = (
            not line.strip()
            or len(line) - len(line.lstrip()) > depth
            or (header and line.lstrip()[:1] == ")")
        )
        if not inside:
            break
        header = header and not kept[-1].rstrip().endswith(":")
        kept.append(line)
    return "\n".join(kept).rstrip()
