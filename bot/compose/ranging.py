"""Builds what a bisection of a git range needs (workshop, bench of duets, journal) and runs it."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bot.adapters.builds.builder import digest
from bot.adapters.builds.range_workshop import RangeWorkshop
from bot.adapters.builds.run_folder import first_uid, run_folder
from bot.adapters.processes.confine import what_is_missing
from bot.adapters.processes.process import Accounts, accounts
from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.overlay import inputs_source, overlaid, overlay_source
from bot.adapters.trials import fingerprint
from bot.adapters.trials.bench import PairBench
from bot.adapters.trials.config_files import ConfigFiles
from bot.adapters.trials.duet_range import TRIALS, DuetRange, track_of
from bot.adapters.trials.journal import FileJournal, NoJournal
from bot.compose.own_folders import build_folder, own_folder
from bot.compose.range_history import with_history
from bot.compose.runs import Run
from bot.compose.searching import AskedRange, search_of
from bot.compose.subjects import CONFIG, read_checked
from bot.flows.bisect import RangeJob, bisect, unmeasured
from bot.flows.ports import Journal, Progress
from bot.model.change_points import ChangePointSearch
from bot.model.errors import UsageError
from bot.model.history import program_fingerprint
from bot.model.report import BuildFailure, Report
from bot.model.revisions import Revision
from bot.model.sites import Site
from bot.model.subject import Program, Subject
from bot.model.trials import Side
from bot.sampling.constraints import ConstraintSolver
from bot.settings import environment

JOURNALS = "bisect"
"""Folder of the journals: in the cache that was asked for, else beside that of the built trees."""
REPORTING_SHARE, REPORTING_SECONDS = 0.04, 4.0
"""Kept back from the budget for concluding and writing (the smaller of a share and of seconds)."""


@dataclass(frozen=True)
class Opened:
    """A range that is about to be measured: the question, and what ends with its run."""

    asked: AskedRange
    subject: Subject
    repository: Repository
    revisions: Sequence[Revision]
    given: Accounts
    run: Run

    @property
    def passed(self) -> Mapping[str, str]:
        """The variables of `pass_env`."""
        assert isinstance(self.subject.program, Program)
        ours = environment()
        return {name: ours[name] for name in self.subject.program.pass_env if name in ours}


def bisected_range(
    asked: AskedRange, subject: Subject | None, progress: Progress, stop: threading.Event
) -> Report:
    """Runs a bisection of a git range; without a subject the file of its bad end counts.

    Raises:
        UsageError: the range, the configuration file or the repository are wrong.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(run_folder())
        repository = Repository(asked.repository, folder / "git")
        found = repository.range(asked.good, asked.bad, tags=asked.tags)
        subject = subject or _subject_at(repository, found.revisions[-1])
        least = _trials_of(first_metric(subject))
        if asked.trials is not None and asked.trials < least:
            raise UsageError(f"--trials {asked.trials}: one value takes {least} of them")
        source, of_overlay = overlay_source(repository, found.revisions[-1], subject.overlay)
        inputs = inputs_source(repository, found.revisions[0], source, subject)
        revisions = overlaid(repository, found.revisions, source, subject.overlay)
        found = replace(found, revisions=revisions, notes=(*found.notes, *of_overlay))
        if subject.sandbox == "required" and (missing := what_is_missing()):
            raise UsageError(f"`sandbox: required` cannot be kept here: {missing[0]}")
        given = accounts(subject.sandbox, first=stack.enter_context(first_uid()))
        notes = (*found.notes, *given.notes)
        name = repository.top.name
        if found.same_tree:
            same = "All revisions have the same tree: nothing to measure."
            return unmeasured(subject, found.revisions, name=name, notes=(*notes, same))
        opened = Opened(asked, subject, repository, found.revisions, given, Run(stop, stack, folder))
        workshop = workshop_of(opened)
        progress.stage("building what the others are compared with")
        anchor = workshop.anchor()
        if anchor is None:
            said, failure = (*notes, *workshop.notes()), build_failure(workshop)
            report = unmeasured(subject, found.revisions, name=name, notes=said, failure=failure)
            return report.model_copy(update={"interrupted": "signal" if stop.is_set() else ""})
        job = _job(opened, workshop, anchor, progress=progress)
        told = bisect(replace(job, notes=(*notes, *job.notes)))
        return told.model_copy(update={"overlay_from": inputs})


