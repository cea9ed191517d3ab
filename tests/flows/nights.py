"""Nights in memory: a program that moves, a store that keeps or refuses, and jobs made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from bot.adapters.simulated.revisions import SimulatedRange
from bot.adapters.simulated.sources import CallableSource
from bot.adapters.terminal import QuietProgress
from bot.flows.nights.archive import Archive
from bot.flows.nights.job import NightJob
from bot.flows.nights.past import anchor_of, newest, nights, window
from bot.flows.nights.search import NightSearch
from bot.flows.nights.window import Window
from bot.model.change_points import Observation, Probe
from bot.model.duration_history import DurationTable
from bot.model.errors import HistoryError
from bot.model.history import EVERYTHING, Measurements, RunRecord, Segment, Selection
from bot.model.machines import FingerprintTable
from bot.model.profile_history import ProfileTable
from bot.model.report import Environment, History
from bot.model.revisions import Revision
from bot.model.subject import CallableProgram, FlagOption, Subject
from bot.sampling.constraints import ConstraintSolver

FLAGS = ("alpha", "beta", "gamma", "delta", "epsilon")
REVISIONS = 1000
BEGAN = datetime(2026, 1, 1, 3, 17, tzinfo=UTC)
SUBJECT = Subject(
    program=CallableProgram(callable="m:f", revisions=REVISIONS),
    options={name: FlagOption(flag=f"--{name}") for name in FLAGS},
)


class MemoryStore:
    """The port Store in memory; `full`: refuses to be written."""

    def __init__(self, *, full: bool = False) -> None:
        self.full, self.runs = full, list[Measurements]()
        self.tables = list[ProfileTable]()
        self.calls = list[DurationTable]()
        self.fingerprinted = list[FingerprintTable]()

    @property
    def source(self) -> str | None:
        return "memory" if self.runs else None

    def append(self, run: Measurements) -> str:
        if self.full:
            raise HistoryError("the disk is full")
        self.runs.append(run)
        return run.runs[0].id

    def append_profiles(self, profiles: ProfileTable) -> str:
        if self.full:
            raise HistoryError("the disk is full")
        self.tables.append(profiles)
        return profiles.runs[0].id

    def profiles(self, wanted: Selection = EVERYTHING) -> Iterator[ProfileTable]:
        return (t for t in reversed(self.tables) if wanted.program in (None, t.runs[0].program))

    def append_durations(self, durations: DurationTable) -> str:
        if self.full:
            raise HistoryError("the disk is full")
        self.calls.append(durations)
        return durations.runs[0].id

    def durations(self, wanted: Selection = EVERYTHING) -> Iterator[DurationTable]:
        return (t for t in reversed(self.calls) if wanted.program in (None, t.runs[0].program))

    def append_fingerprints(self, fingerprints: FingerprintTable) -> str:
        if self.full:
            raise HistoryError("the disk is full")
        self.fingerprinted.append(fingerprints)
        return fingerprints.runs[0].id

    def fingerprints(self, wanted: Selection = EVERYTHING) -> Iterator[FingerprintTable]:
        return (t for t in reversed(self.fingerprinted) if wanted.program in (None, t.runs[0].program))

    def segments(self) -> Sequence[Segment]:
        raise NotImplementedError

    def scan(self, wanted: Selection = EVERYTHING) -> Iterator[Measurements]:
        return (run for run in reversed(self.runs) if wanted.program in (None, run.runs[0].program))

    def read(self, wanted: Selection = EVERYTHING) -> Measurements:
        return Measurements.concatenated(self.runs) if self.runs else Measurements.empty()

    def notes(self) -> Sequence[str]:
        return ()


@dataclass
class Moving:
    """Seconds of a program: steps (since, level names, factor), a machine's factor, revisions that fail.

    broken: the level with which nothing works, and since when. colliding: flags that fail together, always.
    """

    steps: Sequence[tuple[int, tuple[str, ...], float]] = ()
    machine: float = 1.0
    noise: float = 0.01
    failing: Callable[[int], bool] = lambda revision: False
    colliding: tuple[str, ...] = ()
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))
    broken: tuple[str, int] | None = None

    def __call__(self, revision: int, configurations: np.ndarray) -> np.ndarray:
        if self.failing(revision):
            return np.full(len(configurations), math.nan)
        seconds = 1.0 + configurations @ np.array([0.3, 0.1, 0.05, 0.2, 0.15])
        for since, names, share in self.steps:
            held = [configurations[:, FLAGS.index(n.strip("!"))] != n.startswith("!") for n in names]
            holds = np.all(held, axis=0)
            seconds = seconds + (revision >= since) * holds * share
        if self.colliding:
            at_once = configurations[:, [FLAGS.index(n) for n in self.colliding]].all(axis=1)
            seconds = np.where(at_once, math.nan, seconds)
        noise = 1.0 + self.noise * self.rng.standard_normal(len(configurations))
        if self.broken is not None and revision >= self.broken[1]:
            level = self.broken[0]
            held = configurations[:, FLAGS.index(level.strip("!"))] != level.startswith("!")
            seconds = np.where(held, math.nan, seconds)
        return np.asarray(seconds * self.machine * noise)


class DuetOf:
    """A simulated range whose values are ratios to a partner revision, as a duet's are."""

    def __init__(self, bench: SimulatedRange, partner: int) -> None:
        self.bench, self.partner = bench, partner
        self.elapsed, self.stopped, self.spent = bench.elapsed, bench.stopped, bench.spent
        self.notes, self.environment = bench.notes, bench.environment

    def measure(self, probes: Sequence[Probe]) -> Iterator[Observation]:
        for probe in probes:
            beside = list(self.bench.measure([replace(probe, revision=self.partner)]))
            for observation in self.bench.measure([probe] if beside else []):
                anchor = beside[0].value
                yield replace(
                    observation, value=observation.value / anchor, anchor=anchor if anchor > 0 else 0.0
                )


