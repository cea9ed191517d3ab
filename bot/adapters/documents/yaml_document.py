"""Reads YAML 1.2 into plain values with the line of every key, safely and with one-line errors."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bot.model.errors import UsageError

_Kind = TypeVar("_Kind", bound=BaseModel)
KeyPath: TypeAlias = tuple[Any, ...]
"""Keys and list positions from the top of the document to a value."""

MAX_BYTES = 256 * 1024
MAX_DEPTH = 20  # deeper than any key of ours; stops an alias that contains itself
MAX_NODES = 100_000  # after aliases are expanded; a 256 KB file without aliases cannot have more


@dataclass
class Document:
    """The value of a document and the line (from 1) of each key path in it."""

    value: Any
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int:
        """Line of a key path, or of the nearest key above it that exists."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def wrong(self, place: KeyPath, problem: str, *, name: str) -> UsageError:
        """An error of one line: the file's name, the line, the key, and what is wrong there."""
        said = f"{'.'.join(str(part) for part in place)}: {problem}"
        return UsageError(f"{name}:{self.line(place)}: {' '.join(said.split())[:1000]}")


def decode(data: bytes, *, name: str) -> str:
    """Text of a file's bytes.

    Raises:
        UsageError: larger than 256 KB, or not UTF-8.
    """
    if len(data) > MAX_BYTES:
        raise UsageError(f"{name}: the file has {len(data)} bytes; at most {MAX_BYTES} are read")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{name}:{line}: the file is not UTF-8 text; save it as UTF-8") from None


def validated(text: str, kind: type[_Kind], *, name: str) -> tuple[Document, _Kind | None]:
    """A text's document, and what a model makes of it; None: the document is empty.

    Raises:
        UsageError: as `parse`, or the first thing that the model does not allow.
    """
    document = parse(text, name=name)
    if document.value is None:
        return document, None
    try:
        return document, kind.model_validate(document.value)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        problem = detail["msg"].removeprefix("Value error, ").replace("tuple", "list")
        raise document.wrong(detail["loc"], f"{problem[:1].lower()}{problem[1:]}", name=name) from None


def parse(text: str, *, name: str) -> Document:
    """The single document of a text.

    Raises:
        UsageError: too large, no YAML 1.2, a key twice, unknown tags, or aliases that expand without end.
    """
    if len(text) > MAX_BYTES:
        raise UsageError(f"{name}: the file has {len(text)} characters; at most {MAX_BYTES} are read")
    yaml = YAML(typ="safe", pure=True)
    try:
        node = yaml.compose(text)
        reader = _Reader(yaml, name)
        return Document(None if node is None else reader.value(node, ()), reader.lines)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}" if mark else name
        problem = " ".join(str(error.problem or error.context).split())
        if "'\\t'" in problem:
            problem = "a tab cannot indent; use spaces"
        elif problem.endswith("but got '{'"):  # of {number: [1], flag: -O{value}}
            problem += "; a text with { or } in it needs quotes"
        raise UsageError(f"{place}: not YAML: {problem}") from None
    except YAMLError as error:
        raise UsageError(f"{name}: not YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise UsageError(f"{name}: not read: nested too deeply") from None


class _Reader:
    """Turns composed nodes into plain values; counts what aliases expand to."""

    def __init__(self, yaml: YAML, name: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._yaml = yaml
        self._name = name
        self._nodes = 0

    def value(self, node: Node, path: KeyPath) -> Any:
        self._nodes += 1
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if len(path) > MAX_DEPTH or self._nodes > MAX_NODES:
            raise self._error(line, "nested too deeply, or aliases that expand without end")
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(child, (*path, i)) for i, child in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: MappingNode, path: KeyPath) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key_node, child in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, ScalarNode):
                raise self._error(line, "a key must be a single word, not a list or a mapping")
            key = self._scalar(key_node)
            if key in result:
                first = self.lines[(*path, key)]
                raise self._error(line, f"the key {key} stands twice (first in line {first}); keep one")
            self.lines[(*path, key)] = line
            result[key] = self.value(child, (*path, key))
        return result

    def _scalar(self, node: Node) -> Hashable:
        line = node.start_mark.line + 1
        try:
            value: Hashable = self._yaml.constructor.construct_object(node)
        except ValueError as error:  # looks like a date or a number and is none
            raise self._error(line, f"not YAML: {error}; put it in quotes") from None
        if isinstance(value, str) and "\0" in value:
            raise self._error(line, "a NUL character cannot be part of a command or a name; remove it")
        return value

    def _error(self, line: int, problem: str) -> UsageError:
        return UsageError(f"{self._name}:{line}: {problem}")
