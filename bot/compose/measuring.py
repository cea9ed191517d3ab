"""Builds what measuring needs (repository, workshop, bench or simulation) and runs the analysis."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePosixPath

import numpy as np

from bot.adapters.builds.run_folder import first_uid, run_folder
from bot.adapters.processes.confine import what_is_missing
from bot.adapters.processes.process import accounts
from bot.adapters.processes.threads import one_thread
from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.overlay import inputs_from, overlaid, overlay_source
from bot.adapters.repositories.touched import changed_lines
from bot.adapters.simulated.bench import SimulatedBench, Source, simulated_comparison
from bot.adapters.simulated.sources import TableSource, load_source
from bot.analysis.recorded import Recorded, recorded
from bot.compose.accepted import with_accepted_changes
from bot.compose.asserted import with_assertions
from bot.compose.estimators import estimator
from bot.compose.machines import on_this_machine
from bot.compose.named_changes import named_by_nights
from bot.compose.opening import Opener
from bot.compose.own_folders import build_folder
from bot.compose.remembering import AskedHistory, opened_history
from bot.compose.runs import Run, stop_on_signals
from bot.compose.subjects import (
    CONFIG,
    Asked,
    Subjected,
    load_checked,
    local_subject,
    read_checked,
    refuse_simulated,
)
from bot.compose.wanted import refuse_unwanted
from bot.flows.history.diff_aware import Aim
from bot.flows.history.experience import Memory
from bot.flows.ports import Progress
from bot.flows.pull_request import pull_request
from bot.flows.pull_requests.subject_choice import FileAt, choose_subject
from bot.flows.run.job import Job
from bot.model.errors import UsageError
from bot.model.report import Report
from bot.model.revisions import Comparison
from bot.model.subject import Program, Subject
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.pull_request import pull_request_sample
from bot.sampling.weighted import weighted_sample
from bot.settings import Settings, environment

REMEMBERED = 5000
"""Revisions of base's line in which history's are looked for."""


def analyse(asked: Asked, progress: Progress) -> Report:
    """Runs the pull-request analysis from options to report.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
        NotWantedError: the subject's `run_on` leaves the pull request out.
    """
    with opened_job(asked, progress) as job:
        return pull_request(job)


@contextmanager
def opened_job(asked: Asked, progress: Progress) -> Iterator[Job]:
    """The job of a pull-request analysis; what it opens is closed with the context. Raises as `analyse`."""
    with opened_question(asked) as question:
        stack, local = question.run.stack, question.local
        if question.repository is None:
            job = _simulated_job(asked, local, progress, question.run.stop, question.source)
            job = with_accepted_changes(asked, job, None)
            yield remembering(asked, job, stack, lambda: line_of_base(question))
            return
        repository, comparison = question.repository, question.comparison
        if asked.pull is not None:
            refuse_unwanted(local.subject.run_on, asked.pull, repository, comparison)
        job = real_job(asked, local, repository, comparison, progress, question.run)
        job = with_accepted_changes(asked, with_assertions(asked, job, repository), repository)
        job = remembering(asked, job, stack, lambda: line_of_base(question))
        yield on_this_machine(job, stop=question.run.stop.is_set)


@dataclass(frozen=True)
class Question:
    """What is compared, and of which subject: one of a repository, or a simulated one of a source."""

    local: Subjected
    comparison: Comparison
    repository: Repository | None
    run: Run
    source: Source | None = None

    @property
    def name(self) -> str:
        """What the subject is called."""
        folder = self.local.folder.resolve() if self.repository is None else self.repository.top
        return folder.name


def line_of_base(question: Question) -> list[str]:
    """Ids of base's first-parent line, oldest first; of the newest `REMEMBERED`."""
    base = question.comparison.base.id
    if question.repository is None:
        return [str(place) for place in range(int(base) + 1)]
    return [commit.id for commit in question.repository.line(f"--max-count={REMEMBERED}", base)]


@contextmanager
def opened_question(asked: Asked) -> Iterator[Question]:
    """Reads subject and revisions; nothing is built. Raises as `analyse`."""
    notes: tuple[str, ...] = ()
    if estimator(asked.estimator) == "published":
        notes = ("No published algorithm decides on a pull request: ours was used.",)
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        stop = stack.enter_context(stop_on_signals())
        local = local_subject(asked)
        folder = stack.enter_context(run_folder())
        run = Run(stop, stack, folder)
        if local is not None and not isinstance(local.subject.program, Program):
            refuse_simulated(asked.simulated)
            source = load_source(local.subject, local.folder)
            comparison = simulated_comparison(asked.base, asked.head, source.revisions)
            yield Question(replace(local, notes=notes), comparison, None, run, source)
            return
        repository = Repository(asked.repository, folder / "git")
        comparison = repository.resolve(asked.base, asked.head, exact_base=asked.exact_base)
        if local is None:
            subject, said = choose_subject(
                comparison, PurePosixPath(CONFIG), _file_at(repository, comparison), read_checked
            )
            local = Subjected(subject, repository.top, tuple(said))
        if not isinstance(local.subject.program, Program):
            refuse_simulated(asked.simulated)
            raise UsageError("A table or callable subject is read from the working directory, with --config.")
        yield Question(replace(local, notes=(*notes, *local.notes)), comparison, repository, run)


def remembering(asked: Asked, job: Job, stack: ExitStack, line: Callable[[], Sequence[str]]) -> Job:
    """The job with the configured history, open for as long as the stack; a pull request only reads it."""
    where = AskedHistory(
        Settings.read(environment()),
        configured=job.subject.history,
        place=asked.history,
        folder=asked.repository,
    )
    store = stack.enter_context(opened_history(where))
    memory = Memory(store, line, datetime.now(UTC), partial(named_by_nights, job.subject))
    return replace(job, memory=memory)


