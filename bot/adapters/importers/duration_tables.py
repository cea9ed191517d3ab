"""Durations as a flat table, CSV or Parquet: a row for each bin of calls, by path and arguments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bot.adapters.importers.flat import OF_RUNS, chosen, write_parts
from bot.model.duration_history import NO_BIN, DurationTable, lower_edges

_COLUMNS = {
    **dict.fromkeys(OF_RUNS, pa.string()),
    "tool": pa.string(),
    "profile": pa.int32(),
    "profiled": pa.float64(),
    "unprofiled": pa.float64(),
    "method": pa.string(),
    "file": pa.string(),
    "path": pa.string(),
    "arguments": pa.string(),
    "from": pa.float64(),
    "below": pa.float64(),
    "calls": pa.int64(),
    "seconds": pa.float64(),
}


def write(parts: Iterable[DurationTable], path: Path, *, options: Iterable[str]) -> int:
    """Writes a `.csv` or `.parquet` file, part by part; the number of rows. `options`: names of all columns.

    Raises:
        OSError: the file cannot be written.
    """
    return write_parts(parts, path, options=options, kinds=_COLUMNS, columns=_columns)


def _columns(part: DurationTable) -> dict[str, Any]:
    """A part with its codes replaced by what they mean; a bin is the seconds between which its calls lie."""
    columns: dict[str, Any] = {"tool": chosen(part.tools, part.tool)}
    columns["profile"] = pa.array(part.profile)
    columns["profiled"] = pa.array(part.profiled)
    columns["unprofiled"] = pa.array(part.unprofiled, mask=np.isnan(part.unprofiled))
    columns["method"] = chosen([method.name for method in part.methods], part.method)
    columns["file"] = chosen([method.file for method in part.methods], part.method)
    columns["path"] = chosen(part.paths, part.path)
    columns["arguments"] = chosen(part.summaries, part.arguments)
    columns["from"] = pa.array(lower_edges(part.bin), mask=part.bin == NO_BIN)
    columns["below"] = pa.array(lower_edges(part.bin.astype(np.int64) + 1), mask=part.bin == NO_BIN)
    columns["calls"] = pa.array(part.count)
    columns["seconds"] = pa.array(part.seconds)
    return columns
