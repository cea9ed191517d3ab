"""Builds what a night over a git branch needs: the window, its builds, duets with the tip; and runs it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from bot.adapters.builds.range_workshop import RangeWorkshop
from bot.adapters.builds.run_folder import first_uid, run_folder
from bot.adapters.processes.confine import what_is_missing
from bot.adapters.processes.process import accounts
from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.overlay import inputs_source, overlaid
from bot.adapters.trials.config_files import ConfigFiles
from bot.adapters.trials.duet_range import DuetRange
from bot.adapters.trials.site_targets import SiteTargets
from bot.compose.accepted import with_accepted_at_night
from bot.compose.machines import fingerprinted
from bot.compose.nightly_assertions import with_asserting
from bot.compose.nights import AskedNight, Remembered, search_of, teaching_of, with_archive
from bot.compose.published_nights import with_estimator
from bot.compose.ranging import (
    Opened,
    build_failure,
    first_metric,
    measuring_seconds,
    pairs_of,
    workshop_of,
)
from bot.compose.records import record
from bot.compose.runs import Run
from bot.compose.searching import AskedRange
from bot.compose.subjects import CONFIG
from bot.flows.bisect import unmeasured
from bot.flows.influences.profiles import PROFILING_SHARE
from bot.flows.night import night
from bot.flows.nights.job import NightJob
from bot.flows.nights.past import FARTHEST, FIRST_REACH, nights
from bot.flows.ports import ProfileBench, Progress
from bot.model.errors import UsageError
from bot.model.history import NO_METRIC, Measurements
from bot.model.report import BuildFailure, Report
from bot.model.revisions import Range, Revision
from bot.model.sites import Site
from bot.model.subject import Subject
from bot.model.trials import Side
from bot.sampling.constraints import ConstraintSolver


def night_of_branch(
    asked: AskedNight,
    subject: Subject,
    remembered: Remembered,
    *,
    progress: Progress,
    stop: threading.Event,
) -> Report:
    """Runs a night over the first-parent line of a commit.

    Raises:
        UsageError: the repository is none, has one commit only, or `sandbox: required` cannot be kept.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(run_folder())
        repository = Repository(asked.repository, folder / "git")
        head = asked.head or "HEAD"
        found = window_of(repository, head, remembered.past)
        inputs = inputs_source(repository, found.revisions[0], found.revisions[-1], subject)
        revisions = overlaid(repository, found.revisions, found.revisions[-1], subject.overlay)
        found = replace(found, revisions=revisions)
        if subject.sandbox == "required" and (missing := what_is_missing()):
            raise UsageError(f"`sandbox: required` cannot be kept here: {missing[0]}")
        given = accounts(subject.sandbox, first=stack.enter_context(first_uid()))
        range_ = AskedRange(good=found.revisions[0].id, bad=head, seed=asked.seed, cache=asked.cache)
        opened = Opened(range_, subject, repository, found.revisions, given, Run(stop, stack, folder))
        notes = (*found.notes, *given.notes)
        if found.same_tree:
            same = "All revisions have the same tree: nothing to measure."
            return _unmeasured(opened, remembered, notes=(*notes, same))
        workshop = workshop_of(opened)
        progress.stage("building the tip")
        partner = workshop.anchor()
        if partner is None:
            said = (*notes, *workshop.notes())
            return _unmeasured(opened, remembered, notes=said, failure=build_failure(workshop))
        asked, machine = _after_fingerprint(asked, subject, remembered, progress=progress, stop=stop)
        job = _job(asked, opened, workshop, partner, remembered=remembered, progress=progress)
        job = _watching(job, opened, workshop, partner)
        job = with_archive(job, remembered, before=lambda: line_before(repository, job.revisions[0]))
        job = with_estimator(asked, remembered, job)
        job = with_asserting(asked, opened, replace(job, notes=(*notes, *machine, *job.notes)))
        told = night(with_accepted_at_night(asked.config or asked.repository / CONFIG, job))
        return told.model_copy(update={"overlay_from": inputs})


def _after_fingerprint(
    asked: AskedNight,
    subject: Subject,
    remembered: Remembered,
    *,
    progress: Progress,
    stop: threading.Event,
) -> tuple[AskedNight, Sequence[str]]:
    """The same with what a fingerprint of this machine left of the budget; notes."""
    if not asked.writes:
        return asked, ()
    budget = asked.budget or subject.budget.nightly
    notes, seconds = fingerprinted(remembered.store, budget, progress=progress, stop=stop.is_set)
    return replace(asked, budget=budget - seconds), notes


def _unmeasured(
    opened: Opened, remembered: Remembered, *, notes: Sequence[str], failure: BuildFailure | None = None
) -> Report:
    """The report of a night where nothing had to be measured, or (with a failure) nothing could be."""
    name = opened.repository.top.name
    report = unmeasured(opened.subject, opened.revisions, name=name, notes=notes, failure=failure)
    return report.model_copy(update={"mode": "nightly", "history": remembered.history()})


