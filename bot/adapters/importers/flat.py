"""Flat tables of history, CSV or Parquet: columns that all kinds of rows have, and how they are written."""

# An option's cell holds its value as JSON where plain text would be taken for something else: 64 is a number,
# "64" the name of a choice.

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from bot.model.history import Columnar
from bot.model.space import Value

OPTION = "option."
"""Columns of options begin with it."""
_OF_RUN = ("id", "subject", "program", "ref", "label", "tool_version")
_OF_MACHINE = ("cpu", "cores", "kernel", "image")
OF_RUNS = ("run", *_OF_RUN[1:], *_OF_MACHINE, "started", "revision", "revision_label")
"""Columns on the run, its machine and the revision of a row."""
Table: TypeAlias = Any
"""A pyarrow.Table; pyarrow publishes no types."""
Part = TypeVar("Part", bound=Columnar)


def write_tables(tables: Iterable[Table], path: Path, schema: Any) -> int:
    """Writes tables with the columns of a pyarrow.Schema one below the other; the number of rows.

    Raises:
        OSError: the file cannot be written.
    """
    rows = 0
    # A file object of ours: pyarrow's own would not tell which file is on a full disk.
    with path.open("wb") as file:
        writer = (
            pacsv.CSVWriter(file, schema)
            if path.suffix == ".csv"
            else pq.ParquetWriter(file, schema, compression="zstd")
        )
        with writer:
            for table in tables:
                writer.write_table(table.select(schema.names).cast(schema))
                rows += len(table)
    return rows


def write_parts(
    parts: Iterable[Part],
    path: Path,
    *,
    options: Iterable[str],
    kinds: Mapping[str, Any],
    columns: Callable[[Part], dict[str, Any]],
) -> int:
    """Writes a `.csv` or `.parquet` file, part by part, with a column for each option; the number of rows.

    kinds: the other columns and their types; columns: these, of one part.

    Raises:
        OSError: the file cannot be written.
    """
    names = sorted(options)
    schema = pa.schema({**kinds, **{OPTION + name: pa.string() for name in names}})
    tables = (pa.table({**about_runs(part), **columns(part), **options_of(part, names)}) for part in parts)
    return write_tables(tables, path, schema)


def about_runs(part: Columnar) -> dict[str, Any]:
    """Columns on the run, its machine and the revision of each row."""
    runs = part.runs
    columns: dict[str, Any] = {
        "run" if name == "id" else name: chosen([getattr(run, name) for run in runs], part.run)
        for name in _OF_RUN
    }
    for name in _OF_MACHINE:
        columns[name] = chosen([str(getattr(run.environment, name)) for run in runs], part.run)
    times = [run.started.astimezone(UTC).isoformat().replace("+00:00", "Z") for run in runs]
    columns["started"] = chosen(times, part.run)
    columns["revision"] = chosen([r.revision for r in part.revisions], part.revision)
    columns["revision_label"] = chosen([r.label for r in part.revisions], part.revision)
    return columns


def options_of(part: Columnar, options: Iterable[str]) -> dict[str, Any]:
    """A column for each option; empty where a configuration lacks it."""
    cells = {name: [_cell(c[name]) if name in c else None for c in part.configurations] for name in options}
    return {OPTION + name: chosen(column, part.configuration) for name, column in cells.items()}


def chosen(entries: Iterable[str | None], codes: Any) -> Any:
    """The entry of each code, as a pyarrow.Array."""
    return pa.array(list(entries), pa.string()).take(pa.array(codes.astype(np.int32)))


def _cell(value: Value) -> str:
    """A value as text that `value_of` reads as the same value."""
    return (
        value
        if isinstance(value, str) and value_of(value) == value
        else json.dumps(value, ensure_ascii=False)
    )


def value_of(cell: Any) -> Value:
    """The value of an option that a cell holds."""
    try:
        value = json.loads(cell) if isinstance(cell, str) else cell
    except ValueError:
        return str(cell)
    return value if isinstance(value, bool | int | float | str) else str(cell)