def search(asked: Window, number: int) -> NightSearch:
    """A night's search."""
    rng = np.random.default_rng([7, number])
    return NightSearch(SUBJECT.space, asked, ConstraintSolver(SUBJECT.space), rng=rng)


def job(
    program: Moving,
    store: MemoryStore,
    tip: int,
    *,
    number: int = 0,
    budget: float = 2000.0,
    stop: Callable[[], bool] = lambda: False,
    duets: bool = False,
) -> NightJob:
    """The night in which `tip` is the newest revision."""
    found = store.read()
    past = newest(found)
    ids = [f"id{i}" for i in range(tip + 1)]
    anchor = anchor_of(past, ids)
    line = [Revision(i, f"v{i[2:]}") for i in ids]
    revisions = line[anchor:]
    remembered = nights(past, SUBJECT.space, revisions, "cpu")
    source = CallableSource(program, "m:f", REVISIONS)
    range_ = SimulatedRange(source, first=anchor, rng=np.random.default_rng(number), budget=budget, stop=stop)
    partner = len(revisions) - 1 if duets else None
    return NightJob(
        subject=SUBJECT,
        name="demo",
        revisions=revisions,
        metric="cpu",
        budget=budget,
        search=search(window(len(revisions), remembered), number),
        bench=range_ if partner is None else DuetOf(range_, partner),
        past=remembered,
        store=store,
        run=RunRecord(
            id=f"night-{number}",
            mode="nightly",
            started=BEGAN + timedelta(days=number),
            program="p",
            environment=Environment(),
        ),
        history=History(),
        progress=QuietProgress(),
        partner=partner,
        archive=Archive.of(
            nights(found, SUBJECT.space, line, "cpu"),
            line,
            lambda count: search(Window(count), 0),
            since=len(line) - len(revisions),
        ),
    )
