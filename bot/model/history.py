"""History: what a run measured, in columns, with what a later run must know to compare itself with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.model.profiles import Method
from bot.model.report import Environment, History, OptionValue, RevisionRef
from bot.model.space import Space, Value
from bot.model.subject import Program, Subject
from bot.model.trials import Outcome, Track

RunMode: TypeAlias = Literal["pull_request", "nightly", "bisect", "import", "machine"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
TRACKS: tuple[Track, ...] = get_args(Track)
NO_METRIC = -1
"""Code in `Measurements.metric` of a failed trial's one row."""
NO_PAIR = -1
NO_EXIT_CODE = -(2**15)


class KnownOption(BaseModel):
    """An option as it was when a run measured it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["flag", "choice", "number"]
    values: tuple[OptionValue, ...]
    default: OptionValue


class RunRecord(BaseModel):
    """One run that left measurements: which one, when, of what, by which version and on which machine.

    id: unique for ever. started: UTC. ref: the branch or range that was measured; label: for people.
    program: `program_fingerprint` of the subject; runs of different programs are not compared.
    options: the space at that time; an option that a run does not know had its program's own behaviour.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    mode: RunMode
    started: AwareDatetime
    subject: str = ""
    program: str = ""
    ref: str = ""
    label: str = ""
    tool_version: str = ""
    environment: Environment = Environment()
    options: dict[str, KnownOption] = {}
    metrics: dict[str, str] = {}
    """Unit of each metric that is not one of ours; for people."""

    @property
    def machine(self) -> str:
        """Which kind of machine it was: equal where medians may be compared without an anchor."""
        known = self.environment
        return _digest([known.cpu, known.cores, known.kernel, known.image, sorted(known.tools.items())])


COLUMNS: Mapping[str, type[np.generic]] = {
    "run": np.int32,
    "revision": np.int32,
    "configuration": np.int32,
    "metric": np.int16,
    "value": np.float64,
    "outcome": np.int8,
    "exit_code": np.int16,
    "trial": np.int32,
    "pair": np.int32,
    "second": np.bool_,
    "track": np.int8,
    "workload": np.int16,
    "repetitions": np.int32,
}
TABLES: Mapping[str, str] = {
    "runs": "run",
    "revisions": "revision",
    "configurations": "configuration",
    "metrics": "metric",
    "workloads": "workload",
}
"""Table -> the column of codes into it."""


