"""Builds what measuring needs (repository, workshop, bench or simulation) and runs the analysis."""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from types import FrameType

import numpy as np

from bot.adapters.bench import PairBench
from bot.adapters.config_files import ConfigFiles
from bot.adapters.confine import what_is_missing
from bot.adapters.git import Repository
from bot.adapters.process import accounts
from bot.adapters.simulated import SimulatedBench, simulated_comparison
from bot.adapters.simulated_sources import load_source
from bot.adapters.subject_file import load_subject, place_constraint, read_subject
from bot.adapters.workshop import Workshop
from bot.flows.job import Job
from bot.flows.ports import Bench, Progress
from bot.flows.pull_request import pull_request
from bot.flows.subject_choice import FileAt, choose_subject
from bot.model.errors import ConstraintError, UsageError
from bot.model.report import Report
from bot.model.revisions import Comparison
from bot.model.subject import Program, Subject
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.pull_request import pull_request_sample
from bot.settings import environment

CONFIG = Path(".github/suspects.yml")
CACHE = Path(".suspects/builds")
"""Built trees, kept between runs; below the repository's top unless a cache folder is given."""


@dataclass(frozen=True)
class Asked:
    """What the command line (or the action) asks of one pull-request analysis.

    simulated: whether a table or a callable may be the subject (a callable is code of the working directory,
    run as ourselves: the action refuses it).
    """

    base: str
    head: str
    config: Path | None = None
    budget: float | None = None
    seed: int = 0
    exact_base: bool = False
    estimator: str = "ours"
    cache: Path | None = None
    repository: Path = Path()
    simulated: bool = True


@dataclass(frozen=True)
class Subjected:
    """A subject, what its file is called, the folder its table or module lies in, and what to tell of it."""

    subject: Subject
    folder: Path
    notes: tuple[str, ...] = ()


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
        stop = stack.enter_context(stop_on_signals())
        local = local_subject(asked)
        if local is not None and not isinstance(local.subject.program, Program):
            _refuse_simulated(asked)
            return pull_request(_simulated_job(asked, replace(local, notes=notes), progress, stop))
        private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="suspects-git-")))
        repository = Repository(asked.repository, private)
        comparison = repository.resolve(asked.base, asked.head, exact_base=asked.exact_base)
        if local is None:
            subject, said = choose_subject(
                comparison, PurePosixPath(CONFIG), _file_at(repository, comparison), read_checked
            )
            local = Subjected(subject, repository.top, tuple(said))
        if not isinstance(local.subject.program, Program):
            _refuse_simulated(asked)
            raise UsageError("A table or callable subject is read from the working directory, with --config.")
        local = replace(local, notes=(*notes, *local.notes))
        return pull_request(real_job(asked, local, repository, comparison, progress, stop, stack))


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
        private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="suspects-git-")))
        repository = Repository(asked.repository, private)
        comparison = repository.resolve(asked.base, asked.head, exact_base=True)
        yield real_job(asked, local, repository, comparison, progress, stop, stack)


def local_subject(asked: Asked) -> Subjected | None:
    """The subject of `--config`, or of the working directory's file when it is a simulated one; else None.

    Raises:
        UsageError: `--config` names a file that is missing or wrong.
    """
    if asked.config is not None:
        return Subjected(load_checked(asked.config), asked.config.parent)
    path = asked.repository / CONFIG
    if not path.is_file():
        return None
    try:
        subject = load_checked(path)
    except UsageError:
        if asked.base.isdecimal() and asked.head.isdecimal():  # meant for a simulated subject
            raise
        return None  # the merge base's file counts, and that one may be right
    return None if isinstance(subject.program, Program) else Subjected(subject, path.parent)


def _refuse_simulated(asked: Asked) -> None:
    if not asked.simulated:
        raise UsageError(
            "program: a table or callable is for evaluation; the action measures a `run` command"
        )


def load_checked(path: Path) -> Subject:
    """A file's subject, constraints included."""
    subject = load_subject(path)
    try:
        ConstraintSolver(subject.space)
    except ConstraintError as error:
        raise place_constraint(error, path.read_text(encoding="utf-8"), name=str(path)) from None
    return subject


def read_checked(text: str, name: str) -> Subject:
    """A text's subject, constraints included."""
    subject = read_subject(text, name=name, directory=None)
    try:
        ConstraintSolver(subject.space)
    except ConstraintError as error:
        raise place_constraint(error, text, name=name) from None
    return subject


def real_job(
    asked: Asked,
    local: Subjected,
    repository: Repository,
    comparison: Comparison,
    progress: Progress,
    stop: threading.Event,
    stack: ExitStack,
) -> Job:
    """The job of a program that is built and run; what it opens is closed by `stack`."""
    subject = local.subject
    assert isinstance(subject.program, Program)
    ours = environment()
    passed = {name: ours[name] for name in subject.program.pass_env if name in ours}
    given = accounts(subject.sandbox)
    if subject.sandbox == "required" and (missing := what_is_missing()):
        raise UsageError(f"`sandbox: required` cannot be kept here: {missing[0]}")
    workshop = stack.enter_context(
        Workshop(
            repository,
            subject,
            accounts=given.of,
            cache=asked.cache or _own_cache(repository.top),
            passed=passed,
            stop=stop.is_set,
        )
    )
    sampling, measuring, deciding = np.random.default_rng(asked.seed).spawn(3)

    def open_bench(seconds: float) -> Bench:
        sites = workshop.sites()
        place = ConfigFiles(subject.files, sites, workshop.scratch).place if subject.files else None
        return stack.enter_context(
            PairBench(
                subject=subject,
                sites=sites,
                rng=measuring,
                budget=seconds,
                scratch=workshop.scratch,
                stop=stop,
                pass_env=passed,
                place=place,
            )
        )

    solver = ConstraintSolver(subject.space)
    return Job(
        subject=subject,
        name=repository.top.name,
        comparison=comparison,
        budget=asked.budget or subject.budget.pull_request,
        solver=solver,
        sampler=lambda count: pull_request_sample(subject.space, solver, count, rng=sampling),
        workshop=workshop,
        open_bench=open_bench,
        progress=progress,
        rng=deciding,
        notes=(*local.notes, *given.notes, *_default_note(solver)),
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


def _own_cache(top: Path) -> Path:
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
