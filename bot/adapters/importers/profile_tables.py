"""Profiles as a flat table, CSV or Parquet: a row for each method of each profile."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bot.adapters.importers.flat import OF_RUNS, chosen, write_parts
from bot.model.history import OUTCOMES
from bot.model.profile_history import NO_COUNT, NO_METHOD, ProfileTable

_COLUMNS = {
    **dict.fromkeys(OF_RUNS, pa.string()),
    "tool": pa.string(),
    "outcome": pa.string(),
    "profile": pa.int32(),
    "drawn": pa.bool_(),
    "seconds": pa.float64(),
    "unprofiled": pa.float64(),
    "method": pa.string(),
    "file": pa.string(),
    "line": pa.int32(),
    "self_share": pa.float64(),
    "self_seconds": pa.float64(),
    "calls": pa.int64(),
    "instructions": pa.int64(),
}


def write(parts: Iterable[ProfileTable], path: Path, *, options: Iterable[str]) -> int:
    """Writes a `.csv` or `.parquet` file, part by part; the number of rows. `options`: names of all columns.

    Raises:
        OSError: the file cannot be written.
    """
    return write_parts(parts, path, options=options, kinds=_COLUMNS, columns=_columns)


def _columns(part: ProfileTable) -> dict[str, Any]:
    """A part with its codes replaced by what they mean; what a tool cannot tell is empty."""
    code = np.where(part.method == NO_METHOD, len(part.methods), part.method)
    lines = np.array([*(method.line or -1 for method in part.methods), -1])[code]
    columns: dict[str, Any] = {"tool": chosen(part.tools, part.tool)}
    columns["profile"] = pa.array(part.profile)
    columns["drawn"] = pa.array(part.drawn)
    columns["outcome"] = chosen(OUTCOMES, part.outcome)
    columns["seconds"] = pa.array(part.seconds)
    columns["unprofiled"] = pa.array(part.unprofiled, mask=np.isnan(part.unprofiled))
    columns["method"] = chosen([*(method.name for method in part.methods), None], code)
    columns["file"] = chosen([*(method.file for method in part.methods), None], code)
    columns["line"] = pa.array(lines, mask=lines < 0)
    columns["self_share"] = pa.array(part.self_share)
    columns["self_seconds"] = pa.array(part.self_seconds, mask=np.isnan(part.self_seconds))
    for name in ("calls", "instructions"):
        column = getattr(part, name)
        columns[name] = pa.array(column, mask=column == NO_COUNT)
    return columns
