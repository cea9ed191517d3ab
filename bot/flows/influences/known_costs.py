"""What history has of the cost of a program and of its methods."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from bot.analysis.influences.trial_costs import NIGHTS
from bot.flows.ports import Store
from bot.model.duration_history import DurationTable
from bot.model.history import Columnar, Measurements, Selection, program_fingerprint
from bot.model.profile_history import ProfileTable
from bot.model.subject import Subject, TableProgram

Rows = TypeVar("Rows", bound=Columnar)
ROWS = 3_000_000
"""Rows of profiles, and of durations, that are read (by whole pieces), the newest first."""
TIMES = ("cpu", "wall")


@dataclass(frozen=True)
class Known:
    """What was measured of one program, and the trials' metric that stands for its cost."""

    profiles: ProfileTable = field(default_factory=ProfileTable.empty)
    trials: Measurements = field(default_factory=Measurements.empty)
    metric: str = "cpu"
    durations: DurationTable = field(default_factory=DurationTable.empty)


def known(store: Store, subject: Subject) -> Known:
    """What a history has of the subject.

    Raises:
        HistoryError: it cannot be read.
    """
    program = program_fingerprint(subject)
    nights = Selection(last=NIGHTS, program=program, modes=frozenset({"nightly"}))
    trials = store.read(nights)
    metric = cost_metric(subject, trials.metrics)
    return Known(profiles_of(store, subject), trials, metric, durations_of(store, subject))


def profiles_of(store: Store, subject: Subject) -> ProfileTable:
    """The newest profiles of the subject, at most about `ROWS` of them."""
    return ProfileTable.concatenated(_newest(store.profiles(Selection(program=program_fingerprint(subject)))))


def durations_of(store: Store, subject: Subject) -> DurationTable:
    """The newest durations of the subject's single calls, at most about `ROWS` of them."""
    return DurationTable.concatenated(
        _newest(store.durations(Selection(program=program_fingerprint(subject))))
    )


def _newest(pieces: Iterable[Rows]) -> list[Rows]:
    """Pieces until they have `ROWS` rows; the newest come first."""
    parts: list[Rows] = []
    for part in pieces:
        parts.append(part)
        if sum(map(len, parts)) >= ROWS:
            break
    return parts


def cost_metric(subject: Subject, measured: Collection[str]) -> str:
    """The metric that is the program's time."""
    if isinstance(subject.program, TableProgram):
        return subject.program.metric
    return next((metric for metric in TIMES if metric in measured), TIMES[0])
