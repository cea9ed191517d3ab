"""Plans a matrix, measures one of its shards into a folder, and merges the folders into one report."""

from __future__ import annotations

import platform
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from bot import __version__
from bot.adapters.stores.shard_folder import cleared, read_shard, shard_folders, write_shard
from bot.compose.accepted import with_accepted_changes
from bot.compose.measuring import Question, line_of_base, opened_job, opened_question, remembering
from bot.compose.subjects import Asked
from bot.compose.wanted import refuse_unwanted
from bot.event import read_event
from bot.flows.ports import Bench, Progress
from bot.flows.run.job import Job
from bot.flows.shards.choice import Chosen, LeftShard, choose
from bot.flows.shards.merging import merge
from bot.flows.shards.sharding import Sharing
from bot.model.errors import ArtifactError, NothingMeasuredError, UsageError
from bot.model.history import Measurements, RunRecord, known_options, program_fingerprint
from bot.model.report import Report
from bot.model.shards import Manifest, Plan, Shard, ShardMode, planned
from bot.sampling.constraints import ConstraintSolver
from bot.settings import Settings, environment


@dataclass(frozen=True)
class AskedPlan:
    """A matrix that is asked for: of how many shards, on which runners, for which question."""

    shards: int
    question: Asked
    runners: tuple[str, ...] = ("ubuntu-latest",)


def plan(asked: AskedPlan) -> Plan:
    """The shards of a pull request's analysis: equal for equal revisions, files and options.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
    """
    with opened_question(asked.question) as question:
        total = asked.question.budget or question.local.subject.budget.pull_request
        compared = question.comparison
    return planned(
        asked.shards,
        base=compared.base.id,
        head=compared.head.id,
        budget=total,
        sample_seed=asked.question.seed,
        runners=asked.runners,
    )


def measure_shard(shard: Shard, asked: Asked, out: Path, progress: Progress) -> Report:
    """Measures one shard and leaves it in a folder; its own report.

    Raises:
        UsageError: the options, the file or the repository are wrong, or the folder cannot be written.
    """
    asked = replace(
        asked,
        base=shard.base,
        head=shard.head,
        exact_base=True,
        seed=shard.seed,
        sample_seed=shard.sample_seed,
    )
    written(out, lambda: cleared(out))  # a run that is killed leaves nothing that looks finished
    with opened_job(asked, progress) as job:
        record = RunRecord(
            id=f"shard-{shard.plan}-{shard.shard}-{uuid.uuid4().hex}",
            mode="pull_request",
            started=datetime.now(UTC),
            subject=job.name,
            program=program_fingerprint(job.subject),
            label=job.comparison.head.label,
            tool_version=__version__,
            options=known_options(job.subject.space),
            metrics={m.name: m.unit for m in job.subject.metrics if m.unit},
        )
        dealing = np.random.default_rng([shard.sample_seed, 1])
        found = Sharing(job, shard, dealing).run(record)
    manifest = Manifest(shard=shard, architecture=platform.machine(), version=__version__, notes=found.notes)
    rows = [found.trials] if found.trials is not None else []
    written(out, lambda: write_shard(out, manifest, report=found.report, rows=rows))
    return found.report


