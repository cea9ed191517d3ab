"""Source texts of methods, from where they are named to where their block ends: what renaming keeps."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
# What braces in it do not count: comments, strings, characters.
_OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n]){1,8}'|`(?:\\.|[^`\\])*`", re.DOTALL
)


def bodies(root: Path, methods: Iterable[Method]) -> Mapping[Method, str]:
    """Texts of the methods whose file, line and name are found in the checkout; others are left out.

    Languages with braces, and Python. The text begins with the line that names the method.
    """
    by_file: dict[str, list[Method]] = defaultdict(list)
    for method in methods:
        if method.file is not None and method.line is not None:
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
    named = _named_at(lines, method)
    if named is None:
        return None
    begin, column = named
    python = (method.file or "").endswith(".py")
    text = _indented(lines[begin:]) if python else _braced(lines[begin:], column)
    return (begin, text) if text else None


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
    plain = method.name
    while (shorter := _INNERMOST.sub("", plain)) != plain:
        plain = shorter
    word = _LAST_WORD.search(plain)
    if word is None or method.line is None or not 0 < method.line <= len(lines):
        return None
    javascript = _JAVASCRIPT.search(method.file or "") is not None
    quoted = r"(?:['\"]\s*\]?)?" if javascript else ""  # a key of a class or literal that is no identifier
    name = re.compile(rf"(?<!\w){re.escape(word[0])}{quoted}\s*(?:<[^<>()]*>\s*)?\(")
    value = re.compile(rf"(?<![\w$]){re.escape(word[0])}{_FUNCTION_BEHIND}")
    for number in range(method.line - 1, max(-1, method.line - 1 - LINES_BEFORE), -1):
        match = name.search(lines[number])
        if match is not None and not _calls(lines[number][: match.start()]):
            return number, match.start()
        match = value.search(lines[number]) if javascript else None
        if match is not None:
            return number, match.start()
    return None


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