def _job(
    asked: AskedNight,
    opened: Opened,
    workshop: RangeWorkshop,
    partner: int,
    *,
    remembered: Remembered,
    progress: Progress,
) -> NightJob:
    """The night's work; partner: the newest revision that can be built, beside which all others run."""
    subject, name = opened.subject, opened.repository.top.name
    searching, measuring, drawing, planning = remembered.generators(asked.seed, 4)
    budget = asked.budget or subject.budget.nightly
    profiler, cannot = _profiler(opened, workshop, partner)
    seconds = measuring_seconds(budget) - (PROFILING_SHARE * budget if profiler else 0.0)
    bench = DuetRange(
        pairs_of(opened, workshop, partner, budget=seconds, rng=drawing),
        workshop,
        opened.revisions,
        anchor=partner,
        rng=measuring,
        budget=seconds,
    )
    metric = _metric(subject, bench)
    bench.compare(metric)
    # What cannot be built today is not judged today: the newest that can be is the tip.
    revisions = opened.revisions[: partner + 1]
    past = nights(remembered.past, subject.space, revisions, metric)
    rule = next((m for m in subject.metrics if m.name == metric), None)
    default = ConstraintSolver(subject.space).default_note()
    return NightJob(
        subject=subject,
        name=name,
        revisions=revisions,
        metric=metric,
        budget=budget,
        search=search_of(subject, len(revisions), past, rng=searching),
        bench=bench,
        past=past,
        store=remembered.store if asked.writes else None,
        issues=remembered.issues,
        run=record("nightly", asked.settings, subject, name=name, label=revisions[-1].label),
        history=remembered.history(),
        progress=progress,
        notes=(*remembered.notes(past, writes=asked.writes), *([default] if default else []), *cannot),
        partner=partner,
        higher_is_better=rule is not None and rule.better == "higher",
        teaching=replace(
            teaching_of(
                remembered, subject, metric, rng=planning, tip=revisions[-1], profiler=profiler, budget=budget
            ),
            begins=seconds,
            ends=measuring_seconds(budget),
        ),
    )


def _profiler(
    opened: Opened, workshop: RangeWorkshop, partner: int
) -> tuple[ProfileBench | None, Sequence[str]]:
    """Profiles of the newest revision that builds; None, and why: there are none."""
    # Many parsers, for those whose methods are asked for.
    from bot.adapters.profilers.profiling import SiteProfiler

    profiler = SiteProfiler(_targets(opened, workshop, partner, workshop.site(partner)))
    missing = profiler.missing()
    return (None, [*missing, "Methods were not profiled."]) if missing else (profiler, ())


def _watching(job: NightJob, opened: Opened, workshop: RangeWorkshop, partner: int) -> NightJob:
    """The same where single calls are watched in a build that leaves room for it, as far as there is one."""
    teaching = job.teaching
    if teaching is None or teaching.profiler is None:
        return job
    profiler = teaching.profiler

    def watcher() -> ProfileBench:
        from bot.adapters.profilers.profiling import SiteProfiler

        site = workshop.with_room(partner)
        return profiler if site is None else SiteProfiler(_targets(opened, workshop, partner, site))

    return replace(job, teaching=replace(teaching, watcher=watcher))


def _targets(opened: Opened, workshop: RangeWorkshop, partner: int, head: Site) -> SiteTargets:
    sites: dict[Side, Site] = {"base": workshop.site(partner, "base"), "head": head}
    files = opened.subject.files
    return SiteTargets(
        opened.subject,
        sites,
        scratch=workshop.scratch,
        stop=opened.run.stop.is_set,
        pass_env=opened.passed,
        place=ConfigFiles(files, sites, workshop.scratch).place if files else None,
    )


def window_of(repository: Repository, head: str, past: Measurements) -> Range:
    """The first-parent line from the anchor to the head.

    It begins at the oldest revision of the last night that is in the head's history and not too far; in a
    first night a fixed number of commits before the head, or where the branch begins.

    Raises:
        UsageError: there is no commit before the head.
    """
    for run in range(len(past.runs) - 1, -1, -1):
        measured = past.revision[(past.run == run) & (past.metric != NO_METRIC)]
        known = [past.revisions[i].revision for i in dict.fromkeys(measured.tolist())]
        lines = [line for good in known if (line := _line(repository, good, head)) is not None]
        near = [line for line in lines if len(line.revisions) <= FARTHEST + 1]
        if near:
            return max(near, key=lambda line: len(line.revisions))
    distance = FIRST_REACH
    while distance:
        line = _line(repository, f"{head}~{distance}", head)
        if line is not None:
            return line
        distance //= 2
    raise UsageError(f"There is no commit before {head}: a night compares at least two.")


def line_before(repository: Repository, first: Revision) -> list[Revision]:
    """The first-parent line that ends before a revision, oldest first."""
    return [Revision(c.id, c.short, c.tree, c.subject) for c in repository.line(first.id)[:-1]]


def _line(repository: Repository, good: str, head: str) -> Range | None:
    """The line between two revisions; None: there is none."""
    try:
        return repository.range(good, head)
    except UsageError:
        return None


def _metric(subject: Subject, bench: DuetRange) -> str:
    """What is compared: the first metric, or wall time where the program is parallel or waits."""
    first = first_metric(subject)
    waits = first == "cpu" and bench.waits(ConstraintSolver(subject.space).default())
    return "wall" if waits else first
