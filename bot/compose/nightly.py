"""Runs a night: of the default branch of a repository, or of a simulated subject that keeps moving."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from bot.adapters.processes.threads import one_thread
from bot.adapters.simulated.bench import simulated_comparison
from bot.adapters.simulated.revisions import SimulatedRange
from bot.adapters.simulated.sources import load_source
from bot.compose.accepted import with_accepted_at_night
from bot.compose.estimators import estimator
from bot.compose.exchanging import exported
from bot.compose.nightly_git import night_of_branch
from bot.compose.nights import (
    AskedNight,
    Remembered,
    opened_issues,
    search_of,
    teaching_of,
    with_archive,
)
from bot.compose.published_nights import with_estimator
from bot.compose.records import record
from bot.compose.remembering import AskedHistory, opened_history
from bot.compose.runs import stop_on_signals
from bot.compose.subjects import CONFIG, Subjected, load_checked, with_config
from bot.flows.night import night
from bot.flows.nights.job import NightJob
from bot.flows.nights.past import anchor_of, nights
from bot.flows.ports import Progress
from bot.model.errors import UsageError
from bot.model.report import Report
from bot.model.revisions import Revision
from bot.model.subject import Program, TableProgram

__all__ = ["AskedNight", "leave_history", "spent_night"]


def spent_night(asked: AskedNight, progress: Progress) -> Report:
    """Runs a night from options to report; the file is `--config` or the working directory's.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
    """
    estimator(asked.estimator)
    path = asked.config or asked.repository / CONFIG
    local = Subjected(load_checked(path), path.parent)
    subject = local.subject
    if not asked.simulated and not isinstance(subject.program, Program):
        raise UsageError(
            "program: a table or callable is for evaluation; the action measures a `run` command"
        )
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        stop = stack.enter_context(stop_on_signals())
        where = AskedHistory(
            asked.settings,
            configured=subject.history,
            place=asked.history,
            folder=asked.repository,
            first=asked.leave,
        )
        store = stack.enter_context(opened_history(where))
        progress.stage("reading the history")
        remembered = Remembered.of(store, subject, opened_issues(asked, stack))
        if isinstance(subject.program, Program):
            found = night_of_branch(asked, subject, remembered, progress=progress, stop=stop)
            return with_config(found, asked.config or Path(CONFIG))
        job = _simulated(asked, local, remembered, progress=progress, stop=stop.is_set)
        return with_config(night(with_accepted_at_night(path, job)), asked.config)


def leave_history(asked: AskedNight, folder: Path) -> None:
    """Copies all segments into a folder, from where a workflow uploads them; without any there is no folder.

    Raises:
        UsageError: the configuration file is wrong.
        HistoryError: the folder cannot be written.
    """
    path = asked.config or asked.repository / CONFIG
    configured = load_checked(path).history
    where = AskedHistory(asked.settings, configured=configured, place=asked.history, folder=asked.repository)
    with opened_history(where) as store:
        if store.segments():
            exported(store, folder)


def _simulated(
    asked: AskedNight,
    local: Subjected,
    remembered: Remembered,
    *,
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
    line = [Revision(i, source.revisions[int(i)]) for i in ids]
    revisions = line[anchor:]
    metric = subject.program.metric if isinstance(subject.program, TableProgram) else "cpu"
    budget = asked.budget or subject.budget.nightly
    searching, measuring, planning = remembered.generators(asked.seed, 3)
    past = nights(remembered.past, subject.space, revisions, metric)
    name = local.folder.resolve().name
    job = NightJob(
        subject=subject,
        name=name,
        revisions=revisions,
        metric=metric,
        budget=budget,
        search=search_of(subject, len(revisions), past, rng=searching, candidates=source.configurations),
        bench=SimulatedRange(source, first=anchor, rng=measuring, budget=budget, stop=stop),
        past=past,
        alone=source.unit,
        store=remembered.store if asked.writes else None,
        issues=remembered.issues,
        run=record("nightly", asked.settings, subject, name=name, label=revisions[-1].label),
        history=remembered.history(),
        progress=progress,
        notes=(*local.notes, *remembered.notes(past, writes=asked.writes)),
        teaching=teaching_of(
            remembered, subject, metric, rng=planning, tip=revisions[-1], candidates=source.configurations
        ),
    )
    job = with_archive(job, remembered, before=lambda: line[:anchor])
    return with_estimator(asked, remembered, job, candidates=source.configurations)
