"""The night: measures the default branch where it teaches most, remembers it, and says what was learnt."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.flows import night_machine
from bot.flows.accepting import Accepted
from bot.flows.chaining import Chain
from bot.flows.night_asserting import Asserted, Asserting
from bot.flows.night_issues import Issues, announce
from bot.flows.night_past import Night
from bot.flows.night_proposing import Proposals, earlier, offer
from bot.flows.night_search import NightSearch
from bot.flows.night_teaching import Taught, Teaching
from bot.flows.night_telling import Telling
from bot.flows.ports import Progress, RevisionBench, Store
from bot.flows.series import series
from bot.model.change_points import Observation, Probe
from bot.model.errors import HistoryError
from bot.model.history import Measurements, RunRecord
from bot.model.recording import Recorder
from bot.model.report import History, Report, RevisionRef, Unit, Verdict
from bot.model.revisions import Revision
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.model.trials import Trial


@dataclass(frozen=True)
class NightJob:
    """A night's work, and the world as ports.

    revisions: from the anchor to the tip. past: earlier nights, oldest first. store: where the night is
    written to, None: nowhere. run: the record of this night, still without its environment. metric: what a
    trial's value is: seconds, or with a `partner` the ratio to that revision, which ran beside it. history:
    what is told of what was read. issues: where confirmed slow-downs are announced, None: nowhere. teaching:
    what is learnt of options besides; None: nothing. asserting: what is learnt of call paths; None: nothing.
    proposals: where the change of assertions is proposed, None: nowhere. accepted: slow-downs that are no
    alarm; None: not asked.
    """

    subject: Subject
    name: str
    revisions: Sequence[Revision]
    metric: str
    budget: float
    search: NightSearch
    bench: RevisionBench
    past: Sequence[Night]
    store: Store | None
    run: RunRecord
    history: History
    progress: Progress
    notes: tuple[str, ...] = ()
    partner: int | None = None
    issues: Issues | None = None
    higher_is_better: bool = False
    teaching: Teaching | None = None
    asserting: Asserting | None = None
    proposals: Proposals | None = None
    accepted: Accepted | None = None

    @property
    def unit(self) -> Unit:
        """What values are."""
        return "seconds" if self.partner is None else "ratio"


def night(job: NightJob) -> Report:
    """Runs the whole night; what the subject program does, and a history that fails, end in the report.

    Raises:
        UsageError: a callable subject raised; what was measured before is in the history.
    """
    job.search.remember([Chain().seconds(n.observations) for n in job.past])
    measured: list[Observation] = []
    failure: list[str] = []
    try:
        _measure(job, measured)
    finally:
        trials = _trials(job, measured)
        failure += _remembered(job, lambda store: store.append(trials)) if len(trials) else []
    began = job.bench.elapsed()
    taught = _taught(job, measured, trials)
    asserted = _asserted(job, taught, began)
    if len(taught.profiles):
        failure += _remembered(job, lambda store: store.append_profiles(taught.profiles))
    if len(taught.durations):
        failure += _remembered(job, lambda store: store.append_durations(taught.durations.table(_run(job))))
    job.progress.stage("concluding")
    report = concluded(job, measured, notes=[*failure, *taught.notes, *asserted.notes])
    report = report.model_copy(
        update={"influences": taught.influences, "proposed_assertions": asserted.proposed}
    )
    return report.model_copy(update={"notes": (*report.notes, *_posted(job, report, asserted))})


def _posted(job: NightJob, report: Report, asserted: Asserted) -> list[str]:
    """Opens issues and the pull request of assertions; what was done, as notes."""
    notes = []
    if job.issues is not None and report.measured:
        notes += announce(job.issues, report, job.revisions)
    if job.proposals is not None and job.asserting is not None:
        tip = _named(job.revisions[-1])
        notes += offer(job.proposals, asserted, tip, before=job.asserting.file.text)
    return notes


def _measure(job: NightJob, measured: list[Observation]) -> None:
    """Asks and measures until nothing is left to learn or the budget is spent."""
    job.progress.stage(f"measuring {len(job.revisions)} revisions")
    chain = Chain()
    while wishes := job.search.wishes():
        taken: list[Observation] = []
        found = ", ".join("+".join(p.term) or "everything" for p in job.search.change_points_)
        for observation in job.bench.measure(wishes):
            measured.append(observation)
            taken.append(observation)
            job.progress.trials(len(measured), job.bench.elapsed(), job.budget, found)
        job.search.partial_fit(chain.seconds(taken))
        if len(taken) < len(wishes):
            return
    sample = job.teaching.sample if job.teaching else ()
    for observation in job.bench.measure([Probe(c, len(job.revisions) - 1) for c in sample]):
        measured.append(observation)
        job.progress.trials(len(measured), job.bench.elapsed(), job.budget, "")


def _trials(job: NightJob, measured: Sequence[Observation]) -> Measurements:
    """The night's trials as history keeps them."""
    recorder = Recorder()
    for pair, observation in enumerate(measured):
        if observation.built:
            _record(recorder, job, observation, pair)
    return recorder.measurements(_run(job))


