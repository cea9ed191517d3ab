"""Reads the subject program's file; an error is one line: FILE:LINE: KEY: what is wrong; what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.adapters.documents.yaml_document import Document, KeyPath, decode, parse
from bot.model.errors import ConstraintError, UsageError
from bot.model.names import LEVEL_PATTERN
from bot.model.subject import (
    CallableProgram,
    ChoiceOption,
    FlagOption,
    MetricRule,
    NumberOption,
    OnOff,
    Program,
    Server,
    Subject,
    TableProgram,
    Workload,
)
from bot.model.subject_checks import problems
from bot.model.subject_running import Budget, HistoryStore, RunOn

UNSUPPORTED: tuple[KeyPath, ...] = (
    ("options", "uvl"),
    ("options", "dimacs"),
    ("options", "*", "at"),
)
"""Keys of the contract that a later version brings: refused, never ignored."""
UNKNOWN = "unknown key"
SEVERAL = "an option of several values is a choice: {name: arguments, ...}, or a number: [...]"


def load_subject(path: Path) -> Subject:
    """The subject of a file on disk.

    Raises:
        UsageError: the file is missing, cannot be read, or is wrong.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "; `suspects init` writes one" if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}{hint}") from None
    except ValueError as error:  # a NUL in the name
        raise UsageError(f"{path!s:.200}: cannot be read: {error}") from None
    return read_subject(decode(data, name=str(path)), name=str(path), directory=path.parent)


def read_subject(text: str, *, name: str, directory: Path | None) -> Subject:
    """The subject of a file's text; `name` is how errors call it.

    With a `directory`, a table or a callable's module must exist in it. Constraints are not read here.

    Raises:
        UsageError: anything wrong, in one line with the place, the key and what is allowed.
    """
    document = parse(text, name=name)
    found = list(_document_problems(document, directory))
    if found:
        # A key that is not known may be why a value beside it is not right.
        path, message = min(
            found, key=lambda p: (document.line(p[0]), not p[1].startswith(UNKNOWN), -len(p[0]))
        )
        more = len({p for p, _ in found}) - 1
        also = f" ({more} more after this one)" if more else ""
        raise UsageError(_line(name, document, path, message) + also)
    return Subject.model_validate(document.value)


def line_of(text: str, path: KeyPath) -> int:
    """Line (from 1) of a key path such as ("constraints", 0) in a file's text that has been read before."""
    return parse(text, name="").line(path)


def place_constraint(error: ConstraintError, text: str, *, name: str) -> UsageError:
    """The same error with file and line of the first constraint it names."""
    path: KeyPath = ("constraints", *error.indices[:1])
    return UsageError(f"{name}:{line_of(text, path)}: constraints: {error}")


def _line(name: str, document: Document, path: KeyPath, message: str) -> str:
    key = ".".join(str(part) for part in path)
    body = f"{key}: {message}" if key else message
    # A key or a value may hold line breaks and may be long: a person gets one readable line.
    return f"{name}:{document.line(path)}: {' '.join(body.split())[:1000]}"


def _document_problems(document: Document, directory: Path | None) -> Iterator[tuple[KeyPath, str]]:
    value = document.value
    if value is None:
        yield (), "the file is empty; `program` and `options` are needed"
    elif not isinstance(value, dict):
        yield (), f"the file is not a mapping; it starts with one of {', '.join(Subject.model_fields)}"
    elif todo := [path for path in document.lines if _is_todo(_at(value, path))]:
        lines = ", ".join(str(document.line(path)) for path in todo)
        yield todo[0], f"still says TODO: fill it in (TODO in line {lines})"
    elif unsupported := list(_unsupported(value)):
        yield from unsupported
    else:
        try:
            subject = Subject.model_validate(value)
        except ValidationError as error:
            yield from _validation_problems(error, value)
            return
        yield from problems(subject)
        if directory is not None:
            yield from _missing_files(subject, directory)


def _is_todo(value: Any) -> bool:
    """Whether `suspects init` left this value for a person to fill."""
    return isinstance(value, str) and value.startswith("TODO")


def _unsupported(value: Mapping[Any, Any]) -> Iterator[tuple[KeyPath, str]]:
    for pattern in UNSUPPORTED:
        for path in _matches(value, pattern):
            # An option may be called `uvl` or `dimacs`; a model's file is text.
            if path[0] == "options" and len(path) == 2 and isinstance(_at(value, path), Mapping):
                continue
            yield path, "not yet supported; remove the key"


def _matches(value: Any, pattern: KeyPath) -> Iterator[KeyPath]:
    if not pattern:
        yield ()
    elif isinstance(value, Mapping):
        for key in list(value) if pattern[0] == "*" else [pattern[0]]:
            if key in value:
                yield from ((key, *rest) for rest in _matches(value[key], pattern[1:]))


def _at(value: Any, path: Iterable[Any]) -> Any:
    for part in path:
        value = value[part]
    return value


