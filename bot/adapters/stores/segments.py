"""Segments: the measurements of one run as one immutable Parquet file, named by date, kind and content."""

# Version 2 of the schema: one row for each row of `Measurements`. What is the same for all rows (run, labels
# of revisions, schema, kind) stands in the file's metadata: a segment can be judged by its footer alone.
# Version 1 (before the first release) had the words first and second instead of `second`, and neither
# exit codes nor repetitions.

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from bot.model.errors import DamagedSegmentError, NewerSegmentError
from bot.model.history import (
    COLUMNS,
    EVERYTHING,
    NO_EXIT_CODE,
    NO_METRIC,
    NO_PAIR,
    OUTCOMES,
    TRACKS,
    Measurements,
    RunRecord,
    Segment,
    Selection,
    canonical,
)
from bot.model.report import OptionValue, RevisionRef

SCHEMA = 2
TRIALS = "trials"
NAME = re.compile(r"(?P<date>\d{8}T\d{6}Z)-(?P<kind>[a-z]{1,20})-(?P<digest>[0-9a-f]{32})\.parquet")
GROUP_ROWS = 1 << 17
"""Rows that are in memory at once while a segment is read."""
_SCHEMA_KEY, _KIND_KEY, _RUN_KEY, _REVISIONS_KEY = (
    f"suspects.{key}".encode() for key in ("schema", "kind", "run", "revisions")
)
_WORDS = ("revision", "configuration", "metric", "outcome", "track", "workload")
_CONFIGURATION: TypeAdapter[dict[str, OptionValue]] = TypeAdapter(dict[str, OptionValue])
_REVISIONS: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])
_UNREADABLE = (pa.ArrowException, LookupError, ValueError, TypeError, OSError)
"""What pyarrow and our own reading raise for bytes that are not what they say."""
_Batch: TypeAlias = Any
"""A pyarrow.RecordBatch; pyarrow publishes no types."""


class Encoded(NamedTuple):
    """A segment ready to be stored."""

    name: str
    content: bytes


class Head(NamedTuple):
    """What the metadata of a segment of trials says."""

    schema: int
    run: RunRecord
    labels: Mapping[str, str]