def _run(job: NightJob) -> RunRecord:
    return job.run.model_copy(update={"environment": job.bench.environment()})


def _remembered(job: NightJob, write: Callable[[Store], str]) -> list[str]:
    """Writes what the night measured; why it could not be written, as a note."""
    if job.store is None:
        return []
    try:
        write(job.store)
    except HistoryError as error:
        return [f"This night is not remembered: {error}. Tomorrow starts without it."]
    return []


def _taught(job: NightJob, measured: Sequence[Observation], trials: Measurements) -> Taught:
    """Profiles of the tip, and the influences that all nights show."""
    if job.teaching is None or job.bench.stopped():
        return Taught()
    job.progress.stage("profiling the tip")
    seconds: dict[Configuration, list[float]] = defaultdict(list)
    for observation in measured:
        if job.metric == "cpu" and job.partner is not None and observation.anchor > 0:
            seconds[observation.probe.configuration].append(observation.anchor)
    tip = _named(job.revisions[-1])
    return job.teaching.teach(
        job.subject, tip, _run(job), trials=trials, clock=job.bench.elapsed, seconds=seconds
    )


def _asserted(job: NightJob, taught: Taught, began: float) -> Asserted:
    """What the tip's call paths show, in the time since `began` for this and for teaching."""
    if job.asserting is None or job.bench.stopped():
        return Asserted()
    job.progress.stage("mining assertions")
    teaching = job.teaching.seconds if job.teaching else 0.0
    return job.asserting.mine(
        _named(job.revisions[-1]),
        job.subject.space,
        taught.durations,
        clock=job.bench.elapsed,
        until=began + teaching + job.asserting.seconds,
        earlier=earlier(job.proposals, job.asserting.file.text),
        tell=job.progress.stage,
    )


def _record(recorder: Recorder, job: NightJob, observation: Observation, pair: int) -> None:
    """One trial, or with ratios the pair of the partner's and the revision's."""
    probe = observation.probe
    options = job.subject.space.as_dict(probe.configuration)
    revision = _named(job.revisions[probe.revision])
    if not observation.value > 0:
        recorder.trial(Trial("exit"), revision, options)
    elif job.partner is None:
        recorder.trial(Trial("ok", {job.metric: observation.value}), revision, options)
    else:
        beside = _named(job.revisions[job.partner])
        seconds = observation.anchor, observation.value * observation.anchor
        recorder.trial(Trial("ok", {job.metric: seconds[0]}), beside, options, pair=pair)
        recorder.trial(Trial("ok", {job.metric: seconds[1]}), revision, options, pair=pair, second=True)


def _named(revision: Revision) -> RevisionRef:
    return RevisionRef(revision=revision.id, label=revision.label)


