"""Sources of simulated trials: a function beside the configuration file, or a table made elsewhere."""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bot.adapters.simulated.bench import Source
from bot.model.errors import UsageError
from bot.model.report import Unit
from bot.model.space import Configuration, Option, Space, Value, value_text
from bot.model.subject import MINUTE, CallableProgram, Subject, TableProgram

Function = Callable[[int, npt.NDArray[np.int64]], Any]
TRUE, FALSE = ("1", "true", "on", "yes"), ("0", "false", "off", "no")


def load_source(subject: Subject, directory: Path) -> Source:
    """The source an offline subject names; `directory` is its configuration file's.

    Raises:
        UsageError: the module, function or table is missing or wrong.
    """
    if isinstance(subject.program, CallableProgram):
        named = subject.program.callable
        return CallableSource(load_callable(named, directory), named, subject.program.revisions)
    assert isinstance(subject.program, TableProgram)
    path = directory / subject.program.table
    return TableSource(path, subject.space, subject.program)


def load_callable(named: str, directory: Path) -> Function:
    """`module:function` from a module beside the configuration file, which may import its neighbours.

    Raises:
        UsageError: it is missing, is no function, or raises when imported.
    """
    module_name, _, function_name = named.partition(":")
    path = directory.resolve().joinpath(*module_name.split(".")).with_suffix(".py")
    if not path.is_file():
        raise UsageError(f"program.callable: there is no {path}.")
    # By its file, not its name: an installed module of that name must not win.
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        raise UsageError(f"program.callable: importing {path.name} failed: {_one_line(error)}") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise UsageError(f"program.callable: {path.name} has no function {function_name!r}.")
    found: Function = function
    return found


class CallableSource:
    """Seconds from `function(revision, configurations of shape (1, n_options), 0/1) -> shape (1,)`."""

    metric, second = "cpu", 1.0
    unit: Unit = "seconds"
    configurations: Sequence[Configuration] | None = None
    """All can be measured."""

    def __init__(self, function: Function, named: str, revisions: int) -> None:
        self.revisions: Sequence[str] = tuple(str(i) for i in range(revisions))
        self._function = function
        self._named = named
        self._rows: dict[Configuration, npt.NDArray[np.int64]] = {}

    def nearest(self, configuration: Configuration, revisions: tuple[int, int]) -> Configuration:  # noqa: ARG002
        """Every configuration can be measured."""
        return configuration

    def draw(
        self,
        configuration: Configuration,
        revisions: tuple[int, int],
        rng: np.random.Generator,  # noqa: ARG002  (the function has a noise of its own)
    ) -> Iterator[float]:
        """One call of the function for each revision.

        Raises:
            UsageError: the function raised, or returned something else.
        """
        row = self._rows.setdefault(configuration, np.array([configuration], dtype=np.int64))
        for revision in revisions:
            yield self._call(revision, row.copy())

    def _call(self, revision: int, row: npt.NDArray[np.int64]) -> float:
        try:
            returned = self._function(revision, row)
        except (Exception, SystemExit) as error:
            raise UsageError(
                f"program.callable: {self._named} raised at revision {revision}: {_one_line(error)}"
            ) from error
        try:
            seconds = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError):
            shown = type(returned).__name__
        else:
            if seconds.shape == (1,):
                return float(seconds[0])
            shown = f"shape {seconds.shape}"
        raise UsageError(f"program.callable: {self._named} must return seconds of shape (1,), not {shown}.")


