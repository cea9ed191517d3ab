"""What `suspects history` does with a store: summaries, checks, and exchange with files of other tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bot.adapters.importers import formats, tabular
from bot.adapters.stores import segments
from bot.adapters.stores.directory import DirectoryPlace
from bot.adapters.stores.layered import LayeredStore
from bot.model.errors import UsageError
from bot.model.history import EVERYTHING, NO_METRIC, OUTCOMES, Measurements, Segment, Selection

TABLES = (".csv", ".parquet")


@dataclass(frozen=True)
class Exchanged:
    """How many runs and rows went over, and how many runs were there already."""

    runs: int
    rows: int
    known: int = 0


def listed(found: Sequence[Segment]) -> list[dict[str, Any]]:
    """Segments as plain values, for JSON."""
    return [
        {
            "name": segment.name,
            "kind": segment.kind,
            "bytes": segment.bytes,
            "rows": segment.rows,
            "problem": segment.problem,
            "run": segment.run.model_dump(mode="json") if segment.run else None,
        }
        for segment in found
    ]


def chosen(store: LayeredStore, run: str) -> Segment:
    """The one segment whose run's id, or whose own name, begins so.

    Raises:
        UsageError: there is none, or several.
    """
    readable = [segment for segment in store.segments() if segment.run]
    exact = [s for s in readable if s.run and run in (s.run.id, s.name)]
    found = exact or [s for s in readable if s.run and (s.run.id.startswith(run) or s.name.startswith(run))]
    if len(found) != 1:
        raise UsageError(f"{run}: {len(found)} runs of the history begin so; `suspects history list` has all")
    return found[0]


def medians(part: Measurements) -> list[dict[str, Any]]:
    """Per revision, configuration and metric: good trials, their median, failed trials; as measured."""
    keys = np.stack([part.revision, part.configuration], axis=1) if len(part) else np.empty((0, 2), np.int32)
    told = []
    for revision, configuration in dict.fromkeys(map(tuple, keys.tolist())):
        rows = (part.revision == revision) & (part.configuration == configuration)
        failed = int(np.sum(rows & (part.metric == NO_METRIC)))
        good = [code for code in np.unique(part.metric[rows]) if code != NO_METRIC]
        for code in good or [NO_METRIC]:
            values = part.value[rows & (part.metric == code)]
            told.append(
                {
                    "revision": part.revisions[revision].revision,
                    "options": dict(part.configurations[configuration]),
                    "metric": part.metrics[code] if good else None,
                    "trials": len(values) if good else 0,
                    "median": float(np.median(values)) if good else None,
                    "failed": failed,
                    "outcomes": sorted({OUTCOMES[o] for o in np.unique(part.outcome[rows])}),
                }
            )
    return told


def exported(store: LayeredStore, target: Path, wanted: Selection = EVERYTHING) -> Exchanged:
    """Writes a table (`.csv`, `.parquet`), or copies of all segments into a folder.

    Raises:
        UsageError: a selection does not go with a folder, or there is nothing to export.
        HistoryError: the folder cannot be written.
        OSError: the file cannot be written.
    """
    if target.suffix.lower() not in TABLES:
        if wanted != EVERYTHING:
            raise UsageError(
                f"{target}: a folder gets all segments; a selection needs a {' or '.join(TABLES)} file"
            )
        return _copied(store, DirectoryPlace(target))
    options: set[str] = set()
    runs: set[str] = set()
    for part in store.scan(wanted):
        options.update(name for configuration in part.configurations for name in configuration)
        runs.update(run.id for run in part.runs)
    if not runs:
        raise UsageError(f"{target}: there is nothing to export")
    written = target.with_name(f".{target.name}.part").with_suffix(target.suffix.lower())
    try:
        rows = tabular.write(store.scan(wanted), written, options=options)
        written.replace(target)
    finally:
        written.unlink(missing_ok=True)
    return Exchanged(len(runs), rows)


def imported(
    store: LayeredStore, paths: Sequence[Path], *, kind: str | None = None, revision: str | None = None
) -> Exchanged:
    """Appends the runs of files; runs that are in the history already (by their id) are left out.

    Raises:
        UsageError: a file cannot be read or understood; what was before it is imported.
        HistoryError: the history cannot be written.
    """
    known = {segment.run.id for segment in store.segments() if segment.run}
    runs = rows = before = 0
    for path in paths:
        for name, content in _ready(path):
            found = segments.describe(name, content, thoroughly=True)
            if found.problem or found.run is None:
                raise UsageError(f"{path}: {found.problem or 'nothing that can be imported'}")
            fresh = found.run.id not in known
            if fresh:
                store.add(name, content)
            known.add(found.run.id)
            runs, rows, before = runs + fresh, rows + found.rows * fresh, before + (not fresh)
        if segments.kind(path.name) or _segments_in(path):
            continue
        for part in formats.read(path, kind=kind, revision=revision):
            fresh = part.runs[0].id not in known
            if fresh:
                store.append(part)
            known.add(part.runs[0].id)
            runs, rows, before = runs + fresh, rows + len(part) * fresh, before + (not fresh)
    return Exchanged(runs, rows, before)


def _segments_in(path: Path) -> list[Path]:
    return sorted(p for p in path.iterdir() if segments.kind(p.name)) if path.is_dir() else []


def _ready(path: Path) -> list[tuple[str, bytes]]:
    """Segments: a file that is one, or those in a folder of them."""
    own = [path] if segments.kind(path.name) else _segments_in(path)
    try:
        return [(one.name, one.read_bytes()) for one in own]
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be read: {error.strerror}") from None


def _copied(store: LayeredStore, target: DirectoryPlace) -> Exchanged:
    runs = rows = 0
    for segment in store.segments():
        if not segment.problem:
            target.add(segment.name, store.content(segment.name))
            runs, rows = runs + 1, rows + segment.rows
    return Exchanged(runs, rows)
