"""A night on several machines: its matrix, one of its shards, and what they leave as one night."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bot import __version__
from bot.adapters.builds.run_folder import run_folder
from bot.adapters.processes.threads import one_thread
from bot.adapters.repositories.git import Repository
from bot.adapters.simulated.bench import simulated_comparison
from bot.adapters.simulated.sources import load_source
from bot.adapters.stores.layered import LayeredStore
from bot.adapters.stores.shard_folder import cleared, write_shard
from bot.compose.accepted import with_accepted_at_night
from bot.compose.nightly import spent_night
from bot.compose.nightly_git import line_before, window_of
from bot.compose.nights import AskedNight, Remembered, opened_issues, search_of, with_archive
from bot.compose.records import record
from bot.compose.remembering import AskedHistory, opened_history
from bot.compose.sharding import read_folders, written
from bot.compose.subjects import CONFIG, Subjected, load_checked
from bot.flows.nights.job import NightJob
from bot.flows.nights.past import anchor_of, nights
from bot.flows.ports import Progress
from bot.flows.shards.choice import Chosen, LeftShard, choose
from bot.flows.shards.nights import PastRange, night_of, partner_of, trials_of, usual_metric
from bot.model.errors import ArtifactError, HistoryError, NothingMeasuredError, UsageError
from bot.model.history import Measurements, program_fingerprint
from bot.model.report import Report, Spent
from bot.model.revisions import Revision
from bot.model.shards import Manifest, Plan, Shard, planned
from bot.model.subject import Program, Subject, TableProgram


def plan_night(shards: int, asked: AskedNight, runners: tuple[str, ...]) -> Plan:
    """The shards of a night: equal for equal commits, files and options.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
    """
    local = _subject(asked)
    return planned(
        shards,
        mode="nightly",
        head=_revisions(asked, local)[1][-1].id,
        budget=asked.budget or local.subject.budget.nightly,
        sample_seed=asked.seed,
        runners=runners,
    )


def measure_night_shard(shard: Shard, asked: AskedNight, out: Path, progress: Progress) -> Report:
    """Spends one shard's part of a night; what it adds to the history lies in the folder, not in the history.

    Raises:
        UsageError: the options, the file or the repository are wrong, or the folder cannot be written.
    """
    written(out, lambda: cleared(out))
    asked = replace(asked, head=shard.head, budget=shard.budget, seed=shard.seed, leave=out)
    report = spent_night(asked, progress)
    manifest = Manifest(shard=shard, architecture=platform.machine(), version=__version__)
    written(out, lambda: write_shard(out, manifest, report=report))
    return report


@dataclass(frozen=True)
class _Tonight:
    """What counts of a night's shards, and what is told of the rest."""

    shards: Sequence[LeftShard]
    trials: Sequence[Measurements]
    notes: Sequence[str]


def merged_night(folders: Sequence[Path], asked: AskedNight, progress: Progress) -> Report:
    """One night from its shards: their segments enter the history once each, if this run may write it.

    Raises:
        UsageError: the options, the configuration file or the repository are wrong.
        NothingMeasuredError: no folder holds a shard of a night.
    """
    local = _subject(asked)
    subject = local.subject
    left, refused = read_folders(folders)
    chosen = choose(left, lambda shard: "" if shard.mode == "nightly" else "of a pull request")
    if chosen.plan is None:
        raise NothingMeasuredError(f"There is no shard of a night to merge. {' '.join(refused)}".strip())
    asked = replace(asked, head=asked.head or chosen.plan.head)
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        where = AskedHistory(
            asked.settings, configured=subject.history, place=asked.history, folder=asked.repository
        )
        store = stack.enter_context(opened_history(where))
        tonight = _tonight(chosen, program_fingerprint(subject))
        ours = {run.id for found in tonight.trials for run in found.runs}
        remembered = Remembered.of(store, subject, opened_issues(asked, stack)).without(ours)
        notes = [*refused, *tonight.notes]
        if asked.writes:
            notes += _kept(store, tonight.shards)
        job = _job(asked, local, remembered, tonight, chosen.plan, progress)
        past = Measurements.concatenated(list(tonight.trials))
        found = nights(past, subject.space, job.revisions, job.metric)
        job = with_accepted_at_night(asked.config or asked.repository / CONFIG, job)
        return night_of(replace(job, notes=(*job.notes, *notes)), found, tonight.shards)