class TableSource:
    """A row for each configuration, revision and repetition; empty = failed trial.

    Revisions are in numeric order when all are numbers, else in order of first appearance.
    """

    def __init__(self, path: Path, space: Space, program: TableProgram) -> None:
        self.metric = program.metric
        self._path = path
        self._space = space
        rows = list(self._read(program))
        labels = list(dict.fromkeys(revision for revision, _, _ in rows))
        if all(_is_number(label) for label in labels):
            labels.sort(key=float)
        self.revisions: Sequence[str] = tuple(labels)
        place = {label: i for i, label in enumerate(labels)}
        self._values: dict[tuple[int, Configuration], list[float]] = {}
        for revision, configuration, value in rows:
            self._values.setdefault((place[revision], configuration), []).append(value)
        if all(np.isnan(value) for _, _, value in rows):
            raise UsageError(f"{path}: column {program.metric} holds no measurement.")
        middle = float(np.nanmedian([value for _, _, value in rows]))
        self.second = middle if middle > MINUTE else 1.0
        self.unit: Unit = program.unit(middle)
        self.configurations: Sequence[Configuration] | None = tuple(dict.fromkeys(c for _, c in self._values))
        """Only these can be measured."""
        self._codes = [{value: code for code, value in enumerate(option.values)} for option in space.options]
        self._measured: dict[frozenset[int], tuple[list[Configuration], npt.NDArray[np.int64]]] = {}
        self._left: dict[tuple[int, Configuration], list[float]] = {}
        """Repetitions that were not drawn yet."""
        self._nearest: dict[tuple[Configuration, frozenset[int]], Configuration] = {}

    @property
    def cells(self) -> Mapping[tuple[int, Configuration], Sequence[float]]:
        """The values of each revision and configuration, in the order of the table; NaN: a failed trial."""
        return self._values

    def nearest(self, configuration: Configuration, revisions: tuple[int, int]) -> Configuration:
        """The configuration with the fewest other values among those measured at both revisions.

        The first of the table wins a tie.

        Raises:
            UsageError: no configuration was measured at both.
        """
        both = frozenset(revisions)
        key = (configuration, both)
        if key not in self._nearest:
            measured, codes = self._at(both)
            distances = (codes != self._encode(configuration)).sum(axis=1)
            self._nearest[key] = measured[int(distances.argmin())]
        return self._nearest[key]

    def draw(
        self, configuration: Configuration, revisions: tuple[int, int], rng: np.random.Generator
    ) -> Iterator[float]:
        """A random repetition at each revision; two different ones when both revisions are the same.

        What two revisions are compared by comes once before anything comes again.
        """
        if revisions[0] == revisions[1]:
            values = self._values[revisions[0], configuration]
            one = int(rng.integers(len(values)))
            yield values[one]
            more = int(rng.integers(len(values) - 1)) if len(values) > 1 else -1
            yield values[(one + 1 + more) % len(values)]
            return
        for revision in revisions:
            yield self._next(revision, configuration, rng)

    def _next(self, revision: int, configuration: Configuration, rng: np.random.Generator) -> float:
        left = self._left.setdefault((revision, configuration), [])
        if not left:
            values = self._values[revision, configuration]
            left += [values[i] for i in rng.permutation(len(values))]
        return left.pop()

    def _at(self, revisions: frozenset[int]) -> tuple[list[Configuration], npt.NDArray[np.int64]]:
        if revisions not in self._measured:
            known = dict.fromkeys(configuration for _, configuration in self._values)
            found = [c for c in known if all((r, c) in self._values for r in revisions)]
            if not found:
                names = " and ".join(self.revisions[r] for r in sorted(revisions))
                raise UsageError(f"{self._path}: no configuration was measured at both {names}.")
            self._measured[revisions] = (found, np.array([self._encode(c) for c in found], dtype=np.int64))
        return self._measured[revisions]

    def _encode(self, configuration: Configuration) -> npt.NDArray[np.int64]:
        pairs = zip(self._codes, configuration, strict=True)
        return np.array([codes[value] for codes, value in pairs], dtype=np.int64)

    def _read(self, program: TableProgram) -> Iterator[tuple[str, Configuration, float]]:
        """Revision, configuration and value of each row."""
        try:
            with self._path.open(newline="", encoding="utf-8-sig") as file:
                reader = csv.reader(file, strict=True)
                header = [name.strip() for name in next(reader, [])]
                columns = self._columns(header, program)
                for row in reader:
                    if row and len(row) != len(header):
                        where = f"{self._path}:{reader.line_num}"
                        raise UsageError(f"{where}: {len(row)} cells instead of {len(header)}.")
                    if row:
                        yield self._row(row, columns, program, reader.line_num)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise UsageError(f"{self._path}: the table cannot be read: {_one_line(error)}") from None

    def _columns(self, header: list[str], program: TableProgram) -> Mapping[str, int]:
        for name in (program.revision, program.metric, *self._space.names):
            if header.count(name) != 1:
                wrong = "missing" if name not in header else "there twice"
                raise UsageError(
                    f"{self._path}: column {name} is {wrong}; columns: {', '.join(header[:20])}."
                )
        return {name: place for place, name in enumerate(header)}

    def _row(
        self, row: list[str], columns: Mapping[str, int], program: TableProgram, line: int
    ) -> tuple[str, Configuration, float]:
        values = []
        for option in self._space.options:
            value = _option_value(option, row[columns[option.name]].strip())
            if value is None:
                allowed = ", ".join(value_text(v) for v in option.values)
                shown = row[columns[option.name]]
                raise UsageError(f"{self._path}:{line}: {option.name} is {shown!r}; allowed: {allowed}.")
            values.append(value)
        cell = row[columns[program.metric]].strip()
        if cell and not _is_number(cell):
            raise UsageError(f"{self._path}:{line}: {program.metric} is {cell!r}, not a number.")
        return row[columns[program.revision]].strip(), tuple(values), float(cell or "nan")


def _option_value(option: Option, cell: str) -> Value | None:
    """A cell as a value of an option: 0/1, the value, or the level's text; None: neither."""
    if option.kind == "flag":
        if cell.lower() in (*TRUE, option.name.lower()):
            return True
        return False if cell.lower() in (*FALSE, f"!{option.name}".lower()) else None
    text = cell.removeprefix(f"{option.name}=")
    if option.kind == "number" and _is_number(text):
        return next((v for v in option.values if float(v) == float(text)), None)
    return next((v for v in option.values if value_text(v) == text), None)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
