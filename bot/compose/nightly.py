"""Runs a night: of the default branch of a repository, or of a simulated subject that keeps moving."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bot import __version__
from bot.adapters.simulated import simulated_comparison
from bot.adapters.simulated_range import SimulatedRange
from bot.adapters.simulated_sources import load_source
from bot.compose.measuring import stop_on_signals
from bot.compose.remembering import AskedHistory, opened_history
from bot.compose.subjects import CONFIG, Subjected, load_checked
from bot.flows.night import NightJob, night
from bot.flows.night_past import NIGHTS, Night, anchor_of, nights, window
from bot.flows.night_search import NightSearch
from bot.flows.ports import Progress, Store
from bot.model.errors import UsageError
from bot.model.history import (
    Measurements,
    RunRecord,
    Selection,
    known_options,
    program_fingerprint,
    told,
)
from bot.model.report import Report
from bot.model.revisions import Revision
from bot.model.subject import Program, Subject, TableProgram
from bot.sampling.constraints import ConstraintSolver
from bot.settings import Settings


@dataclass(frozen=True)
class AskedNight:
    """What the command line (or the action) asks of a night.

    head: the tip (None: the checked-out commit, or the last simulated revision). history: `--history`.
    writes: whether this run's trials enter the history; only the default branch's do. simulated: whether a
    table or a callable may be the subject.
    """

    settings: Settings
    config: Path | None = None
    head: str | None = None
    budget: float | None = None
    seed: int = 0
    history: str | None = None
    repository: Path = Path()
    cache: Path | None = None
    writes: bool = True
    simulated: bool = True


@dataclass(frozen=True)
class Remembered:
    """The store, and what it knows of this program at night."""

    store: Store
    past: Measurements


def spent_night(asked: AskedNight, progress: Progress) -> Report:
    """Runs a night from options to report.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
    """
    path = asked.config or asked.repository / CONFIG
    local = Subjected(load_checked(path), path.parent)
    subject = local.subject
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signals())
        where = AskedHistory(
            asked.settings, configured=subject.history, place=asked.history, folder=asked.repository
        )
        store = stack.enter_context(opened_history(where))
        progress.stage("reading the history")
        wanted = Selection(last=NIGHTS, program=program_fingerprint(subject), modes=frozenset({"nightly"}))
        remembered = Remembered(store, store.read(wanted))
        if isinstance(subject.program, Program):
            raise UsageError("`suspects nightly` of a git repository is not yet supported")
        if not asked.simulated:
            raise UsageError(
                "program: a table or callable is for evaluation; the action measures a `run` command"
            )
        return night(_simulated(asked, local, remembered, progress, stop.is_set))


def _simulated(
    asked: AskedNight,
    local: Subjected,
    remembered: Remembered,
    progress: Progress,
    stop: Callable[[], bool],
) -> NightJob:
    """The job of a table or a callable, whose tip is `head` or the last revision."""
    subject = local.subject
    source = load_source(subject, local.folder)
    last = len(source.revisions) - 1
    if asked.head is not None:
        last = int(simulated_comparison(asked.head, asked.head, source.revisions).base.id)
    ids = [str(i) for i in range(last + 1)]
    anchor = anchor_of(remembered.past, ids)
    revisions = [Revision(i, source.revisions[int(i)]) for i in ids[anchor:]]
    metric = subject.program.metric if isinstance(subject.program, TableProgram) else "cpu"
    budget = asked.budget or subject.budget.nightly
    searching, measuring = np.random.default_rng(asked.seed).spawn(2)
    past = nights(remembered.past, subject.space, revisions, metric)
    return NightJob(
        subject=subject,
        name=local.folder.resolve().name,
        revisions=revisions,
        metric=metric,
        budget=budget,
        search=NightSearch(
            subject.space,
            window(len(revisions), past),
            ConstraintSolver(subject.space),
            rng=searching,
            candidates=source.configurations,
            threshold=subject.threshold,
        ),
        bench=SimulatedRange(source, first=anchor, rng=measuring, budget=budget, stop=stop),
        past=past,
        store=remembered.store if asked.writes else None,
        run=record(asked, subject, revisions, name=local.folder.resolve().name),
        history=told(remembered.store.source, remembered.past, datetime.now(UTC)),
        progress=progress,
        notes=(*local.notes, *_said(remembered, past)),
    )


def record(asked: AskedNight, subject: Subject, revisions: Sequence[Revision], *, name: str) -> RunRecord:
    """What history keeps of this run besides its trials."""
    settings = asked.settings
    own = f"{settings.run_id}-{settings.run_attempt}-" if settings.run_id is not None else ""
    return RunRecord(
        id=f"nightly-{own}{uuid.uuid4().hex}",
        mode="nightly",
        started=datetime.now(UTC),
        subject=name,
        program=program_fingerprint(subject),
        ref=settings.ref or "",
        label=revisions[-1].label,
        tool_version=__version__,
        options=known_options(subject.space),
        metrics={m.name: m.unit for m in subject.metrics if m.unit},
    )


def _said(remembered: Remembered, past: Sequence[Night]) -> list[str]:
    """What a reader must know of the history, and when no earlier night is of use."""
    said = list(remembered.store.notes())
    if not past:
        said.append("No earlier night of this program and branch is known: this is the first.")
    return said
