"""History of durations: how long the single calls of watched methods took, in logarithmic bins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.model.history import Columnar, RunRecord
from bot.model.profiles import CallPath, CallSeries, Method, Profile
from bot.model.report import RevisionRef
from bot.model.space import Value

FIRST_SECONDS, BIN_RATIO = 1e-9, 1.03
"""Bin b has the durations from FIRST_SECONDS * BIN_RATIO ** b on, shorter ones are in bin 0."""
NO_BIN = -1
"""In `DurationTable.bin` of calls whose durations are not known; of none if the method was not called."""
MOST_SUMMARIES = MOST_PATHS = 30
"""Of a method in a profile: those in which most time was spent are told apart."""
MOST_ROWS = 5_000
"""Of a method in a profile; if there are more, first arguments and then paths are not told apart."""
MOST_CALLERS = 8
"""In the text of a path, the innermost ones."""
MOST_TEXT = 1_000
OTHERS = "…"
"""Path of calls over all paths that are not told apart; also the beginning of a path that was cut."""
UNKNOWN = ""
"""Summary of arguments that are not known, or not told apart."""
BETWEEN = " > "
"""Between two callers of a path."""

DURATION_COLUMNS: Mapping[str, type[np.generic]] = {
    "run": np.int32,
    "revision": np.int32,
    "configuration": np.int32,
    "tool": np.int16,
    "profile": np.int32,
    "profiled": np.float64,
    "unprofiled": np.float64,
    "method": np.int32,
    "path": np.int32,
    "arguments": np.int32,
    "bin": np.int16,
    "count": np.int64,
    "seconds": np.float64,
}


@dataclass(frozen=True)
class DurationTable(Columnar):
    """Durations of some runs: a row for each bin of the calls of a method by path and arguments."""

    kinds = DURATION_COLUMNS
    tables = {  # noqa: RUF012  a ClassVar of the base
        "runs": "run",
        "revisions": "revision",
        "configurations": "configuration",
        "tools": "tool",
        "methods": "method",
        "paths": "path",
        "summaries": "arguments",
    }
    tools: tuple[str, ...]
    """Name and version of each profiler."""
    methods: tuple[Method, ...]
    paths: tuple[str, ...]
    """Names of callers, outermost first; empty: none is known."""
    summaries: tuple[str, ...]
    """What arguments were like: types, lengths, small numbers."""
    tool: NDArray[np.int16]
    profile: NDArray[np.int32]
    """Number of the watched trial in its run."""
    profiled: NDArray[np.float64]
    """CPU seconds of the watched trial, tool included."""
    unprofiled: NDArray[np.float64]
    """CPU seconds of the same trial without the tool; NaN: not known."""
    method: NDArray[np.int32]
    path: NDArray[np.int32]
    arguments: NDArray[np.int32]
    bin: NDArray[np.int16]
    count: NDArray[np.int64]
    """Calls in the bin; where calls were sampled, as many as these stand for."""
    seconds: NDArray[np.float64]
    """Sum of their durations, callees included."""


def bins_of(seconds: NDArray[np.float64]) -> NDArray[np.int16]:
    """The bin of each duration, shape (n,)."""
    place = (np.log(np.maximum(seconds, FIRST_SECONDS)) - np.log(FIRST_SECONDS)) / np.log(BIN_RATIO)
    return np.asarray(place.astype(np.int16))


def lower_edges(bins: NDArray[np.integer] | np.integer) -> NDArray[np.float64]:
    """Seconds at which bins begin, shape (n,); a bin ends where the next one begins."""
    return np.asarray(FIRST_SECONDS * BIN_RATIO ** bins.astype(np.float64))


class DurationRecorder:
    """Fine profiles in, a table out; those that did not go well are left out."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any]] = []
        self._rows = 0

    def __len__(self) -> int:
        """Rows so far."""
        return self._rows

    def add(
        self,
        profile: Profile,
        revision: RevisionRef,
        configuration: Mapping[str, Value],
        *,
        uncalled: Iterable[Method] = (),
    ) -> None:
        """Takes one profile; `uncalled`: methods that were looked for and are known not to be called."""
        if profile.outcome != "ok":
            return
        groups: dict[Method, list[CallSeries]] = {method: [] for method in uncalled}
        for series in profile.series:
            groups.setdefault(series.method, []).append(series)
        if not groups:
            return
        paths, summaries = dict[str, int](), dict[str, int]()
        found = [_binned(series, paths, summaries) for series in groups.values()]
        columns = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
        columns["method"] = np.repeat(np.arange(len(found)), [len(one["bin"]) for one in found])
        rows = len(columns["bin"])
        same = {"profile": len(self._parts), "profiled": profile.seconds, "unprofiled": profile.unprofiled}
        columns |= {name: np.full(rows, value) for name, value in same.items()}
        columns |= {name: np.zeros(rows) for name in ("run", "revision", "configuration", "tool")}
        self._rows += rows
        self._parts.append(
            {
                "revisions": (revision,),
                "configurations": (configuration,),
                "tools": (f"{profile.tool.name} {profile.tool.version}".rstrip(),),
                "methods": tuple(groups),
                "paths": tuple(paths),
                "summaries": tuple(summaries),
                **{name: columns[name].astype(kind) for name, kind in DURATION_COLUMNS.items()},
            }
        )

    def table(self, run: RunRecord) -> DurationTable:
        """Everything so far, as durations of this run."""
        return DurationTable.concatenated([DurationTable(runs=(run,), **part) for part in self._parts])


