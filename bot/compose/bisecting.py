"""Builds what a bisection needs (revisions, search, bench, journal) and runs it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot.adapters.journal import NoJournal
from bot.adapters.simulated import simulated_comparison
from bot.adapters.simulated_range import SimulatedRange
from bot.adapters.simulated_sources import load_source
from bot.compose.measuring import stop_on_signals
from bot.compose.subjects import CONFIG, Subjected, load_checked
from bot.flows.bisect import RangeJob, bisect
from bot.flows.ports import Progress
from bot.model.change_points import ChangePointSearch
from bot.model.errors import UsageError
from bot.model.report import Report
from bot.model.revisions import Revision
from bot.model.space import Configuration
from bot.model.subject import Program, Subject, TableProgram
from bot.sampling.constraints import ConstraintSolver


@dataclass(frozen=True)
class AskedRange:
    """What the command line (or the action) asks of a bisection.

    good, bad: the ends of the range. trials: how many may be run (None: the seconds decide alone).
    """

    good: str
    bad: str
    config: Path | None = None
    budget: float | None = None
    trials: int | None = None
    seed: int = 0
    estimator: str = "ours"
    repository: Path = Path()


def bisected(asked: AskedRange, progress: Progress) -> Report:
    """Runs a bisection from options to report.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
    """
    path = asked.config or asked.repository / CONFIG
    local = Subjected(load_checked(path), path.parent)
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signals())
        if isinstance(local.subject.program, Program):
            raise UsageError("`suspects bisect` of a git range is not yet supported")
        return bisect(_simulated(asked, local, progress, stop.is_set))


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
        search=search_of(asked, subject, last - first + 1, rng=searching, candidates=source.configurations),
        bench=SimulatedRange(
            source, first=first, rng=measuring, budget=budget, trials=asked.trials, stop=stop
        ),
        journal=NoJournal(),
        progress=progress,
        notes=local.notes,
    )


def search_of(
    asked: AskedRange,
    subject: Subject,
    revisions: int,
    *,
    rng: np.random.Generator,
    candidates: Collection[Configuration] | None = None,
) -> ChangePointSearch:
    """The estimator that was asked for.

    Raises:
        UsageError: there is none of that name.
    """
    from bot.flows.change_point_search import ChangePointFinder
    from bot.flows.published_search import PublishedSearch

    solver = ConstraintSolver(subject.space)
    if asked.estimator == "ours":
        return ChangePointFinder(
            subject.space, revisions, solver, rng=rng, candidates=candidates, trials=asked.trials
        )
    if asked.estimator == "published":
        return PublishedSearch(
            subject.space, revisions, solver, rng=rng, candidates=candidates, most_measurements=asked.trials
        )
    raise UsageError(f"--estimator {asked.estimator}: not known; published or ours is allowed")


def _place(word: str, revisions: Sequence[str]) -> int:
    return int(simulated_comparison(word, word, revisions).base.id)
