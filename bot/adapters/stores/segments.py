"""Segments: what one run measured as one immutable Parquet file, named by date, kind and content."""

# What is the same for all rows (run, labels of revisions, schema, kind) stands in the file's metadata: a
# segment can be judged by its footer alone.

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from bot.adapters.stores.rows import LAYOUTS, TRIALS, Head, Layout, Rows
from bot.model.errors import DamagedSegmentError, NewerSegmentError
from bot.model.history import EVERYTHING, Columnar, Measurements, RunRecord, Segment, Selection

NAME = re.compile(r"(?P<date>\d{8}T\d{6}Z)-(?P<kind>[a-z]{1,20})-(?P<digest>[0-9a-f]{32})\.parquet")
GROUP_ROWS = 1 << 17
"""Rows that are in memory at once while a segment is read."""
_SCHEMA_KEY, _KIND_KEY, _RUN_KEY, _REVISIONS_KEY = (
    f"suspects.{key}".encode() for key in ("schema", "kind", "run", "revisions")
)
_REVISIONS: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])
_UNREADABLE = (pa.ArrowException, LookupError, ValueError, TypeError, OSError)
"""What pyarrow and our own reading raise for bytes that are not what they say."""


class Encoded(NamedTuple):
    """A segment ready to be stored."""

    name: str
    content: bytes


def encode(part: Columnar) -> Encoded:
    """The segment of one run; equal rows give equal bytes and so the same name.

    Raises:
        ValueError: they belong to no run or to several.
    """
    if len(part.runs) != 1:
        raise ValueError(f"a segment holds one run, not {len(part.runs)}")
    layout = next(known for known in LAYOUTS.values() if isinstance(part, known.make))
    run = part.runs[0]
    labels = {revision.revision: revision.label for revision in part.revisions}
    table = layout.table(part).replace_schema_metadata(
        {
            _SCHEMA_KEY: str(layout.schema).encode(),
            _KIND_KEY: layout.kind.encode(),
            _RUN_KEY: run.model_dump_json(exclude_defaults=True).encode(),
            _REVISIONS_KEY: json.dumps(labels, ensure_ascii=False).encode(),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", row_group_size=GROUP_ROWS)
    content = sink.getvalue().to_pybytes()
    date = run.started.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    return Encoded(f"{date}-{layout.kind}-{digest(content)}.parquet", content)


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
        layout = LAYOUTS.get(found.kind)
        if layout is None:
            return found
        opened = _opened(name, content, layout)
        head = _head(name, opened, layout)
        if thoroughly:
            for _ in rows(layout, name, content):
                pass
    except (DamagedSegmentError, NewerSegmentError) as error:
        return Segment(name, found.kind, len(content), problem=str(error))
    return Segment(name, found.kind, len(content), rows=opened.metadata.num_rows, run=head.run)


def decode(name: str, content: bytes, wanted: Selection = EVERYTHING) -> Iterator[Measurements]:
    """The wanted trials, as `rows`."""
    return rows(TRIALS, name, content, wanted)


def rows(layout: Layout[Rows], name: str, content: bytes, wanted: Selection = EVERYTHING) -> Iterator[Rows]:
    """The wanted rows piece by piece; the bytes have been checked. `wanted.last` is the store's affair.

    Failed trials have no metric, profiles and durations none at all: they belong to any selection of metrics.

    Raises:
        NewerSegmentError: a later version wrote it.
        DamagedSegmentError: it holds something else than its schema says.
    """
    opened = _opened(name, content, layout)
    head = _head(name, opened, layout)
    if not _wanted(head, wanted):
        return
    try:
        for batch in opened.iter_batches(GROUP_ROWS):
            part = _selected(layout.rows(batch, head), wanted)
            if len(part):
                yield part
    except _UNREADABLE as error:
        raise DamagedSegmentError(f"{name} does not hold what its schema says: {_line(error)}") from error


def _opened(name: str, content: bytes, layout: Layout[Any]) -> Any:
    try:
        return pq.ParquetFile(pa.BufferReader(content), read_dictionary=layout.words)
    except _UNREADABLE as error:
        raise DamagedSegmentError(f"{name} is not a Parquet file of {layout.kind}: {_line(error)}") from error


def _head(name: str, opened: Any, layout: Layout[Any]) -> Head:
    metadata = opened.metadata.metadata or {}
    try:
        schema = int(metadata[_SCHEMA_KEY])
        if schema > layout.schema:
            raise NewerSegmentError(
                f"{name} was written by a later version (schema {schema}, this one reads up to"
                f" {layout.schema}): install a newer suspects to use it"
            )
        if not layout.known(schema):
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


def _selected(part: Rows, wanted: Selection) -> Rows:
    kept = np.ones(len(part), bool)
    if wanted.revisions is not None:
        kept &= _among([r.revision for r in part.revisions], wanted.revisions)[part.revision]
    if wanted.metrics is not None and isinstance(part, Measurements):
        # The code of no metric, -1, points at the last element.
        kept &= np.append(_among(part.metrics, wanted.metrics), True)[part.metric]
    return part if kept.all() else part.where(kept)


def _among(entries: Sequence[str], wanted: frozenset[str]) -> np.ndarray:
    return np.array([entry in wanted for entry in entries], bool)


def _line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'at the top'}: {first['msg']}"
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
