"""Builds what measuring needs (repository, workshop, bench or simulation) and runs the analysis."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from types import FrameType

import numpy as np

from bot.adapters.confine import what_is_missing
from bot.adapters.git import Repository
from bot.adapters.process import accounts
from bot.adapters.run_folder import first_uid, run_folder
from bot.adapters.simulated import SimulatedBench, simulated_comparison
from bot.adapters.simulated_sources import load_source
from bot.adapters.threads import one_thread
from bot.adapters.touched import changed_lines
from bot.compose.asserted import with_assertions
from bot.compose.opening import Opener
from bot.compose.remembering import AskedHistory, opened_history
from bot.compose.runs import Run
from bot.compose.subjects import (
    CONFIG,
    Asked,
    Subjected,
    load_checked,
    local_subject,
    read_checked,
    refuse_simulated,
)
from bot.flows.diff_aware import Aim
from bot.flows.experience import Memory
from bot.flows.job import Job
from bot.flows.ports import Progress
from bot.flows.pull_request import pull_request
from bot.flows.subject_choice import FileAt, choose_subject
from bot.model.errors import UsageError
from bot.model.report import Report
from bot.model.revisions import Comparison
from bot.model.subject import Program
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.pull_request import pull_request_sample
from bot.sampling.weighted import weighted_sample
from bot.settings import Settings, environment

REMEMBERED = 5000
"""Revisions of base's line in which history's are looked for."""
CACHE = Path(".suspects/builds")
"""Built trees, kept between runs; below the repository's top unless a cache folder is given."""


def analyse(asked: Asked, progress: Progress) -> Report:
    """Runs the pull-request analysis from options to report.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
    """
    notes: tuple[str, ...] = ()
    if asked.estimator == "published":
        notes = ("No published algorithm decides on a pull request: ours was used.",)
    elif asked.estimator != "ours":
        raise UsageError(f"--estimator {asked.estimator}: not known; published or ours is allowed")
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        stop = stack.enter_context(stop_on_signals())
        local = local_subject(asked)
        if local is not None and not isinstance(local.subject.program, Program):
            refuse_simulated(asked.simulated)
            job = _simulated_job(asked, replace(local, notes=notes), progress, stop)
            line = [str(place) for place in range(int(job.comparison.base.id) + 1)]
            return pull_request(_remembering(asked, job, stack, lambda: line))
        folder = stack.enter_context(run_folder())
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
        local = replace(local, notes=(*notes, *local.notes))
        job = real_job(asked, local, repository, comparison, progress, Run(stop, stack, folder))
        job = with_assertions(asked, job, repository)
        newest = f"--max-count={REMEMBERED}", comparison.base.id
        return pull_request(
            _remembering(asked, job, stack, lambda: [commit.id for commit in repository.line(*newest)])
        )


def _remembering(asked: Asked, job: Job, stack: ExitStack, line: Callable[[], Sequence[str]]) -> Job:
    """The job with the configured history, open for as long as the run; a pull request only reads it."""
    where = AskedHistory(
        Settings.read(environment()),
        configured=job.subject.history,
        place=asked.history,
        folder=asked.repository,
    )
    store = stack.enter_context(opened_history(where))
    return replace(job, memory=Memory(store, line, datetime.now(UTC)))


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
            yield _simulated_job(replace(asked, base="0", head="0"), local, progress, stop)
            return
        folder = stack.enter_context(run_folder())
        repository = Repository(asked.repository, folder / "git")
        comparison = repository.resolve(asked.base, asked.head, exact_base=True)
        yield real_job(asked, local, repository, comparison, progress, Run(stop, stack, folder))


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
    ours = environment()
    passed = {name: ours[name] for name in subject.program.pass_env if name in ours}
    given = accounts(subject.sandbox, first=run.stack.enter_context(first_uid()))
    if subject.sandbox == "required" and (missing := what_is_missing()):
        raise UsageError(f"`sandbox: required` cannot be kept here: {missing[0]}")
    cache = asked.cache or own_cache(repository.top)
    opener = Opener(repository, subject, comparison, run, given.of, cache, passed)
    sampling, measuring, deciding, proving, learning = np.random.default_rng(asked.seed).spawn(5)
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
        notes=(*local.notes, *given.notes, *_default_note(solver)),
        open_profiles=opener.profiles,
        open_reverted=lambda method, seconds: opener.reverted(method, seconds, rng=proving),
        aim=aim,
    )


def _simulated_job(asked: Asked, local: Subjected, progress: Progress, stop: threading.Event) -> Job:
    """The job of a table or a callable: nothing is built, pinned or slept."""
    subject = local.subject
    sampling, measuring, deciding = np.random.default_rng(asked.seed).spawn(3)
    source = load_source(subject, local.folder)
    comparison = simulated_comparison(asked.base, asked.head, source.revisions)
    solver = ConstraintSolver(subject.space)
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
        notes=(*local.notes, *_default_note(solver)),
    )


def own_cache(top: Path) -> Path:
    """Our folder in a repository, hidden from its git; where it cannot be written, Workshop says so."""
    folder = top / CACHE
    with suppress(OSError):
        folder.parent.mkdir(exist_ok=True)
        ignored = folder.parent / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n")
    return folder


def _default_note(solver: ConstraintSolver) -> tuple[str, ...]:
    note = solver.default_note()
    return (note,) if note else ()


def _file_at(repository: Repository, comparison: Comparison) -> FileAt:
    revisions = {r.id: r for r in (comparison.base, comparison.head)}
    return lambda revision, path: repository.read_file(revisions[revision], path)


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set: the run ends early with an honest, partial report.

    A second signal has its usual effect. Outside the main thread signals are left alone.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        for number, handler in previous.items():
            signal.signal(number, handler)

    for number in previous:
        signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