def written(out: Path, write: Callable[[], object]) -> None:
    """Writes to a shard's folder.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        write()
    except OSError as error:
        raise UsageError(f"{out}: the shard cannot be left there: {error.strerror or error}") from error


@dataclass(frozen=True)
class AskedMerge:
    """What is to be merged: folders of shards, or folders of these.

    question: base and head, which may be empty: then most of the shards tell. plan: of which plan's shards.
    """

    folders: Sequence[Path]
    question: Asked
    plan: Plan | None = None


def merged(asked: AskedMerge, progress: Progress) -> Report:
    """One report from what lies in the folders.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
        NothingMeasuredError: no folder holds a shard, and nobody says what was to be compared.
        NotWantedError: the subject's `run_on` leaves the pull request out.
    """
    left, refused = read_folders(asked.folders)
    question = asked.question
    if asked.plan is not None:
        first = asked.plan.include[0]
        question = replace(question, base=first.base, head=first.head, exact_base=True)
    elif not question.base:
        told = choose(left).plan
        if told is None:
            raise NothingMeasuredError(f"There is no shard to merge. {' '.join(refused)}".strip())
        question = replace(question, base=told.base, head=told.head, exact_base=True)
    with opened_question(question) as opened:
        if question.pull is not None and opened.repository is not None:
            run_on = opened.local.subject.run_on
            refuse_unwanted(run_on, question.pull, opened.repository, opened.comparison)
        chosen = choose(left, lambda shard: _unwanted(shard, opened, asked.plan))
        chosen = replace(chosen, notes=(*chosen.notes, *refused))
        job = _merging_job(opened, question, chosen, progress)
        return merge(job, chosen)


def mode_of(folders: Sequence[Path]) -> ShardMode:
    """What the first shard in the folders is of; of a pull request where there is none."""
    for path in (inner for given in folders for inner in shard_folders(given)):
        with suppress(ArtifactError):
            return read_shard(path).manifest.shard.mode
    return "pull_request"


def read_folders(folders: Sequence[Path]) -> tuple[list[LeftShard], list[str]]:
    """The shards in folders, and why others are none."""
    left, refused = [], []
    for path in dict.fromkeys(inner for given in folders for inner in shard_folders(given)):
        try:
            found = read_shard(path)
            report = found.report()
            left.append(LeftShard(found.manifest, report, partial(_trials, path), partial(_segments, path)))
        except ArtifactError as error:
            refused.append(f"The folder {path.name[:100]} was left out: {error}.")
    return left, refused


def _trials(path: Path) -> Iterator[Measurements]:
    """Read again when its turn has come: one shard at a time is in memory."""
    return read_shard(path).trials()


def _segments(path: Path) -> Iterator[tuple[str, bytes]]:
    found = read_shard(path)
    return ((name, found.contents[name]) for name in found.segments)


def _unwanted(shard: Shard, opened: Question, plan: Plan | None) -> str:
    """Why a shard does not belong to what is asked; "": it does."""
    compared = opened.comparison
    if shard.mode != "pull_request":
        return "of a night"
    if (shard.base, shard.head) != (compared.base.id, compared.head.id):
        return f"of other revisions ({shard.base[:12]}..{shard.head[:12]})"
    return "of another plan" if plan is not None and shard.plan != plan.include[0].plan else ""


def _merging_job(opened: Question, asked: Asked, chosen: Chosen, progress: Progress) -> Job:
    """A job that opens nothing: what it needs is there."""
    subject, compared = opened.local.subject, opened.comparison
    solver = ConstraintSolver(subject.space)
    default = solver.default()
    if opened.source is not None:
        default = opened.source.nearest(default, (int(compared.base.id), int(compared.head.id)))
    told = chosen.plan
    note = solver.default_note()
    job = Job(
        subject=subject,
        name=opened.name,
        comparison=compared,
        budget=subject.budget.pull_request,
        solver=solver,
        sampler=lambda count: [default][:count],
        workshop=None,
        open_bench=_no_bench,
        progress=progress,
        rng=np.random.default_rng(told.sample_seed if told else asked.seed),
        notes=(*opened.local.notes, *((note,) if note else ())),
    )
    job = with_accepted_changes(asked, job, opened.repository)
    return remembering(asked, job, opened.run.stack, lambda: line_of_base(opened))


def _no_bench(_seconds: float) -> Bench:
    raise AssertionError("merging measures nothing")


def revisions_here() -> tuple[str, str]:
    """Base and head of the pull request whose event started us; else the newest commit and the one before.

    Raises:
        UsageError: the event cannot be read.
    """
    settings = Settings.read(environment())
    if settings.event_name != "pull_request" or settings.event_path is None:
        return "HEAD~1", "HEAD"
    pull = read_event(settings.event_name, settings.event()).pull
    assert pull is not None
    return pull.base_sha, pull.head_sha
