"""History as a flat table, CSV or Parquet: a row for each metric of each trial, written and read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError

from bot.adapters.importers.flat import OPTION, chosen, value_of, write_parts
from bot.adapters.importers.foreign import File, Series
from bot.model.errors import UsageError
from bot.model.history import NO_EXIT_CODE, NO_METRIC, NO_PAIR, OUTCOMES, TRACKS, Measurements
from bot.model.report import Environment, RevisionRef
from bot.model.space import Value
from bot.model.trials import Outcome, Track, Trial


class Row(BaseModel):
    """One row without its options; only revision and value are needed, and no value is a failed trial."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    revision: str
    revision_label: str = ""
    metric: str = "wall"
    value: float | None = Field(None, allow_inf_nan=False)
    outcome: Outcome | None = None
    exit_code: int | None = Field(None, ge=-255, le=255)
    repetitions: PositiveInt = 1
    trial: NonNegativeInt | None = None
    pair: NonNegativeInt | None = None
    second: bool = False
    track: Track = "duet"
    workload: str = ""
    run: str = ""
    started: AwareDatetime | None = None
    subject: str = ""
    program: str = ""
    ref: str = ""
    label: str = ""
    tool_version: str = ""
    cpu: str = ""
    cores: NonNegativeInt = 0
    kernel: str = ""
    image: str = ""


def write(parts: Iterable[Measurements], path: Path, *, options: Iterable[str]) -> int:
    """Writes a `.csv` or `.parquet` file, part by part; the number of rows. `options`: names of all columns.

    Raises:
        OSError: the file cannot be written.
    """
    kinds = {name: _type(name) for name in Row.model_fields}
    return write_parts(parts, path, options=options, kinds=kinds, columns=_columns)


def read_csv(file: File) -> list[Measurements]:
    """The runs of a CSV file.

    Raises:
        UsageError: FILE:LINE: COLUMN: what is wrong.
    """
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file.name}: not UTF-8 text at byte {error.start}") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = next(reader, [])
        _check_head(head, file)
        return _runs(_lines(reader, head, file), file)
    except csv.Error as error:
        raise UsageError(f"{file.name}:{reader.line_num}: not CSV: {error}") from None


def read_parquet(file: File) -> list[Measurements]:
    """The runs of a Parquet file.

    Raises:
        UsageError: it is none, or FILE: row N: COLUMN: what is wrong.
    """
    try:
        opened = pq.ParquetFile(pa.BufferReader(file.content))
        _check_head(opened.schema_arrow.names, file)
        return _runs(_records(opened, file), file)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{file.name}: not Parquet: {str(error).splitlines()[0][:200]}") from None


def _columns(part: Measurements) -> dict[str, Any]:
    """A part's trials with their codes replaced by what they mean."""
    columns: dict[str, Any] = {"workload": chosen(part.workloads, part.workload)}
    columns["metric"] = chosen(
        [*part.metrics, None], np.where(part.metric == NO_METRIC, len(part.metrics), part.metric)
    )
    columns["outcome"] = chosen(OUTCOMES, part.outcome)
    columns["track"] = chosen(TRACKS, part.track)
    columns["value"] = pa.array(part.value, mask=np.isnan(part.value))
    columns["exit_code"] = pa.array(part.exit_code, mask=part.exit_code == NO_EXIT_CODE)
    columns["pair"] = pa.array(part.pair, mask=part.pair == NO_PAIR)
    for name in ("repetitions", "trial", "second"):
        columns[name] = pa.array(getattr(part, name))
    return columns


def _type(name: str) -> Any:
    kinds = {"value": pa.float64(), "second": pa.bool_()}
    whole = ("exit_code", "repetitions", "trial", "pair")
    return kinds.get(name, pa.int32() if name in whole else pa.string())


def _check_head(names: list[str], file: File) -> None:
    known = list(Row.model_fields)
    for needed in ("revision", "value"):
        if needed not in names:
            raise UsageError(
                f"{file.name}:1: column {needed} is missing; there are {', '.join(names) or 'none'}"
            )
    for name in names:
        if name not in known and not name.startswith(OPTION):
            raise UsageError(
                f"{file.name}:1: column {name} is not known; options are {OPTION}NAME; "
                f"known: {', '.join(known)}"
            )
        if names.count(name) > 1:
            raise UsageError(f"{file.name}:1: column {name} stands twice")


_Cells: TypeAlias = tuple[str, Mapping[str, Any]]
"""Where a row is, for messages, and its cells by column."""


def _lines(reader: Any, head: list[str], file: File) -> Iterator[_Cells]:
    for cells in reader:
        if not cells:
            continue
        place = f"{file.name}:{reader.line_num}"
        if len(cells) != len(head):
            raise UsageError(f"{place}: {len(cells)} cells under {len(head)} columns")
        yield place, dict(zip(head, cells, strict=True))


def _records(opened: Any, file: File) -> Iterator[_Cells]:
    number = 0
    for batch in opened.iter_batches(1 << 14):
        for cells in batch.to_pylist():
            number += 1
            yield f"{file.name}: row {number}", cells


def _runs(rows: Iterable[_Cells], file: File) -> list[Measurements]:
    """Rows become trials: those of one number that follow each other are one trial's metrics."""
    found: dict[str, Series] = {}
    waiting: list[tuple[Row, dict[str, Value]]] = []
    for place, cells in rows:
        row = _row(place, cells)
        values = {
            name.removeprefix(OPTION): value_of(cell)
            for name, cell in cells.items()
            if name.startswith(OPTION) and cell not in (None, "")
        }
        if waiting and not _same_trial(waiting[0][0], row):
            _take(found, waiting, file)
            waiting = []
        waiting.append((row, values))
    if waiting:
        _take(found, waiting, file)
    if not found:
        raise UsageError(f"{file.name}: there is no row to import")
    return [series.measurements(file.content) for series in found.values()]


def _row(place: str, cells: Mapping[str, Any]) -> Row:
    given = {n: v for n, v in cells.items() if not n.startswith(OPTION) and v not in (None, "")}
    try:
        row = Row.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        column = ".".join(map(str, first["loc"]))
        raise UsageError(f"{place}: {column}: {first['msg']}, not {str(first['input'])[:80]!r}") from None
    if row.value is not None and row.outcome not in (None, "ok"):
        raise UsageError(f"{place}: outcome: a trial that failed ({row.outcome}) has no value")
    return row


def _same_trial(first: Row, row: Row) -> bool:
    return row.trial is not None and (first.run, first.trial) == (row.run, row.trial)


def _take(found: dict[str, Series], rows: list[tuple[Row, dict[str, Value]]], file: File) -> None:
    row, values = rows[0]
    if row.run not in found:
        found[row.run] = Series(
            row.program or "table",
            revision=row.revision,
            started=row.started or file.modified,
            ref=row.ref,
            version=row.tool_version,
            environment=Environment(cpu=row.cpu, cores=row.cores, kernel=row.kernel, image=row.image),
            label=row.label or None,
            subject=row.subject or None,
            id=row.run or None,
        )
    metrics = {one.metric: one.value for one, _ in rows if one.value is not None}
    outcome = row.outcome if row.outcome not in (None, "ok") else "ok" if metrics else "unparsable"
    found[row.run].trial(
        values,
        Trial(outcome, metrics, exit_code=row.exit_code, repetitions=row.repetitions),
        revision=RevisionRef(revision=row.revision, label=row.revision_label),
        workload=row.workload,
        track=row.track,
        pair=NO_PAIR if row.pair is None else row.pair,
        second=row.second,
    )
