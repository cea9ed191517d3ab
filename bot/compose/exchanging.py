"""What `suspects history` does with a store: summaries, checks, and exchange with files of other tools."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bot.adapters.importers import duration_tables, fingerprint_tables, formats, profile_tables, tabular
from bot.adapters.stores import segments
from bot.adapters.stores.directory import DirectoryPlace
from bot.adapters.stores.layered import LayeredStore
from bot.adapters.stores.rows import DURATIONS, FINGERPRINTS, PROFILES, TRIALS, Rows
from bot.model.duration_history import NO_BIN, DurationTable, lower_edges
from bot.model.errors import UsageError
from bot.model.history import EVERYTHING, NO_METRIC, OUTCOMES, Measurements, Segment, Selection
from bot.model.machines import FingerprintTable
from bot.model.profile_history import NO_COUNT, NO_METHOD, ProfileTable

TABLES = (".csv", ".parquet")
MOST_CALLS = 0.9


@dataclass(frozen=True)
class Exchanged:
    """How many runs and rows of each kind went over, and how many runs were there already."""

    runs: int
    rows: Mapping[str, int]
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


def chosen(store: LayeredStore, run: str) -> Mapping[str, Segment]:
    """Kind -> segment of the one run whose id, or a segment of which, begins so.

    Raises:
        UsageError: there is none, or several.
    """
    readable = [(s.run.id, s) for s in store.segments() if s.run]
    exact = [(id_, s) for id_, s in readable if run in (id_, s.name)]
    found = exact or [(id_, s) for id_, s in readable if id_.startswith(run) or s.name.startswith(run)]
    ids = {id_ for id_, _ in found}
    if len(ids) != 1:
        raise UsageError(f"{run}: {len(ids)} runs of the history begin so; `suspects history list` has all")
    return {segment.kind: segment for _, segment in found}


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


def costliest(part: ProfileTable, most: int = 20) -> list[dict[str, Any]]:
    """The methods with the largest mean share over all profiles: seconds (profiled), calls, instructions."""
    profiles = max(len(np.unique(part.profile)), 1)
    shown = part.method != NO_METHOD
    shares = np.bincount(part.method[shown], part.self_share[shown], len(part.methods)) / profiles
    told = []
    for code in np.argsort(-shares, kind="stable")[:most]:
        rows = shown & (part.method == code)
        means = {
            "self_seconds": _mean(part.self_seconds[rows], math.nan),
            "calls": _mean(part.calls[rows], NO_COUNT),
            "instructions": _mean(part.instructions[rows], NO_COUNT),
        }
        method = part.methods[code]
        told.append(
            {"method": method.name, "file": method.file, "line": method.line, "share": shares[code], **means}
        )
    return told


def longest(part: DurationTable, most: int = 20) -> list[dict[str, Any]]:
    """The watched methods with the most seconds: calls, their mean, and what nine in ten are below."""
    told = []
    spent = np.bincount(part.method, part.seconds, len(part.methods))
    for code in np.argsort(-spent, kind="stable")[:most]:
        rows = (part.method == code) & (part.bin != NO_BIN)
        counted = np.bincount(part.bin[rows], part.count[rows])
        calls = int(counted.sum())
        most_of_them = np.searchsorted(np.cumsum(counted), MOST_CALLS * calls)
        told.append(
            {
                "method": part.methods[code].name,
                "file": part.methods[code].file,
                "calls": calls,
                "mean": float(part.seconds[rows].sum() / calls) if calls else None,
                "nine_in_ten_below": float(lower_edges(most_of_them + 1)) if calls else None,
            }
        )
    return told


def stressed(part: FingerprintTable) -> list[dict[str, Any]]:
    """Of each stressor the median rate, in operations per CPU second; None: it gave nothing."""
    return [
        {
            "stressor": name,
            "repetitions": len(found),
            "rate": None if np.isnan(found).all() else float(np.nanmedian(found)),
        }
        for _, _, rates in part.machines()
        for name, found in rates.items()
    ]


def _mean(values: np.ndarray, nothing: float) -> float | None:
    known = values[~np.isnan(values) & (values != nothing)]
    return float(known.mean()) if len(known) else None


_ENDING = re.compile(r"\.[a-z][a-z0-9]*")
"""What a file's name ends in; a folder may be called after a version."""