def encode(measurements: Measurements) -> Encoded:
    """The segment of one run; equal measurements give equal bytes and so the same name.

    Raises:
        ValueError: they belong to no run or to several.
    """
    if len(measurements.runs) != 1:
        raise ValueError(f"a segment holds one run, not {len(measurements.runs)}")
    run = measurements.runs[0]
    labels = {revision.revision: revision.label for revision in measurements.revisions}
    table = _table(measurements).replace_schema_metadata(
        {
            _SCHEMA_KEY: str(SCHEMA).encode(),
            _KIND_KEY: TRIALS.encode(),
            _RUN_KEY: run.model_dump_json(exclude_defaults=True).encode(),
            _REVISIONS_KEY: json.dumps(labels, ensure_ascii=False).encode(),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", row_group_size=GROUP_ROWS)
    content = sink.getvalue().to_pybytes()
    date = run.started.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    return Encoded(f"{date}-{TRIALS}-{digest(content)}.parquet", content)


def digest(content: bytes) -> str:
    """The part of a name that depends on the content: the first half of its SHA-256."""
    return hashlib.sha256(content).hexdigest()[:32]


def kind(name: str) -> str | None:
    """The kind that a segment's name tells; None: no name of a segment."""
    match = NAME.fullmatch(name)
    return match and match["kind"]


def check(name: str, content: bytes) -> None:
    """Holds bytes against their name.

    Raises:
        DamagedSegmentError: they are not the ones that were written.
    """
    match = NAME.fullmatch(name)
    if match is None or match["digest"] != digest(content):
        raise DamagedSegmentError(f"{name} is damaged: its {len(content)} bytes are not what was written")


def describe(name: str, content: bytes, *, thoroughly: bool = False) -> Segment:
    """A segment as a listing shows it, with its problem if it has one; `thoroughly`: every row is decoded."""
    found = Segment(name, kind(name) or "", len(content))
    try:
        check(name, content)
        if found.kind != TRIALS:
            return found
        opened = _opened(name, content)
        head = _head(name, opened)
        if thoroughly:
            for _ in decode(name, content):
                pass
    except (DamagedSegmentError, NewerSegmentError) as error:
        return Segment(name, found.kind, len(content), problem=str(error))
    return Segment(name, found.kind, len(content), rows=opened.metadata.num_rows, run=head.run)


def decode(name: str, content: bytes, wanted: Selection = EVERYTHING) -> Iterator[Measurements]:
    """The wanted rows piece by piece; the bytes have been checked. `wanted.last` is the store's affair.

    Failed trials have no metric: they belong to any selection of metrics.

    Raises:
        NewerSegmentError: a later version wrote it.
        DamagedSegmentError: it holds something else than its schema says.
    """
    opened = _opened(name, content)
    head = _head(name, opened)
    if not _wanted(head, wanted):
        return
    upgrade = _UPGRADES[head.schema]
    try:
        for batch in opened.iter_batches(GROUP_ROWS):
            part = _selected(_measurements(upgrade(batch), head), wanted)
            if len(part):
                yield part
    except _UNREADABLE as error:
        raise DamagedSegmentError(f"{name} does not hold what its schema says: {_line(error)}") from error


def _opened(name: str, content: bytes) -> Any:
    try:
        return pq.ParquetFile(pa.BufferReader(content), read_dictionary=list(_WORDS))
    except _UNREADABLE as error:
        raise DamagedSegmentError(f"{name} is not a Parquet file of trials: {_line(error)}") from error


def _head(name: str, opened: Any) -> Head:
    metadata = opened.metadata.metadata or {}
    try:
        schema = int(metadata[_SCHEMA_KEY])
        if schema > SCHEMA:
            raise NewerSegmentError(
                f"{name} was written by a later version (schema {schema}, this one reads up to {SCHEMA}): "
                "install a newer suspects to use it"
            )
        if schema not in _UPGRADES:
            raise DamagedSegmentError(f"{name} has schema {schema}, which never was")
        run = RunRecord.model_validate_json(metadata[_RUN_KEY])
        return Head(schema, run, _REVISIONS.validate_json(metadata[_REVISIONS_KEY]))
    except (KeyError, ValueError) as error:  # ValidationError is a ValueError
        raise DamagedSegmentError(f"{name} does not say what it holds: {_line(error)}") from error


def _wanted(head: Head, wanted: Selection) -> bool:
    """Whether the segment can hold wanted rows, judged by its head."""
    run = head.run
    return (
        (wanted.program is None or run.program == wanted.program)
        and (wanted.modes is None or run.mode in wanted.modes)
        and (wanted.since is None or run.started >= wanted.since)
        and (wanted.revisions is None or not wanted.revisions.isdisjoint(head.labels))
    )


def _selected(part: Measurements, wanted: Selection) -> Measurements:
    rows = np.ones(len(part), bool)
    if wanted.revisions is not None:
        rows &= _among([r.revision for r in part.revisions], wanted.revisions)[part.revision]
    if wanted.metrics is not None:
        # The code of no metric, -1, points at the last element.
        rows &= np.append(_among(part.metrics, wanted.metrics), True)[part.metric]
    return part if rows.all() else part.where(rows)


def _among(entries: Sequence[str], wanted: frozenset[str]) -> np.ndarray:
    return np.array([entry in wanted for entry in entries], bool)


def _table(measurements: Measurements) -> Any:
    """One Arrow column for each column, words instead of codes where the codes mean a table of the run."""
    part = measurements
    words = {
        "revision": [revision.revision for revision in part.revisions],
        "configuration": [canonical(configuration) for configuration in part.configurations],
        "metric": list(part.metrics),
        "workload": list(part.workloads),
        "outcome": list(OUTCOMES),
        "track": list(TRACKS),
    }
    nothing = {
        "metric": part.metric == NO_METRIC,
        "value": np.isnan(part.value),
        "pair": part.pair == NO_PAIR,
        "exit_code": part.exit_code == NO_EXIT_CODE,
    }
    columns = {}
    for name, column in part.columns.items():
        if name == "run":
            continue
        array = pa.array(column, mask=nothing.get(name))
        if name in words:
            indices = array.cast(pa.int32())
            array = pa.DictionaryArray.from_arrays(indices, pa.array(words[name], pa.string()))
        columns[name] = array
    return pa.table(columns)


def _measurements(batch: _Batch, head: Head) -> Measurements:
    """A batch of the present schema as measurements of its run."""
    columns: dict[str, Any] = {"run": np.zeros(batch.num_rows, np.int32)}
    words: dict[str, list[str]] = {}
    nothing = {"metric": NO_METRIC, "value": np.nan, "pair": NO_PAIR, "exit_code": NO_EXIT_CODE}
    for name, dtype in COLUMNS.items():
        if name == "run":
            continue
        array = batch.column(name)
        if name in _WORDS:
            array = array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()
            words[name] = array.dictionary.to_pylist()
            array = array.indices
        if name in nothing:
            array = array.fill_null(nothing[name])
        if array.null_count:
            raise ValueError(f"{name} has empty fields")
        columns[name] = array.to_numpy(zero_copy_only=False).astype(dtype, copy=False)
    for name, known in (("outcome", OUTCOMES), ("track", TRACKS)):
        places = np.array([known.index(word) for word in words[name]], COLUMNS[name])
        columns[name] = places[columns[name]]
    return Measurements(
        runs=(head.run,),
        revisions=tuple(RevisionRef(revision=r, label=head.labels[r]) for r in words["revision"]),
        configurations=tuple(map(_configuration, words["configuration"])),
        metrics=tuple(words["metric"]),
        workloads=tuple(words["workload"]),
        **columns,
    )


@lru_cache(maxsize=1 << 16)
def _configuration(text: str) -> Mapping[str, OptionValue]:
    """Runs measure the same configurations again and again: each is read, and kept, once."""
    return _CONFIGURATION.validate_json(text)


def _from_1(batch: _Batch) -> _Batch:
    """Version 1 as version 2."""
    columns = {name: batch.column(i) for i, name in enumerate(batch.schema.names)}
    columns["second"] = pa.compute.equal(columns.pop("order"), "second")
    columns["exit_code"] = pa.nulls(batch.num_rows, pa.int16())
    columns["repetitions"] = pa.array(np.ones(batch.num_rows, np.int32))
    return pa.record_batch(columns)


_UPGRADES: Mapping[int, Callable[[_Batch], _Batch]] = {1: _from_1, SCHEMA: lambda batch: batch}


def _line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'at the top'}: {first['msg']}"
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