def _search(opened: Opened, anchor: int, metric: str) -> ChangePointSearch:
    asked = opened.asked
    values = None if asked.trials is None else asked.trials // _trials_of(metric)
    rng, *_ = _generators(asked)
    return search_of(
        replace(asked, trials=values),
        opened.subject,
        len(opened.revisions),
        rng=rng,
        anchor=None if _exact(metric) else anchor,
    )


def _exact(metric: str) -> bool:
    """Whether its values are counts that nothing disturbs; others are ratios to the anchor's."""
    return track_of(metric) == "instructions"


def _trials_of(metric: str) -> int:
    """How many a value takes."""
    return 1 if _exact(metric) else TRIALS


def _generators(asked: AskedRange) -> list[np.random.Generator]:
    """For the search, the order of its trials, and their starts."""
    return np.random.default_rng(asked.seed).spawn(3)


def _job(opened: Opened, workshop: RangeWorkshop, anchor: int, *, progress: Progress) -> RangeJob:
    asked, subject = opened.asked, opened.subject
    _, ordering, measuring = _generators(asked)
    budget = asked.budget or (subject.budget.bisect if asked.trials is None else math.inf)
    bench = DuetRange(
        pairs_of(opened, workshop, anchor, budget=measuring_seconds(budget), rng=measuring),
        workshop,
        opened.revisions,
        anchor=anchor,
        rng=ordering,
        budget=measuring_seconds(budget),
    )
    solver = ConstraintSolver(subject.space)
    metric, path = _metric(opened, bench, anchor, solver)
    bench.compare(metric, alone=_exact(metric))
    journal, said = _journal(opened, path)
    known = journal.observations()
    workshop.give_up({o.probe.revision for o in known if not o.built})
    if asked.trials is not None:
        bench.limit(asked.trials - _trials_of(metric) * sum(o.built for o in known))
    rule = next((m for m in subject.metrics if m.name == metric), None)
    default = solver.default_note()
    job = RangeJob(
        subject=subject,
        partner=None if _exact(metric) else anchor,
        name=opened.repository.top.name,
        revisions=opened.revisions,
        metric=metric,
        budget=budget,
        search=_search(opened, anchor, metric),
        bench=bench,
        journal=journal,
        progress=progress,
        notes=(*said, *([default] if default else [])),
        unit="instructions" if _exact(metric) else "ratio",
        higher_is_better=rule is not None and rule.better == "higher",
        resumes=isinstance(journal, FileJournal),
        visible=asked.estimator == "ours",
    )
    return with_history(job, asked, opened.repository, search=path.stem, stack=opened.run.stack)


def _subject_at(repository: Repository, revision: Revision) -> Subject:
    text = repository.read_file(revision, str(CONFIG))
    if text is None:
        error = UsageError(f"There is no {CONFIG} here, nor at {revision.label}.")
        error.add_note("Name one with --config, or write it with: suspects init")
        raise error
    subject = read_checked(text, f"{CONFIG} at {revision.label}")
    if not isinstance(subject.program, Program):
        raise UsageError("A table or callable subject is read from the working directory, with --config.")
    return subject


def workshop_of(opened: Opened) -> RangeWorkshop:
    """Builds the revisions; closed with the run."""
    return opened.run.stack.enter_context(
        RangeWorkshop(
            opened.repository,
            opened.subject,
            opened.revisions,
            accounts=opened.given.of,
            cache=opened.asked.cache
            or build_folder(opened.repository.top, environment(), opened.given.of.values()),
            passed=opened.passed,
            own_path=environment().get("PATH", ""),
            stop=opened.run.stop.is_set,
            within=opened.run.folder,
        )
    )