def _binned(
    found: Sequence[CallSeries], paths: dict[str, int], summaries: dict[str, int]
) -> dict[str, NDArray[Any]]:
    """Rows of one method, with as much detail as there is room for; texts get their codes."""
    own_paths, own_summaries = {OTHERS: 0}, {UNKNOWN: 0}
    parts = [_cells(series, own_paths, own_summaries) for series in found or [_UNCALLED]]
    cells, seconds = (np.concatenate([part[k] for part in parts]) for k in range(2))
    path, summary = (
        _largest(cells[:, k], seconds[:, 1], most) for k, most in enumerate((MOST_PATHS, MOST_SUMMARIES))
    )
    nothing = np.zeros_like(path)
    for told in ((path, summary), (path, nothing), (nothing, nothing)):
        rows, place = np.unique(np.stack([*told, cells[:, 2]], axis=1), axis=0, return_inverse=True)
        if len(rows) <= MOST_ROWS:
            break
    return {
        "path": _coded(rows[:, 0], own_paths, paths),
        "arguments": _coded(rows[:, 1], own_summaries, summaries),
        "bin": rows[:, 2],
        "count": np.rint(np.bincount(place.reshape(-1), seconds[:, 0])),
        "seconds": np.bincount(place.reshape(-1), seconds[:, 1]),
    }


_NONE = np.empty(0)
_UNCALLED = CallSeries.summed(Method(""), (), 0, 0.0)


def _cells(
    series: CallSeries, paths: dict[str, int], summaries: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Path, arguments and bin of each call (or bin of the series), and calls and seconds there."""
    if len(series.durations):
        durations, count = series.durations, np.ones(len(series.durations))
    elif series.counts.any():
        durations, count = (series.edges[:-1] + series.edges[1:]) / 2, series.counts.astype(np.float64)
    else:
        durations, count = _NONE, np.ones(1)
    bins = bins_of(durations).astype(np.int64) if len(durations) else np.array([NO_BIN])
    seconds = durations * count if len(durations) else count
    given = [_shortened(", ".join(one)) for one in series.arguments] or [UNKNOWN] * len(bins)
    codes = [summaries.setdefault(text, len(summaries)) for text in given]
    path = paths.setdefault(_path(series.path), len(paths))
    # Where only some calls were timed, each stands for several.
    count = count * series.calls / max(count.sum(), 1.0)
    seconds = seconds * series.seconds / max(seconds.sum(), FIRST_SECONDS)
    cells = np.stack([np.full(len(bins), path), np.array(codes), bins], axis=1)
    return cells, np.stack([count, seconds], axis=1)


def _largest(codes: NDArray[np.int64], seconds: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """The codes with the most seconds; 0 instead of the others."""
    spent = np.bincount(codes, seconds)
    kept = np.zeros(len(spent), bool)
    kept[np.argsort(-spent, kind="stable")[:most]] = True
    return np.where(kept[codes], codes, 0)


def _coded(codes: NDArray[np.int64], own: Mapping[str, int], table: dict[str, int]) -> NDArray[np.int64]:
    """Codes into a method's own table as codes into the profile's, which gets the texts that are needed."""
    texts = list(own)
    return np.array([table.setdefault(texts[code], len(table)) for code in codes])


def _path(path: CallPath) -> str:
    names = [OTHERS] * (len(path) > MOST_CALLERS) + [method.name for method in path[-MOST_CALLERS:]]
    return _shortened(BETWEEN.join(names))


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_TEXT else OTHERS + text[-MOST_TEXT:]