def exported(
    store: LayeredStore, target: Path, wanted: Selection = EVERYTHING, *, kind: str = TRIALS.kind
) -> Exchanged:
    """Writes a table (`.csv`, `.parquet`) of one kind, or copies of all segments into a folder.

    Raises:
        UsageError: the ending is unknown, a selection goes with no folder, or there is nothing to export.
        HistoryError: the folder cannot be written.
        OSError: the file cannot be written.
    """
    ending = target.suffix.lower()
    if ending not in TABLES and not target.is_dir() and _ENDING.fullmatch(ending):
        raise UsageError(
            f"{target}: {target.suffix} is no known ending; a table ends in {' or '.join(TABLES)},"
            " and the name of a new folder in none"
        )
    if ending not in TABLES:
        if wanted != EVERYTHING or kind != TRIALS.kind:
            raise UsageError(
                f"{target}: a folder gets all segments; a selection needs a {' or '.join(TABLES)} file"
            )
        return _copied(store, DirectoryPlace(target))
    if kind == PROFILES.kind:
        return _written(store.profiles, profile_tables.write, kind, wanted=wanted, target=target)
    if kind == DURATIONS.kind:
        return _written(store.durations, duration_tables.write, kind, wanted=wanted, target=target)
    if kind == FINGERPRINTS.kind:
        return _written(store.fingerprints, fingerprint_tables.write, kind, wanted=wanted, target=target)
    return _written(store.scan, tabular.write, kind, wanted=wanted, target=target)


def _written(
    read: Callable[[Selection], Iterable[Rows]],
    write: Callable[..., int],
    kind: str,
    *,
    wanted: Selection,
    target: Path,
) -> Exchanged:
    """Writes one table, whole or not at all."""
    options: set[str] = set()
    runs: set[str] = set()
    for part in read(wanted):
        options.update(name for configuration in part.configurations for name in configuration)
        runs.update(run.id for run in part.runs)
    if not runs:
        raise UsageError(f"{target}: there is nothing to export")
    if not target.parent.is_dir():
        raise UsageError(f"{target}: there is no folder {target.parent}")
    written = target.with_name(f".{target.name}.part").with_suffix(target.suffix.lower())
    try:
        rows = write(read(wanted), written, options=options)
        written.replace(target)
    finally:
        written.unlink(missing_ok=True)
    return Exchanged(len(runs), {kind: rows})


def imported(
    store: LayeredStore, paths: Sequence[Path], *, kind: str | None = None, revision: str | None = None
) -> Exchanged:
    """Appends the runs of files; runs that are in the history already (by their id) are left out.

    Raises:
        UsageError: a file cannot be read or understood; what was before it is imported.
        HistoryError: the history cannot be written.
    """
    known = {(segment.kind, segment.run.id) for segment in store.segments() if segment.run}
    rows: Counter[str] = Counter()
    runs: set[str] = set()
    before: set[str] = set()
    for path in paths:
        for name, content in _ready(path):
            found = segments.describe(name, content, thoroughly=True)
            if found.problem or found.run is None:
                raise UsageError(f"{path}: {found.problem or 'nothing that can be imported'}")
            if (found.kind, found.run.id) in known:
                before.add(found.run.id)
                continue
            store.add(name, content)
            known.add((found.kind, found.run.id))
            runs.add(found.run.id)
            rows[found.kind] += found.rows
        if segments.kind(path.name) or _segments_in(path):
            continue
        for part in formats.read(path, kind=kind, revision=revision):
            id_ = part.runs[0].id
            if (TRIALS.kind, id_) in known:
                before.add(id_)
                continue
            store.append(part)
            known.add((TRIALS.kind, id_))
            runs.add(id_)
            rows[TRIALS.kind] += len(part)
    return Exchanged(len(runs), rows, len(before - runs))


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
    rows: Counter[str] = Counter()
    runs = set()
    for segment in store.segments():
        if not segment.problem:
            target.add(segment.name, store.content(segment.name))
            rows[segment.kind] += segment.rows
            runs.add(segment.run.id if segment.run else segment.name)
    return Exchanged(len(runs), rows)