def concluded(job: NightJob, measured: Sequence[Observation], *, notes: Sequence[str]) -> Report:
    """The report of what the job's search believes after tonight's trials."""
    telling = Telling(
        job.search,
        job.revisions,
        job.metric,
        higher_is_better=job.higher_is_better,
        accepted=job.accepted,
    )
    all_nights = [o for n in job.past for o in n.observations] + list(measured)
    usable = sorted({o.probe.revision for o in all_nights if not math.isnan(o.value)})
    found = job.search.change_points_
    base, tip = job.revisions[0], job.revisions[-1]
    worked = any(o.value > 0 for o in measured)
    return Report(
        mode="nightly",
        subject=job.name,
        verdict=_verdict(job, telling) if worked else "inconclusive",
        interrupted="signal" if job.bench.stopped() else "",
        base=_named(base),
        head=_named(tip),
        primary_metric=job.metric,
        higher_is_better=(job.metric,) if job.higher_is_better else (),
        threshold=job.subject.threshold,
        false_alarms=job.subject.false_alarms,
        change_points=tuple(telling.point(p, usable) for p in found) if worked else (),
        series=series(
            job.subject.space, job.revisions, measured, terms=[p.term for p in found], unit=job.unit
        ),
        revisions=len(job.revisions),
        lists=telling.lists() if worked else (),
        visible=telling.visible(job.subject.space),
        spent=job.bench.spent().model_copy(update={"budget_seconds": job.budget}),
        environment=job.bench.environment(),
        history=job.history,
        notes=tuple(
            dict.fromkeys(
                [*job.notes, *notes, *_machine(job, measured), *_doubts(job, measured), *job.bench.notes()]
            )
        ),
    )


def _verdict(job: NightJob, telling: Telling) -> Verdict:
    """Of what is new tonight, and of regressions that stand: nobody accepted them."""
    fresh = [telling.worse(p) for p in telling.fresh if telling.acceptance(p) is None]
    standing = [telling.worse(p) for p in telling.known if telling.acceptance(p) is None]
    harm = any(fresh) or any(standing)
    if harm or fresh:
        return "mixed" if harm and not all(fresh) else "regression" if harm else "improvement"
    return "none" if job.search.enough_ and not job.search.unclear_ else "inconclusive"


def _doubts(job: NightJob, measured: Sequence[Observation]) -> list[str]:
    """What a reader must know of tonight's trials: a tip that does not work, and which revisions failed."""
    notes = []
    tip = f"`{job.revisions[-1].label}`"
    there = [o for o in measured if o.probe.revision == len(job.revisions) - 1]
    if there and not any(o.value > 0 for o in there):
        notes.append(f"Every trial at the tip {tip} failed: nothing can be said of what is new.")
    elif len(job.search.compared_) == 1:
        notes.append(f"No revision before {tip} could be measured: there is nothing to compare it with.")
    broken = {o.probe.revision for o in measured if not o.built}
    if broken:
        shown = ", ".join(f"`{job.revisions[r].label}`" for r in sorted(broken)[:5])
        notes.append(f"{len(broken)} revisions could not be built: {shown}{' ...' * (len(broken) > 5)}.")
    return notes


def _machine(job: NightJob, measured: Sequence[Observation]) -> list[str]:
    """Whether the machine, rather than the code, is another one than last night."""
    if not job.past:
        return []
    last = job.past[-1]
    anchor = f"`{job.revisions[0].label}`"
    since = f"{last.run.started:%Y-%m-%d %H:%M}"
    other = night_machine.differences(job.bench.environment(), last.run.environment)
    ratio = night_machine.moved(
        night_machine.anchored(Chain().seconds(measured)),
        night_machine.anchored(Chain().seconds(last.observations)),
    )
    what = f" ({'; '.join(other)})" if other else ""
    if ratio is not None:
        way = "longer" if ratio > 1 else "less long"
        return [
            f"The environment moved since {since}{what}: the anchor {anchor}, the same code, takes"
            f" {100 * abs(ratio - 1):.2g} % {way}. No commit is blamed for it: only trials of one night are"
            " compared."
        ]
    return [f"The environment is another one than at {since}{what}."] if other else []
