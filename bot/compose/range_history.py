"""The history that a bisection adds to: trials of the branch that is checked out, where one may write."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from bot.adapters.repositories.git import Repository
from bot.compose.records import record
from bot.compose.remembering import AskedHistory, opened_history
from bot.compose.searching import AskedRange
from bot.flows.bisect import RangeJob
from bot.flows.ranges.trials import observed
from bot.model.history import Selection

SEARCH = 12
"""Characters by which the runs of one search are known."""


def with_history(
    job: RangeJob, asked: AskedRange, repository: Repository, *, search: str, stack: ExitStack
) -> RangeJob:
    """The same with a history for its trials, or a note why there is none.

    search: a name that all runs have in common which go on with one another. stack: closes the history.

    Raises:
        UsageError: `--history` cannot be understood, or a place lacks what it needs.
    """
    settings, good, bad = asked.settings, job.revisions[0], job.revisions[-1]
    why = ""
    if settings is None:
        why = "This is not the default branch: the bisection is not remembered."
    elif repository.line("--max-count=1", "^HEAD", bad.id):
        why = f"{bad.label} is not in the history of what is checked out: the bisection is not remembered."
    if settings is None or why:
        return replace(job, notes=(*job.notes, why))
    places = job.subject.history
    where = AskedHistory(settings, configured=places, place=asked.history, folder=asked.repository)
    store = stack.enter_context(opened_history(where))
    ours = f"{search[:SEARCH]}-" if job.resumes else ""
    span = f"{good.label}..{bad.label}"
    run = record("bisect", settings, job.subject, name=job.name, label=span, search=ours)
    remembered = 0
    if job.journal.observations():
        wanted = Selection(program=run.program, modes=frozenset({"bisect"}))
        known = (part for part in store.scan(wanted) if part.runs[0].id.startswith(f"bisect-{ours}"))
        remembered = sum(map(observed, known))
    return replace(job, store=store, run=run, remembered=remembered)
