"""Rows of a segment as Arrow columns and back: words instead of codes, empty fields instead of nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute
from pydantic import TypeAdapter

from bot.model.duration_history import NO_BIN, DurationTable
from bot.model.history import (
    NO_EXIT_CODE,
    NO_METRIC,
    NO_PAIR,
    OUTCOMES,
    TRACKS,
    Columnar,
    Measurements,
    RunRecord,
    canonical,
)
from bot.model.machines import NOTHING, FingerprintTable
from bot.model.profile_history import NO_COUNT, NO_METHOD, ProfileTable
from bot.model.profiles import Method
from bot.model.report import OptionValue, RevisionRef

Batch: TypeAlias = Any
"""A pyarrow.RecordBatch; pyarrow publishes no types."""
Rows = TypeVar("Rows", bound=Columnar)
_FIXED: Mapping[str, tuple[str, ...]] = {"outcome": OUTCOMES, "track": TRACKS}
"""Columns whose words we have chosen; those of the others lie in the tables that the columns point into."""
_CONFIGURATION: TypeAdapter[dict[str, OptionValue]] = TypeAdapter(dict[str, OptionValue])
_METHOD: TypeAdapter[tuple[str, str | None, int | None]] = TypeAdapter(tuple[str, str | None, int | None])


class Head(NamedTuple):
    """What the metadata of a segment says."""

    schema: int
    run: RunRecord
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Layout(Generic[Rows]):
    """How one kind of rows is stored: the newest schema, and what older ones need to become it.

    nothing: the value of a column for which an empty field is stored.
    """

    kind: str
    schema: int
    make: type[Rows]
    nothing: Mapping[str, float]
    upgrades: Mapping[int, Callable[[Batch], Batch]] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """Columns that hold words."""
        tables = [column for column in self.make.tables.values() if column != "run"]
        return tables + [name for name in _FIXED if name in self.make.kinds]

    def known(self, schema: int) -> bool:
        """Whether there ever was such a schema."""
        return schema == self.schema or schema in self.upgrades

    def table(self, part: Rows) -> Any:
        """The rows as a pyarrow.Table, without their run."""
        words = {
            column: [_written(entry) for entry in getattr(part, table)]
            for table, column in part.tables.items()
            if column != "run"
        }
        words |= {name: list(known) for name, known in _FIXED.items()}
        columns = {}
        for name, column in part.columns.items():
            if name == "run":
                continue
            array = pa.array(column, mask=self._empty(name, column))
            if name in words:
                indices = array.cast(pa.int32())
                array = pa.DictionaryArray.from_arrays(indices, pa.array(words[name], pa.string()))
            columns[name] = array
        return pa.table(columns)

    def rows(self, batch: Batch, head: Head) -> Rows:
        """A batch as rows of its run; what does not fit ends as LookupError, ValueError or TypeError."""
        if head.schema in self.upgrades:
            batch = self.upgrades[head.schema](batch)
        columns: dict[str, Any] = {"run": np.zeros(batch.num_rows, np.int32)}
        words: dict[str, list[str]] = {}
        for name, dtype in self.make.kinds.items():
            if name == "run":
                continue
            array = batch.column(name)
            if name in self.words:
                array = array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()
                words[name] = array.dictionary.to_pylist()
                array = array.indices
            if name in self.nothing:
                array = array.fill_null(self.nothing[name])
            if array.null_count:
                raise ValueError(f"{name} has empty fields")
            columns[name] = array.to_numpy(zero_copy_only=False).astype(dtype, copy=False)
        for name, known in _FIXED.items():
            if name in columns:
                places = np.array([known.index(word) for word in words[name]], columns[name].dtype)
                columns[name] = places[columns[name]]
        tables: dict[str, Any] = {
            table: tuple(_read(column, word, head) for word in words[column])
            for table, column in self.make.tables.items()
            if column != "run"
        }
        return self.make(runs=(head.run,), **tables, **columns)

    def _empty(self, name: str, column: np.ndarray) -> np.ndarray | None:
        if name not in self.nothing:
            return None
        nothing = self.nothing[name]
        return np.asarray(np.isnan(column) if np.isnan(nothing) else column == nothing)


def _written(entry: Any) -> str:
    match entry:
        case RevisionRef():
            return entry.revision
        case Method():
            return json.dumps([entry.name, entry.file, entry.line], ensure_ascii=False)
        case Mapping():
            return canonical(entry)
    return str(entry)


def _read(column: str, word: str, head: Head) -> object:
    match column:
        case "revision":
            return RevisionRef(revision=word, label=head.labels[word])
        case "configuration":
            return _configuration(word)
        case "method":
            return _method(word)
    return word


@lru_cache(maxsize=1 << 16)
def _configuration(text: str) -> Mapping[str, OptionValue]:
    """Runs measure the same configurations again and again: each is read, and kept, once."""
    return _CONFIGURATION.validate_json(text)


@lru_cache(maxsize=1 << 16)
def _method(text: str) -> Method:
    return Method(*_METHOD.validate_json(text))


def _from_1(batch: Batch) -> Batch:
    """Trials of version 1 as version 2."""
    columns = {name: batch.column(i) for i, name in enumerate(batch.schema.names)}
    columns["second"] = pa.compute.equal(columns.pop("order"), "second")
    columns["exit_code"] = pa.nulls(batch.num_rows, pa.int16())
    columns["repetitions"] = pa.array(np.ones(batch.num_rows, np.int32))
    return pa.record_batch(columns)


# Version 1 of trials (before the first release) had the words first and second instead of `second`, and
# neither exit codes nor repetitions.
TRIALS = Layout(
    "trials",
    2,
    Measurements,
    {"metric": NO_METRIC, "value": np.nan, "pair": NO_PAIR, "exit_code": NO_EXIT_CODE},
    {1: _from_1},
)
PROFILES = Layout(
    "profiles",
    1,
    ProfileTable,
    {
        "method": NO_METHOD,
        "unprofiled": np.nan,
        "self_seconds": np.nan,
        "calls": NO_COUNT,
        "instructions": NO_COUNT,
    },
)
DURATIONS = Layout("durations", 1, DurationTable, {"unprofiled": np.nan, "bin": NO_BIN})
FINGERPRINTS = Layout(
    "fingerprints", 1, FingerprintTable, {"revision": NOTHING, "configuration": NOTHING, "rate": np.nan}
)
LAYOUTS: Mapping[str, Layout[Any]] = {
    layout.kind: layout for layout in (TRIALS, PROFILES, DURATIONS, FINGERPRINTS)
}