@contextmanager
def check_job(asked: Asked, progress: Progress) -> Iterator[Job]:
    """The job of `suspects check`: the local file on one commit (a simulated subject: its first revision).

    Raises:
        UsageError: the file or the repository is wrong.
    """
    assert asked.config is not None
    local = Subjected(load_checked(asked.config), asked.config.parent)
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signals())
        if not isinstance(local.subject.program, Program):
            job = _simulated_job(replace(asked, base="0", head="0"), local, progress, stop)
        else:
            folder = stack.enter_context(run_folder())
            repository = Repository(asked.repository, folder / "git")
            comparison = repository.resolve(asked.base, asked.head, exact_base=True)
            job = real_job(asked, local, repository, comparison, progress, Run(stop, stack, folder))
        yield with_accepted_changes(asked, job, None)


def real_job(
    asked: Asked,
    local: Subjected,
    repository: Repository,
    comparison: Comparison,
    progress: Progress,
    run: Run,
) -> Job:
    """The job of a program that is built and run; what it opens is closed with the run."""
    subject = local.subject
    assert isinstance(subject.program, Program)
    sides = [comparison.base, comparison.head]
    laid, of_overlay = list(subject.overlay), tuple[str, ...]()
    if asked.overlay_from is None:
        source, of_overlay = overlay_source(repository, comparison.head, laid)
    else:
        source, laid = inputs_from(repository, asked.overlay_from, subject, sides)
    base, head = overlaid(repository, sides, source, laid)
    comparison = replace(comparison, base=base, head=head, inputs=source.id, laid=tuple(laid))
    ours = environment()
    passed = {name: ours[name] for name in subject.program.pass_env if name in ours}
    given = accounts(subject.sandbox, first=run.stack.enter_context(first_uid()))
    if subject.sandbox == "required" and (missing := what_is_missing()):
        raise UsageError(f"`sandbox: required` cannot be kept here: {missing[0]}")
    cache = asked.cache or build_folder(repository.top, ours, given.of.values())
    opener = Opener(repository, subject, comparison, run, given.of, cache, passed, ours.get("PATH", ""))
    sampling, measuring, deciding, proving, learning = _generators(asked)
    solver = ConstraintSolver(subject.space)
    aim = Aim(
        partial(changed_lines, repository),
        lambda count, terms: weighted_sample(subject.space, solver, count, terms=terms, rng=sampling),
        learning,
    )
    return Job(
        subject=subject,
        name=repository.top.name,
        comparison=comparison,
        budget=asked.budget or subject.budget.pull_request,
        solver=solver,
        sampler=lambda count: pull_request_sample(subject.space, solver, count, rng=sampling),
        workshop=opener.workshop,
        open_bench=lambda seconds: opener.bench(seconds, measuring),
        progress=progress,
        rng=deciding,
        notes=(*local.notes, *of_overlay, *given.notes, *_default_note(solver)),
        open_profiles=opener.profiles,
        open_resources=opener.resources,
        open_reverted=lambda method, seconds: opener.reverted(method, seconds, rng=proving),
        aim=aim,
        unmentioned=opener.unmentioned,
    )


def _simulated_job(
    asked: Asked, local: Subjected, progress: Progress, stop: threading.Event, known: Source | None = None
) -> Job:
    """The job of a table or a callable: nothing is built, pinned or slept."""
    subject = local.subject
    sampling, measuring, deciding, *_ = _generators(asked)
    source = known or load_source(subject, local.folder)
    comparison = simulated_comparison(asked.base, asked.head, source.revisions)
    solver = ConstraintSolver(subject.space)
    table = _recorded(subject, source, comparison)
    return Job(
        subject=subject,
        name=local.folder.resolve().name,
        comparison=comparison,
        budget=asked.budget or subject.budget.pull_request,
        solver=solver,
        sampler=lambda count: pull_request_sample(subject.space, solver, count, rng=sampling),
        workshop=None,
        open_bench=lambda seconds: SimulatedBench(
            source, comparison, budget=seconds, rng=measuring, stop=stop.is_set
        ),
        progress=progress,
        rng=deciding,
        notes=(*local.notes, *_default_note(solver), *([table.note(source.metric)] if table else [])),
        recorded=table,
    )


def _recorded(subject: Subject, source: Source, comparison: Comparison) -> Recorded | None:
    """What is known of the noise of a table's values."""
    if not isinstance(source, TableSource):
        return None
    base, head = int(comparison.base.id), int(comparison.head.id)
    margin, counted = math.log1p(subject.threshold), source.unit == "instructions"
    return recorded(source.cells, base, head, margin=margin, counted=counted)


def _generators(asked: Asked) -> list[np.random.Generator]:
    """For the sample, the trials, the decision, the proof, and what the sample aims at.

    The first and the last are drawn alike by all machines that share an analysis.
    """
    own = np.random.default_rng(asked.seed).spawn(5)
    if asked.sample_seed is None:
        return own
    shared = np.random.default_rng(asked.sample_seed).spawn(5)
    return [shared[0], *own[1:4], shared[4]]


def _default_note(solver: ConstraintSolver) -> tuple[str, ...]:
    note = solver.default_note()
    return (note,) if note else ()


def _file_at(repository: Repository, comparison: Comparison) -> FileAt:
    revisions = {r.id: r for r in (comparison.base, comparison.head)}
    return lambda revision, path: repository.read_file(revisions[revision], path)
