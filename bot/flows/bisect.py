"""The bisection of a range: ask a search what to measure, measure it, remember it, until all is learnt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bot.analysis.change_points.unexplained import unexplained
from bot.analysis.change_points.visible import visible_steps
from bot.flows.ports import Journal, Progress, RevisionBench, Store
from bot.flows.ranges.earlier import Earlier
from bot.flows.ranges.failing_runs import failing_runs, in_words, without_broken, without_value
from bot.flows.ranges.leftover import as_change_point, crept, unexplained_in_words
from bot.flows.ranges.repeated import with_noise
from bot.flows.ranges.series import series
from bot.flows.ranges.telling import told_doubts, told_point
from bot.flows.ranges.trials import recorded
from bot.flows.run.idle import doubted
from bot.model.change_points import ChangePointSearch, Observation, Seeing
from bot.model.errors import HistoryError
from bot.model.history import RunRecord
from bot.model.report import BuildFailure, Report, RevisionRef, Unit, Verdict, Visible
from bot.model.revisions import Revision
from bot.model.subject import Subject

ALONE = "A bisection stands on its own trials: it does not read the history."


@dataclass(frozen=True)
class RangeJob:
    """A range of revisions (good first, in first-parent order) to search, and the world as ports.

    metric: what a trial's value is, in seconds or as a ratio to an anchor. budget: seconds (infinite:
    the trials alone are limited). notes: what the reader must be told already. resumes: whether the journal
    outlives the run. visible: whether it is known what the search would have found. partner: the revision to
    which values are ratios; None: they are none. store: what remembers the trials, None: nothing. run: this
    one's record, without its environment. remembered: how many of the journal's observations it has already.
    """

    subject: Subject
    name: str
    revisions: Sequence[Revision]
    metric: str
    budget: float
    search: ChangePointSearch
    bench: RevisionBench
    journal: Journal
    progress: Progress
    notes: tuple[str, ...] = ()
    unit: Unit = "seconds"
    higher_is_better: bool = False
    resumes: bool = False
    visible: bool = False
    partner: int | None = None
    store: Store | None = None
    run: RunRecord | None = None
    remembered: int = 0


def bisect(job: RangeJob) -> Report:
    """Runs the whole job; whatever the subject program does ends in the report, not in an exception."""
    earlier = Earlier(job.journal.observations())
    if len(earlier):
        job.progress.stage(f"going on after {len(earlier)} observations of an earlier run")
    job.progress.stage(f"measuring {len(job.revisions)} revisions")
    observations: list[Observation] = []
    fresh: list[Observation] = []
    finished = settled = False
    quarters = 0
    while not finished:
        wishes = job.search.wishes()
        finished = not wishes
        if wishes and not settled and _settled(job.search):
            settled = True
            job.progress.stage("nothing is in doubt any more: looking for smaller changes")
        taken, missing = earlier.answer(wishes)
        leading = _leader(job.search)
        for observation in job.bench.measure(missing):
            job.journal.append(observation)
            fresh.append(observation)
            taken.append(observation)
            job.progress.trials(job.bench.spent(), job.budget, leading)
        observations += taken
        job.search.partial_fit(taken)
        before, quarters = quarters, 4 * len(observations) // max(len(earlier), 1)
        if before < quarters < 4 and not fresh:
            job.progress.stage(f"looked again at {len(observations)} of them")
        if len(taken) < len(wishes) or job.bench.stopped():  # also while an earlier run's are looked at
            finished = not job.bench.stopped() and (not job.search.wishes() or _settled(job.search))
            break
    job.progress.stage("concluding")
    notes = _remembered(job, [*job.journal.observations(), *fresh])
    known = len(observations) - len(fresh)
    return doubted(_report(job, observations, earlier=known, finished=finished, notes=notes))


def _settled(search: ChangePointSearch) -> bool:
    """Whether what a search asks for next only makes smaller changes visible."""
    return isinstance(search, Seeing) and search.settled_


def _remembered(job: RangeJob, observations: Sequence[Observation]) -> list[str]:
    """Adds to the history what it does not have yet, of the journal's observations too; what was done.

    A run that was killed left its trials in the journal alone.
    """
    new = [o for o in observations if o.built][job.remembered :]
    if job.store is None or job.run is None or not new:
        return []
    run = job.run.model_copy(update={"environment": job.bench.environment()})
    trials = recorded(
        new, run, space=job.subject.space, revisions=job.revisions, metric=job.metric, partner=job.partner
    )
    try:
        job.store.append(trials)
    except HistoryError as error:
        return [f"This bisection is not remembered: {error}."]
    return [f"Added to the history ({job.store.source}): {len(new)} measured values."]


def unmeasured(
    subject: Subject,
    revisions: Sequence[Revision],
    *,
    name: str,
    notes: Sequence[str],
    failure: BuildFailure | None = None,
) -> Report:
    """The report of a range where nothing had to be measured, or (with a failure) nothing could be."""
    good, bad = (RevisionRef(revision=r.id, label=r.label) for r in (revisions[0], revisions[-1]))
    return Report(
        mode="bisect",
        subject=name,
        verdict="inconclusive" if failure else "none",
        base=good,
        head=bad,
        threshold=subject.threshold,
        false_alarms=subject.false_alarms,
        revisions=len(revisions),
        build_failures=(failure,) if failure else (),
        notes=tuple(notes),
    )


def _leader(search: ChangePointSearch) -> str:
    found = search.change_points_
    if not found:
        return ""
    terms = ["+".join(point.term) or "everything" for point in found[:3]]
    return f"{len(found)} change point{'s' * (len(found) > 1)}: {', '.join(terms)}{' ...' * (len(found) > 3)}"


def _report(
    job: RangeJob,
    observations: Sequence[Observation],
    *,
    earlier: int,
    finished: bool,
    notes: Sequence[str],
) -> Report:
    found = job.search.change_points_
    usable = sorted({o.probe.revision for o in observations if not math.isnan(o.value)})
    budget = job.budget if math.isfinite(job.budget) else None
    stopped = job.bench.stopped()
    left = _left_over(job, observations, finished=finished)
    doubts = told_doubts(job.search, job.revisions, higher_is_better=job.higher_is_better)
    good, bad = job.revisions[0], job.revisions[-1]
    return Report(
        mode="bisect",
        subject=job.name,
        verdict=_verdict(job, finished=finished and bool(usable) and not (left or doubts)),
        interrupted="signal" if stopped else "" if finished else "budget",
        base=RevisionRef(revision=good.id, label=good.label),
        head=RevisionRef(revision=bad.id, label=bad.label),
        primary_metric=job.metric,
        higher_is_better=(job.metric,) if job.higher_is_better else (),
        threshold=job.subject.threshold,
        false_alarms=job.subject.false_alarms,
        change_points=tuple(told_point(point, job.revisions, usable, metric=job.metric) for point in found),
        lists=doubts,
        series=series(
            job.subject.space,
            job.revisions,
            observations,
            terms=[p.term for p in found],
            unit=job.unit,
            partner=job.partner,
        ),
        revisions=len(job.revisions),
        visible=_visible(job, observations) if finished else Visible(),
        spent=job.bench.spent().model_copy(update={"budget_seconds": budget, "earlier": earlier}),
        environment=with_noise(job.bench.environment(), observations, job.metric),
        notes=tuple(
            dict.fromkeys(
                [
                    *job.notes,
                    *job.bench.notes(),
                    *_doubts(job, observations, finished=finished),
                    *left,
                    ALONE,
                    *notes,
                ]
            )
        ),
    )


def _visible(job: RangeJob, observations: Sequence[Observation]) -> Visible:
    """How small a change a search that ended by itself would have found."""
    if isinstance(job.search, Seeing):
        return job.search.visible_
    return visible_steps(job.subject.space, observations, len(job.revisions)) if job.visible else Visible()


def _verdict(job: RangeJob, *, finished: bool) -> Verdict:
    points = job.search.change_points_
    harm = any((p.ratio > 1) != job.higher_is_better for p in points)
    benefit = any((p.ratio > 1) == job.higher_is_better for p in points)
    if harm or benefit:
        return "mixed" if harm and benefit else "regression" if harm else "improvement"
    return "none" if finished else "inconclusive"


def _doubts(job: RangeJob, observations: Sequence[Observation], *, finished: bool) -> list[str]:
    """What a reader must know of the search: cut short, and which revisions gave nothing."""
    notes = []
    if not finished:
        notes.append(
            "The search was cut short: changes may have been missed. Run it again with more time or trials"
            f"{'; it goes on from here' * job.resumes}."
        )
    broken = sorted({o.probe.revision for o in observations if not o.built})
    if broken:
        notes.append(
            f"{len(broken)} of {len(job.revisions)} revisions could not be built: {_some(job, broken)}"
        )
    return [*notes, *_failures(job, observations)]


def _left_over(job: RangeJob, observations: Sequence[Observation], *, finished: bool) -> list[str]:
    """What moved and is not told: in one place, or from end to end."""
    space, found, least = job.subject.space, job.search.change_points_, float(job.subject.threshold)
    left = unexplained(space, observations, found, least=least)
    known = found if left is None else [*found, as_change_point(left)]
    said = crept(
        space, job.revisions, observations, known, least=least, anchor=job.partner, finished=finished
    )
    return [*([] if left is None else [unexplained_in_words(left, job.revisions)]), *filter(None, [said])]


def _failures(job: RangeJob, observations: Sequence[Observation]) -> list[str]:
    """Failed trials: as runs of failures of a term where there are such, else where they were."""
    observations, notes = without_broken(job.subject.space, observations, paired=job.partner is not None)
    if job.partner is not None:
        observations, lost = without_value(job.subject.space, observations, job.revisions[job.partner].label)
        notes += lost
    found = failing_runs(job.subject.space, observations)
    runs = [run for run in found if run.term is not None and run.trials > 1]
    labels, tried = [r.label for r in job.revisions], {o.probe.revision for o in observations}
    told = [in_words(run, labels, tried) for run in runs]
    notes += [f"Trials failed {'; '.join(told)}, and worked before or after."] if told else []
    failed = sorted({o.probe.revision for o in observations if o.built and math.isnan(o.value)})
    other = [r for r in failed if not any(run.first <= r <= run.last for run in runs)]
    if other:
        where = "1 revision" if len(other) == 1 else f"{len(other)} revisions"
        notes.append(f"Trials failed at {where}: {_some(job, other)}")
    return notes


def _some(job: RangeJob, revisions: Sequence[int]) -> str:
    shown = ", ".join(job.revisions[r].label for r in revisions[:5])
    return shown + (" ..." if len(revisions) > 5 else ".")
