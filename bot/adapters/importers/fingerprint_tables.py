"""Fingerprints of machines as a flat table, CSV or Parquet: a row for each repetition of each stressor."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bot.adapters.importers.flat import Table, chosen, write_tables
from bot.model.machines import FingerprintTable

_COLUMNS = {
    **dict.fromkeys(("run", "started", "cpu", "kernel"), pa.string()),
    "cores": pa.int32(),
    "tool": pa.string(),
    "stressor": pa.string(),
    "repetition": pa.int16(),
    "rate": pa.float64(),
}


def write(parts: Iterable[FingerprintTable], path: Path, *, options: Iterable[str]) -> int:  # noqa: ARG001
    """Writes a `.csv` or `.parquet` file, part by part; the number of rows. Machines have no `options`.

    Raises:
        OSError: the file cannot be written.
    """
    return write_tables(map(_table, parts), path, pa.schema(_COLUMNS))


def _table(part: FingerprintTable) -> Table:
    """A part with its codes replaced by what they mean; the rate of a stressor that gave nothing is empty."""
    machines = [run.environment for run in part.runs]
    columns: dict[str, Any] = {
        "run": chosen([run.id for run in part.runs], part.run),
        "started": chosen([run.started.isoformat() for run in part.runs], part.run),
        "cpu": chosen([machine.cpu for machine in machines], part.run),
        "kernel": chosen([machine.kernel for machine in machines], part.run),
        "cores": pa.array(np.array([machine.cores for machine in machines], np.int32)[part.run]),
        "tool": chosen(part.tools, part.tool),
        "stressor": chosen(part.stressors, part.stressor),
        "repetition": pa.array(part.repetition),
        "rate": pa.array(part.rate, mask=np.isnan(part.rate)),
    }
    return pa.table(columns)
