"""Which words of a fork's report may be shown: names and values of harmless characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.model.errors import ArtifactError
from bot.model.space import Value

_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9_.:+-]{0,98}[A-Za-z0-9_+])?"
_VALUE = r"[A-Za-z0-9_+-](?:[A-Za-z0-9_.,:+%/-]{0,98})"
WORD = re.compile(_VALUE)
LEVEL = re.compile(rf"!?{_NAME}(?:(?:=|>=|<){_VALUE})?")
METHOD = re.compile(r"[A-Za-z0-9_$~*(](?:[A-Za-z0-9_$.:~*()<>&\[\]-]|, ?(?=[A-Za-z0-9_])){0,199}")
"""Generics and receivers too, but no spaces: a name must not become a sentence."""
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}")
MACHINE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .,+()-]{0,99}")
REVISION = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LINKS = re.compile(r"//|www\.|\.\.", re.IGNORECASE)
"""What a site would turn into a link (or a path into another folder) although every character is harmless."""
UNNAMED = "(name not shown)"
"""For a method whose name is harmful: without its share the others would not add up."""


def word(text: str, pattern: re.Pattern[str] = WORD) -> str:
    """The text itself when harmless; a comment that names something else would be worse than none."""
    if not pattern.fullmatch(text) or _LINKS.search(text):
        raise ArtifactError("the report names something that no option, level or metric is called")
    return text


def kept(text: str | None, pattern: re.Pattern[str]) -> str | None:
    """The text when harmless, else None: for words that a reader can do without."""
    return text if text and pattern.fullmatch(text) and not _LINKS.search(text) else None


def name(method: str) -> str:
    """A method's name, or that it is not shown."""
    return kept(method, METHOD) or UNNAMED


def term(levels: Iterable[str]) -> tuple[str, ...]:
    """A term of harmless levels."""
    return tuple(word(level, LEVEL) for level in levels)


def options(given: Mapping[str, Value]) -> dict[str, Value]:
    """Options and values, all harmless."""
    return {word(one): word(value) if isinstance(value, str) else value for one, value in given.items()}