def _validation_problems(error: ValidationError, value: Any) -> Iterator[tuple[KeyPath, str]]:
    for detail in error.errors(include_url=False):
        path = _file_path(detail["loc"], value)
        match detail["type"]:
            case "missing":
                yield path, f"{detail['loc'][-1]} is missing; it is needed"
            case "extra_forbidden":
                yield path, _unknown(path, value)
            case "string_pattern_mismatch":
                yield path, _bad_name(detail["ctx"]["pattern"], detail["input"])
            case "union_tag_not_found" if path == ("program",) or not isinstance(detail["input"], Mapping):
                yield path, f"is {_shown(detail['input'])}; a mapping (key: value) is needed"
            case "union_tag_not_found":
                yield (
                    path,
                    f"has only {', '.join(map(str, detail['input']))}; flag, choice or number is needed",
                )
            case "invalid_key":
                yield path, "a key must be text; put it in quotes"
            case "value_error":
                yield path, f"is {_shown(detail['input'])}; {detail['ctx']['error']}"
            case kind:
                yield path, _wrong(kind, detail.get("ctx", {}), detail["input"])


def _file_path(location: tuple[Any, ...], value: Any) -> KeyPath:
    """The key path in the file: pydantic adds union members and leaves out the name of a metric."""
    path: list[Any] = []
    for part in location:
        if path[:1] == ["metrics"] and isinstance(value, Mapping) and part not in value and len(value) == 1:
            ((metric, value),) = value.items()
            path.append(metric)
        inside = isinstance(value, Mapping) or (isinstance(value, list) and isinstance(part, int))
        if inside and (part in value if isinstance(value, Mapping) else part < len(value)):
            path.append(part)
            value = value[part]
    return tuple(path)


def _wrong(kind: str, context: Mapping[str, Any], value: Any) -> str:
    shown = _shown(value)
    allowed = {
        "string_type": "text is needed: put it in quotes",
        "bool_type": "true or false is needed",
        "int_type": "a whole number is needed",
        "literal_error": f"allowed: {context.get('expected')}",
        "too_short": "at least one entry is needed",
        "string_too_short": "it must not be empty",
        "tuple_type": "a list is needed",
        "greater_than": "more than 0 is needed",
        "less_than": "less than 100% (1.0) is needed",
        "greater_than_equal": f"at least {context.get('ge')} is needed",
        "less_than_equal": f"at most {context.get('le')} is needed",
        "finite_number": "a finite number is needed",
    }
    if kind in ("dict_type", "model_type", "model_attributes_type", "mapping_type"):
        return f"is {shown}; a mapping (key: value) is needed"
    return f"is {shown}; {allowed.get(kind, 'another type is needed')}"


def _shown(value: Any) -> str:
    match value:
        case Mapping():
            return "a mapping" if value else "empty"
        case list():
            return "a list" if value else "empty"
        case None:
            return "empty"
        case bool():
            return str(value).lower()
        case str():
            return f"text {value[:60]!r}" if value else "empty"
    return str(value)


def _bad_name(pattern: str, value: Any) -> str:
    if "\\w*$" in pattern:
        return f"is {_shown(value)}; module:function is needed"
    extra = " . : / @ % -" if pattern == LEVEL_PATTERN else " . -" if ".-" in pattern else ""
    start = "" if pattern == LEVEL_PATTERN else ", beginning with a letter or _"
    return f"{_shown(value)} cannot be a name; letters, digits and _{extra} are allowed{start}"


def _unknown(path: KeyPath, value: Any) -> str:
    model = _model_at(path[:-1], value)
    allowed = [] if model is None else list(model.model_fields)
    close = difflib.get_close_matches(str(path[-1]), allowed, n=1, cutoff=0.5)
    meant = f"did you mean {close[0]}? " if close else ""
    several = f"; {SEVERAL}" if model is FlagOption and not close else ""
    return f"{UNKNOWN}; {meant}allowed: {', '.join(allowed)}{several}"


def _model_at(path: KeyPath, value: Any) -> type[BaseModel] | None:
    """The model that describes the mapping at a path."""
    keys = _at(value, path)
    if path == ("program",):
        return TableProgram if "table" in keys else CallableProgram if "callable" in keys else Program
    if path[:1] == ("options",) and len(path) == 2:
        return ChoiceOption if "choice" in keys else NumberOption if "number" in keys else FlagOption
    return _MODELS.get((path[0] if path else "", len(path)))


_MODELS: dict[tuple[Any, int], type[BaseModel]] = {
    ("", 0): Subject,
    ("program", 2): Server,
    ("options", 3): OnOff,
    ("workloads", 2): Workload,
    ("budget", 1): Budget,
    ("history", 2): HistoryStore,
    ("run_on", 1): RunOn,
    ("metrics", 3): MetricRule,
}
"""The model of a mapping by the first key of its path and the path's length."""


def _missing_files(subject: Subject, directory: Path) -> Iterator[tuple[KeyPath, str]]:
    program = subject.program
    if isinstance(program, TableProgram) and not (directory / program.table).is_file():
        yield ("program", "table"), f"{program.table} is not a file beside the configuration file"
    if isinstance(program, CallableProgram):
        module = directory / program.callable.partition(":")[0].replace(".", "/")
        if not module.with_suffix(".py").is_file() and not (module / "__init__.py").is_file():
            yield ("program", "callable"), f"{module.name}.py does not lie beside the configuration file"