def pairs_of(
    opened: Opened, workshop: RangeWorkshop, anchor: int, *, budget: float, rng: np.random.Generator
) -> PairBench:
    """The bench of pairs: base is the anchor, head is whichever revision a wish names."""
    subject = opened.subject
    sites: dict[Side, Site] = {"base": workshop.site(anchor, "base"), "head": workshop.site(anchor)}
    place = ConfigFiles(subject.files, sites, workshop.scratch).place if subject.files else None
    return opened.run.stack.enter_context(
        PairBench(
            subject=subject,
            sites=sites,
            rng=rng,
            budget=budget,
            scratch=workshop.scratch,
            stop=opened.run.stop,
            pass_env=opened.passed,
            place=place,
            heads=workshop.site,
        )
    )


def _metric(opened: Opened, bench: DuetRange, anchor: int, solver: ConstraintSolver) -> tuple[str, Path]:
    """What is compared (the first metric, or wall time where the program is parallel or waits); its journal.

    A search that goes on compares what it began with.
    """
    program = opened.subject.program
    assert isinstance(program, Program)
    first = first_metric(opened.subject)
    journals = {metric: _place(opened, anchor, metric) for metric in dict.fromkeys([first, "wall"])}
    begun = [metric for metric, path in journals.items() if path.exists() and path.stat().st_size]
    if begun:
        first = begun[0]
    elif first == "cpu" and bench.waits(solver.default()):
        first = "wall"
    return first, journals[first]


def first_metric(subject: Subject) -> str:
    """What is compared, as long as nobody knows that the program waits: wall time of a parallel one."""
    assert isinstance(subject.program, Program)
    return "wall" if subject.program.parallel else subject.metrics[0].name


def _place(opened: Opened, anchor: int, metric: str) -> Path:
    """Where the journal of this search lies: one for each program, space, range, anchor, metric and seed.

    Counts are of one machine; ratios to the anchor may go on elsewhere.
    """
    subject, asked = opened.subject, opened.asked
    space = [subject.model_dump(mode="json", include={"options", "constraints"}), subject.space.names]
    ids = [revision.id for revision in opened.revisions]
    rules = [m.model_dump(mode="json") for m in subject.metrics if m.name == metric]
    how = [metric, rules, ids[anchor], asked.seed, asked.estimator]
    if _exact(metric):
        assert isinstance(subject.program, Program)
        machine = fingerprint.environment(fingerprint.TOOLS[subject.program.runtime])
        how.append(machine.model_dump(mode="json", include={"cpu", "image", "tools"}))
    ours = asked.cache or own_folder(opened.repository.top)  # nothing stays in a runner's workspace
    return ours / JOURNALS / f"{digest([program_fingerprint(subject), space, ids, how])}.jsonl"


def _journal(opened: Opened, path: Path) -> tuple[Journal, tuple[str, ...]]:
    ids = [revision.id for revision in opened.revisions]
    try:
        journal = FileJournal(path, opened.subject.space, ids)
    except BlockingIOError:
        raise UsageError("The same bisection is running already; wait for its end.") from None
    except OSError as error:
        return NoJournal(), (f"A bisection that is killed cannot go on: {path}: {error.strerror}.",)
    return opened.run.stack.enter_context(journal), ()


def build_failure(workshop: RangeWorkshop) -> BuildFailure:
    """Why there is no anchor, for the report."""
    build = workshop.failure
    if build is None:
        return BuildFailure(side="head", step="build", reason="It was stopped with the run.")
    return BuildFailure(side="head", step=build.step, reason=build.reason, log=build.log)


def measuring_seconds(budget: float) -> float:
    """Seconds until the last trial ends."""
    return budget - min(REPORTING_SHARE * budget, REPORTING_SECONDS) if math.isfinite(budget) else budget
