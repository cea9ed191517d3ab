"""Runs a bisection: of a git range, or of a simulated subject's revisions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bot.adapters.processes.threads import one_thread
from bot.adapters.simulated.bench import simulated_comparison
from bot.adapters.simulated.revisions import SimulatedRange
from bot.adapters.simulated.sources import load_source
from bot.adapters.trials.journal import NoJournal
from bot.compose.estimators import estimator
from bot.compose.ranging import bisected_range
from bot.compose.runs import stop_on_signals
from bot.compose.searching import AskedRange, search_of
from bot.compose.subjects import CONFIG, Subjected, load_checked, refuse_simulated, with_config
from bot.flows.bisect import RangeJob, bisect
from bot.flows.ports import Progress
from bot.model.errors import UsageError
from bot.model.report import Report
from bot.model.revisions import Revision
from bot.model.subject import Program, TableProgram

__all__ = ["AskedRange", "bisected"]


def bisected(asked: AskedRange, progress: Progress) -> Report:
    """Runs a bisection from options to report; the file is `--config`, the working directory's, or bad's.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
    """
    estimator(asked.estimator)
    path = asked.config or asked.repository / CONFIG
    local = Subjected(load_checked(path), path.parent) if asked.config or path.is_file() else None
    with one_thread(), stop_on_signals() as stop:
        if local is None or isinstance(local.subject.program, Program):
            found = bisected_range(asked, None if local is None else local.subject, progress, stop)
            return with_config(found, asked.config or (None if local is None else Path(CONFIG)))
        refuse_simulated(asked.simulated)
        if asked.history is not None:
            raise UsageError("--history: trials of a table or callable are not remembered; leave it out")
        if asked.tags:
            raise UsageError("--tags: a table or callable has none; leave it out")
        return with_config(bisect(_simulated(asked, local, progress, stop.is_set)), asked.config)


def _simulated(asked: AskedRange, local: Subjected, progress: Progress, stop: Callable[[], bool]) -> RangeJob:
    """The job of a table or a callable: without --budget the trials alone are limited."""
    subject = local.subject
    source = load_source(subject, local.folder)
    first, last = (_place(word, source.revisions) for word in (asked.good, asked.bad))
    if first >= last:
        raise UsageError(f"{asked.good}..{asked.bad}: a range goes from an earlier revision to a later one")
    searching, measuring = np.random.default_rng(asked.seed).spawn(2)
    budget = asked.budget or (subject.budget.bisect if asked.trials is None else math.inf)
    return RangeJob(
        subject=subject,
        name=local.folder.resolve().name,
        revisions=[Revision(str(i), source.revisions[i]) for i in range(first, last + 1)],
        metric=subject.program.metric if isinstance(subject.program, TableProgram) else "cpu",
        budget=budget,
        search=search_of(
            asked,
            subject,
            last - first + 1,
            rng=searching,
            candidates=source.configurations,
            seconds=budget * source.second,
        ),
        bench=SimulatedRange(
            source, first=first, rng=measuring, budget=budget, trials=asked.trials, stop=stop
        ),
        journal=NoJournal(),
        progress=progress,
        notes=local.notes,
        unit=source.unit,
        visible=asked.estimator == "ours",
    )


def _place(word: str, revisions: Sequence[str]) -> int:
    return int(simulated_comparison(word, word, revisions).base.id)
