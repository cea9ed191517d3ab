"""Collects the trials of one run, as they happen, into the columns that history keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bot.model.history import (
    COLUMNS,
    NO_EXIT_CODE,
    NO_METRIC,
    NO_PAIR,
    OUTCOMES,
    TRACKS,
    Measurements,
    RunRecord,
    canonical,
)
from bot.model.report import RevisionRef
from bot.model.space import Space, Value
from bot.model.trials import Pair, Side, Track, Trial


class Recorder:
    """Trials in, measurements out; trials that the budget cut are neither and are left out."""

    def __init__(self) -> None:
        self._columns: dict[str, list[float]] = {name: [] for name in COLUMNS}
        self._revisions: dict[str, tuple[int, RevisionRef]] = {}
        self._configurations: dict[str, tuple[int, Mapping[str, Value]]] = {}
        self._metrics: dict[str, int] = {}
        self._workloads: dict[str, int] = {}
        self._trials = 0
        self._pairs = 0

    def __len__(self) -> int:
        """Rows so far."""
        return len(self._columns["value"])

    def pair(
        self, pair: Pair, revisions: Mapping[Side, RevisionRef], space: Space, *, workload: str = ""
    ) -> None:
        """Takes both trials of a pair."""
        if pair.cut:
            return
        values = space.as_dict(pair.wish.configuration)
        for place, (side, trial) in enumerate(zip(pair.wish.sides, (pair.first, pair.second), strict=True)):
            self.trial(
                trial,
                revisions[side],
                values,
                track=pair.wish.track,
                workload=workload,
                pair=self._pairs,
                second=bool(place),
            )
        self._pairs += 1

    def trial(
        self,
        trial: Trial,
        revision: RevisionRef,
        configuration: Mapping[str, Value],
        *,
        track: Track = "duet",
        workload: str = "",
        pair: int = NO_PAIR,
        second: bool = False,
    ) -> None:
        """Takes one trial; `pair` numbers the pairs of this run."""
        if trial.outcome == "cut":
            return
        key = canonical(configuration)
        same = {
            "run": 0,
            "revision": self._revisions.setdefault(revision.revision, (len(self._revisions), revision))[0],
            "configuration": self._configurations.setdefault(key, (len(self._configurations), configuration))[
                0
            ],
            "outcome": OUTCOMES.index(trial.outcome),
            "exit_code": NO_EXIT_CODE if trial.exit_code is None else trial.exit_code,
            "trial": self._trials,
            "pair": pair,
            "second": second,
            "track": TRACKS.index(track),
            "workload": self._workloads.setdefault(workload, len(self._workloads)),
            "repetitions": trial.repetitions,
        }
        self._trials += 1
        values = trial.metrics.items() if trial.ok else ()
        codes = [(self._metrics.setdefault(name, len(self._metrics)), value) for name, value in values]
        for metric, value in codes or [(NO_METRIC, np.nan)]:
            for name, entry in {**same, "metric": metric, "value": value}.items():
                self._columns[name].append(entry)

    def measurements(self, run: RunRecord) -> Measurements:
        """Everything so far, as measurements of this run."""
        columns: dict[str, Any] = {
            name: np.array(self._columns[name], kind) for name, kind in COLUMNS.items()
        }
        return Measurements(
            runs=(run,),
            revisions=tuple(revision for _, revision in self._revisions.values()),
            configurations=tuple(configuration for _, configuration in self._configurations.values()),
            metrics=tuple(self._metrics),
            workloads=tuple(self._workloads),
            **columns,
        )
