"""Opens what mining and checking assertions need: built revisions, their profiles, the file."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from bot.adapters.builds.run_folder import run_folder
from bot.adapters.documents.assertion_file import assertion_text, entry_text
from bot.adapters.processes.threads import one_thread
from bot.adapters.profilers.affordable import OVERHEAD
from bot.adapters.profilers.attaching import AttachedProfiler
from bot.adapters.repositories.git import Repository
from bot.compose.asserted import ASSERTIONS, known_assertions, with_assertions
from bot.compose.estimators import estimator
from bot.compose.measuring import real_job
from bot.compose.runs import Run, stop_on_signals
from bot.compose.subjects import CONFIG, Asked, Subjected, local_subject, read_checked
from bot.flows.assertions.asserting import Proposal, proposal
from bot.flows.assertions.findings import AssertionFindings, check_assertions
from bot.flows.assertions.mining import Mining
from bot.flows.assertions.mining_state import Mined
from bot.flows.ports import ProfileBench, Progress
from bot.flows.run.job import Job
from bot.model.assertions import Assertion
from bot.model.errors import NothingMeasuredError, UsageError
from bot.model.revisions import Revision
from bot.model.space import Configuration
from bot.model.subject import Program
from bot.sampling.constraints import ConstraintSolver

BUDGET = 120.0
"""Seconds of mining, unless others are asked for."""
SHORT = 12
"""Digits of a revision in an entry."""


@dataclass(frozen=True)
class AskedMining:
    """What the command line asks: of which revision, how long, which methods first (ends of their names).

    file: where entries are; None: beside the subject's file. pid: a process to attach to instead of building
    and running the revision, which is then only what the entries say they were mined at.
    """

    revision: str = "HEAD"
    config: Path | None = None
    budget: float | None = None
    seed: int = 0
    estimator: str = "ours"
    hints: Sequence[str] = ()
    file: Path | None = None
    cache: Path | None = None
    repository: Path = Path()
    pid: int | None = None


@dataclass(frozen=True)
class MinedFile:
    """A file of assertions as it was and as it should be; notes: what a reader must know."""

    path: Path
    before: tuple[Assertion, ...]
    proposal: Proposal
    mined: Mined
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The file's new text."""
        return assertion_text(self.proposal.assertions)


def mined_file(asked: AskedMining, progress: Progress) -> MinedFile:
    """Builds a revision, mines it, and says what the file should be; writes nothing.

    Raises:
        UsageError: the options, a file or the repository are wrong.
        NothingMeasuredError: it does not build, or nothing could be watched.
    """
    estimator(asked.estimator)
    if asked.pid is not None:
        return _attached_file(asked, asked.pid, progress)
    with _built(_wanted(asked, asked.revision, asked.revision), progress) as (job, repository):
        path = asked.file or (asked.config or repository.top / CONFIG).with_name(ASSERTIONS.name)
        before = known_assertions(path)
        assert job.open_profiles is not None
        default = ConstraintSolver(job.subject.space).default()
        mined = _mined(asked, job.open_profiles(), default, overhead=job.subject.overhead, progress=progress)
    return _file(path, before, mined, revision=job.comparison.head.id[:SHORT], notes=job.notes)


def _attached_file(asked: AskedMining, pid: int, progress: Progress) -> MinedFile:
    """Mines a process that runs already, and goes on afterwards."""
    path = asked.file or (asked.config or asked.repository / CONFIG).with_name(ASSERTIONS.name)
    before = known_assertions(path)
    with stop_on_signals() as stop, AttachedProfiler(pid, stop=stop.is_set, overhead=OVERHEAD) as bench:
        mined = _mined(asked, bench, (), overhead=OVERHEAD, progress=progress)
        left = bench.close()
    return _file(path, before, mined, revision=f"process {pid}", notes=left)


def _mined(
    asked: AskedMining,
    bench: ProfileBench,
    configuration: Configuration,
    *,
    overhead: float,
    progress: Progress,
) -> Mined:
    """What mining comes to in its seconds."""
    return Mining(
        bench,
        configuration,
        time.monotonic,
        time.monotonic() + (asked.budget or BUDGET),
        overhead=overhead,
        estimator=estimator(asked.estimator),
        hints=asked.hints,
        tell=progress.stage,
    ).run()


def _file(
    path: Path, before: tuple[Assertion, ...], mined: Mined, *, revision: str, notes: Sequence[str]
) -> MinedFile:
    if not mined.models:
        reasons = "; ".join(f"{len(methods)}: {reason}" for reason, methods in sorted(mined.refused.items()))
        said = f"No method could be mined{f' ({reasons})' if reasons else ''}."
        raise NothingMeasuredError(" ".join([*mined.notes, said]))
    found = proposal(before, mined, revision=revision)
    return MinedFile(path, before, found, mined, (*notes, *mined.notes))


def checked_file(asked: AskedMining, base: str, progress: Progress) -> AssertionFindings:
    """Builds two revisions and checks base's assertions (or those of `asked.file`) on them.

    Raises:
        UsageError: the options, a file or the repository are wrong, or there is no assertion.
        NothingMeasuredError: a side does not build.
    """
    wanted = _wanted(asked, base, asked.revision)
    with _built(wanted, progress) as (opened, repository):
        if asked.file is None:
            job = with_assertions(wanted, opened, repository)
        else:
            job = replace(opened, assertions=known_assertions(asked.file), entry_text=entry_text)
        if not job.assertions:
            raise UsageError(
                " ".join([*job.notes, "There is no assertion: `suspects assertions mine` writes some."])
            )
        found = check_assertions(job, time.monotonic, until=time.monotonic() + (asked.budget or BUDGET))
    return replace(found, notes=(*job.notes, *found.notes))


def _wanted(asked: AskedMining, base: str, head: str) -> Asked:
    return Asked(
        base,
        head,
        config=asked.config,
        seed=asked.seed,
        exact_base=True,
        cache=asked.cache,
        repository=asked.repository,
    )


@contextmanager
def _built(asked: Asked, progress: Progress) -> Iterator[tuple[Job, Repository]]:
    """The job of two revisions, both built."""
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        stop = stack.enter_context(stop_on_signals())
        folder = stack.enter_context(run_folder())
        repository = Repository(asked.repository, folder / "git")
        comparison = repository.resolve(asked.base, asked.head, exact_base=True)
        local = local_subject(asked) or _subject_at(repository, comparison.base)
        if not isinstance(local.subject.program, Program):
            raise UsageError("program: a table or callable has no methods; mining needs a `run` command")
        job = real_job(asked, local, repository, comparison, progress, Run(stop, stack, folder))
        assert job.workshop is not None
        progress.stage("building")
        for build in job.workshop.build(job.comparison).values():
            if not build.ok:
                raise NothingMeasuredError(f"{build.step} failed: {build.reason}\n{build.log}".rstrip())
        yield job, repository


def _subject_at(repository: Repository, revision: Revision) -> Subjected:
    """The subject as the revision's own file says.

    Raises:
        UsageError: it has none, or it is wrong.
    """
    text = repository.read_file(revision, str(PurePosixPath(CONFIG)))
    if text is None:
        raise UsageError(f"{CONFIG} does not exist at {revision.label}; `suspects init` writes one")
    return Subjected(read_checked(text, f"{revision.label}:{CONFIG}"), repository.top)