def _tonight(chosen: Chosen, program: str) -> _Tonight:
    shards, trials, notes = [], [], list(chosen.notes)
    for one in chosen.shards:
        try:
            found = trials_of(one, program)
        except ArtifactError as error:
            notes.append(f"Shard {one.shard.shard} was left out: {error}.")
            continue
        shards.append(one)
        trials.append(found)
        if not len(found):
            notes.append(f"Shard {one.shard.shard} measured nothing.")
    return _Tonight(shards, trials, notes)


def _kept(store: LayeredStore, shards: Sequence[LeftShard]) -> list[str]:
    """Adds what is not there yet; a segment's name is made of its content, so nothing enters twice."""
    known = {segment.name for segment in store.segments()}
    try:
        for one in shards:
            for name, content in one.segments():
                if name not in known:
                    store.add(name, content)
                    known.add(name)
    except (HistoryError, ArtifactError) as error:
        return [f"This night is not remembered: {error}. Tomorrow starts without it."]
    return []


def _job(
    asked: AskedNight,
    local: Subjected,
    remembered: Remembered,
    tonight: _Tonight,
    plan: Shard,
    progress: Progress,
) -> NightJob:
    subject = local.subject
    before, revisions = _revisions(asked, local, remembered)
    default = subject.program.metric if isinstance(subject.program, TableProgram) else "cpu"
    metric = usual_metric(tonight.trials, default)
    partner = partner_of(tonight.trials, {r.id: i for i, r in enumerate(revisions)})
    if partner is not None:
        revisions = revisions[: partner + 1]
    past = nights(remembered.past, subject.space, revisions, metric)
    rule = next((m for m in subject.metrics if m.name == metric), None)
    machine = next((run.environment for found in tonight.trials for run in found.runs), None)
    spent = [one.report.spent for one in tonight.shards]
    real = isinstance(subject.program, Program)
    name = (asked.repository if real else local.folder).resolve().name
    job = NightJob(
        subject=subject,
        name=name,
        revisions=revisions,
        metric=metric,
        budget=plan.budget * plan.shards,
        search=search_of(subject, len(revisions), past, rng=np.random.default_rng(plan.sample_seed)),
        bench=PastRange(Spent.together(spent), machine or tonight.shards[0].report.environment),
        past=past,
        store=None,
        issues=remembered.issues,
        run=record("nightly", asked.settings, subject, name=name, label=revisions[-1].label),
        history=remembered.history(),
        progress=progress,
        notes=(*local.notes, *remembered.notes(past, writes=asked.writes)),
        partner=partner,
        higher_is_better=rule is not None and rule.better == "higher",
    )
    return with_archive(job, remembered, before=lambda: before)


def _subject(asked: AskedNight) -> Subjected:
    path = asked.config or asked.repository / CONFIG
    local = Subjected(load_checked(path), path.parent)
    if not asked.simulated and not isinstance(local.subject.program, Program):
        raise UsageError(
            "program: a table or callable is for evaluation; the action measures a `run` command"
        )
    return local


def _revisions(
    asked: AskedNight, local: Subjected, remembered: Remembered | None = None
) -> tuple[Sequence[Revision], Sequence[Revision]]:
    """The revisions before tonight's (none where nobody asks), and tonight's, as `nightly` finds them."""
    subject: Subject = local.subject
    past = remembered.past if remembered else Measurements.empty()
    if isinstance(subject.program, Program):
        with run_folder() as folder:
            repository = Repository(asked.repository, folder / "git")
            found = window_of(repository, asked.head or "HEAD", past).revisions
            return line_before(repository, found[0]) if remembered else (), found
    source = load_source(subject, local.folder)
    last = len(source.revisions) - 1
    if asked.head is not None:
        last = int(simulated_comparison(asked.head, asked.head, source.revisions).base.id)
    ids = [str(i) for i in range(last + 1)]
    line = [Revision(i, source.revisions[int(i)]) for i in ids]
    anchor = anchor_of(past, ids)
    return line[:anchor], line[anchor:]