@dataclass(frozen=True)
class Columnar:
    """Rows of some runs as columns of shape (n,); integer columns point into the tables (tuples) they name.

    A subclass is a frozen dataclass with a field for each of its `tables` and `kinds`. In a column of codes
    -1 is nothing.
    """

    kinds: ClassVar[Mapping[str, type[np.generic]]]
    """Column -> its type."""
    tables: ClassVar[Mapping[str, str]]
    """Table -> the column of codes into it."""
    runs: tuple[RunRecord, ...]
    revisions: tuple[RevisionRef, ...]
    configurations: tuple[Mapping[str, Value], ...]
    run: NDArray[np.int32]
    revision: NDArray[np.int32]
    configuration: NDArray[np.int32]

    def __len__(self) -> int:
        """Rows."""
        return len(self.run)

    @classmethod
    def empty(cls) -> Self:
        """No run and no row."""
        return cls.concatenated([])

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Name -> column."""
        return {name: getattr(self, name) for name in self.kinds}

    @cached_property
    def newest(self) -> datetime | None:
        """When the youngest run began."""
        return max((run.started for run in self.runs), default=None)

    def where(self, rows: NDArray[np.bool_]) -> Self:
        """The rows of a mask of shape (n,); what codes point into stays as it is."""
        kept: dict[str, Any] = {name: column[rows] for name, column in self.columns.items()}
        tables: dict[str, Any] = {name: getattr(self, name) for name in self.tables}
        return type(self)(**tables, **kept)

    @classmethod
    def concatenated(cls, parts: Sequence[Self]) -> Self:
        """All rows in order, with one table of each kind and codes into it."""
        tables: dict[str, Any] = {}
        columns = {name: [getattr(part, name) for part in parts] for name in cls.kinds}
        for table, column in cls.tables.items():
            entries: dict[object, int] = {}
            values: list[object] = []
            for i, part in enumerate(parts):
                codes = [_code(entry, entries, values) for entry in getattr(part, table)]
                # One more for the codes -1 (nothing), which point at the last element.
                columns[column][i] = np.array([*codes, -1], cls.kinds[column])[columns[column][i]]
            tables[table] = tuple(values)
        joined: dict[str, Any] = {
            name: np.concatenate(found) if found else np.empty(0, cls.kinds[name])
            for name, found in columns.items()
        }
        return cls(**tables, **joined)


@dataclass(frozen=True)
class Measurements(Columnar):
    """Trials of some runs in long form: a row for each metric of each trial, in order of measuring.

    A failed trial is one row without metric (`NO_METRIC`) and value (NaN), so that nothing is lost.
    """

    kinds = COLUMNS
    tables = TABLES
    metrics: tuple[str, ...]
    workloads: tuple[str, ...]
    metric: NDArray[np.int16]
    value: NDArray[np.float64]
    """Seconds, bytes or counts per run of the program, as in `Trial.metrics`."""
    outcome: NDArray[np.int8]
    """Code into `OUTCOMES`."""
    exit_code: NDArray[np.int16]
    """`NO_EXIT_CODE`: there was none."""
    trial: NDArray[np.int32]
    """Number of the trial in its run."""
    pair: NDArray[np.int32]
    """Number of the pair in its run; `NO_PAIR`: a trial alone."""
    second: NDArray[np.bool_]
    """Whether it was the second of its pair (`Wish.sides[1]`)."""
    track: NDArray[np.int8]
    """Code into `TRACKS`."""
    workload: NDArray[np.int16]
    repetitions: NDArray[np.int32]


@dataclass(frozen=True)
class Selection:
    """Which measurements are wanted; None: all.

    last: the newest so many runs that fit the rest. revisions: full ids. program: `RunRecord.program`.
    """

    last: int | None = None
    revisions: frozenset[str] | None = None
    program: str | None = None
    metrics: frozenset[str] | None = None
    modes: frozenset[RunMode] | None = None
    since: datetime | None = None


EVERYTHING = Selection()


@dataclass(frozen=True)
class Segment:
    """One immutable file of a history: its name, kind, size (bytes), and what its head says of the rows.

    problem: "" or why it cannot be read, in one sentence; then `run` is None. kind: "trials" or what a later
    version stores.
    """

    name: str
    kind: str
    bytes: int
    rows: int = 0
    run: RunRecord | None = None
    problem: str = ""


def program_fingerprint(subject: Subject) -> str:
    """What makes two runs comparable: how the program is built, started and fed, but not its options."""
    program = subject.program.model_dump(mode="json")
    if isinstance(subject.program, Program):
        for limit in ("timeout", "build_timeout", "setup", "pass_env"):
            del program[limit]
    inputs = {name: load.model_dump(mode="json") for name, load in subject.workloads.items()}
    return _digest([program, inputs, subject.files])


def known_options(space: Space) -> dict[str, KnownOption]:
    """The space's options as a run record keeps them."""
    return {o.name: KnownOption(kind=o.kind, values=o.values, default=o.default) for o in space.options}


def told(source: str | None, found: Measurements, now: datetime) -> History:
    """What a report says of the history that a run used; `now` has a time zone."""
    if source is None or found.newest is None:
        return History(source=source)
    age = (now - found.newest).total_seconds() / 86400
    return History(
        source=source,
        measurements=len(found),
        newest=found.newest.astimezone(UTC).isoformat(timespec="seconds"),
        age_days=max(age, 0.0),
    )


def canonical(configuration: Mapping[str, Value]) -> str:
    """One text for each configuration, whatever the order of its options."""
    return json.dumps(dict(configuration), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _code(entry: object, entries: dict[object, int], values: list[object]) -> int:
    """The code of an entry; a new one is added."""
    if id(entry) in entries:  # parts of one history share most entries
        return entries[id(entry)]
    key: object
    match entry:
        case RunRecord():  # equal ids may be two segments, whose trials are numbered apart
            key = id(entry)
        case RevisionRef():
            key = entry.revision
        case Method():  # its line is not part of what it is, but told
            key = (entry, entry.line)
        case Mapping():
            key = canonical(entry)
        case _:
            key = str(entry)
    if key not in entries:
        entries[key] = len(values)
        values.append(entry)
    return entries.setdefault(id(entry), entries[key])


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
