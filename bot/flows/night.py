"""The night: measures the default branch where it teaches most, remembers it, and says what was learnt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.flows import night_machine
from bot.flows.chaining import Chain
from bot.flows.night_past import Night
from bot.flows.night_search import NightSearch
from bot.flows.night_telling import Telling
from bot.flows.ports import Progress, RevisionBench, Store
from bot.flows.series import series
from bot.model.change_points import Observation
from bot.model.errors import HistoryError
from bot.model.history import RunRecord
from bot.model.recording import Recorder
from bot.model.report import History, Report, RevisionRef, Verdict
from bot.model.revisions import Revision
from bot.model.subject import Subject
from bot.model.trials import Trial


@dataclass(frozen=True)
class NightJob:
    """A night's work, and the world as ports.

    revisions: from the anchor to the tip. past: earlier nights, oldest first. store: where the night is
    written to, None: nowhere. run: the record of this night, still without its environment. metric: what a
    trial's value is, in seconds or as a ratio to the anchor. history: what is told of what was read.
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
    unit: Literal["seconds", "ratio"] = "seconds"


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
        failure += _remembered(job, measured)
    job.progress.stage("concluding")
    return _report(job, measured, notes=failure)


def _measure(job: NightJob, measured: list[Observation]) -> None:
    """Asks and measures until nothing is left to learn or the budget is spent."""
    job.progress.stage(f"measuring {len(job.revisions)} revisions")
    chain = Chain()
    while wishes := job.search.wishes():
        taken: list[Observation] = []
        for observation in job.bench.measure(wishes):
            measured.append(observation)
            taken.append(observation)
            found = ", ".join("+".join(p.term) or "everything" for p in job.search.change_points_)
            job.progress.trials(len(measured), job.bench.elapsed(), job.budget, found)
        job.search.partial_fit(chain.seconds(taken))
        if len(taken) < len(wishes):
            break


def _remembered(job: NightJob, measured: Sequence[Observation]) -> list[str]:
    """Writes the night's trials; why they could not be written, as a note."""
    if job.store is None or not measured:
        return []
    recorder = Recorder()
    for pair, observation in enumerate(measured):
        if observation.built:
            _record(recorder, job, observation, pair)
    if not len(recorder):
        return []
    run = job.run.model_copy(update={"environment": job.bench.environment()})
    try:
        job.store.append(recorder.measurements(run))
    except HistoryError as error:
        return [f"This night is not remembered: {error}. Tomorrow starts without it."]
    return []


def _record(recorder: Recorder, job: NightJob, observation: Observation, pair: int) -> None:
    """One trial, or with ratios the pair of the anchor's and the revision's."""
    probe = observation.probe
    options = job.subject.space.as_dict(probe.configuration)
    anchor, revision = (
        RevisionRef(revision=r.id, label=r.label) for r in (job.revisions[0], job.revisions[probe.revision])
    )
    if not observation.value > 0:
        recorder.trial(Trial("exit"), revision, options)
    elif job.unit == "seconds":
        recorder.trial(Trial("ok", {job.metric: observation.value}), revision, options)
    else:
        seconds = observation.anchor, observation.value * observation.anchor
        recorder.trial(Trial("ok", {job.metric: seconds[0]}), anchor, options, pair=pair)
        recorder.trial(Trial("ok", {job.metric: seconds[1]}), revision, options, pair=pair, second=True)


def _report(job: NightJob, measured: Sequence[Observation], *, notes: Sequence[str]) -> Report:
    telling = Telling(job.search, job.revisions, job.metric)
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
        base=RevisionRef(revision=base.id, label=base.label),
        head=RevisionRef(revision=tip.id, label=tip.label),
        primary_metric=job.metric,
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
        notes=tuple(dict.fromkeys([*job.notes, *notes, *_machine(job, measured), *job.bench.notes()])),
    )


def _verdict(job: NightJob, telling: Telling) -> Verdict:
    """Of what is new tonight, and of regressions that stand: nobody accepted them."""
    ratios = [p.ratio for p in telling.fresh] + [p.ratio for p in telling.known if p.ratio > 1]
    if ratios:
        harm, benefit = any(r > 1 for r in ratios), any(r < 1 for r in ratios)
        return "mixed" if harm and benefit else "regression" if harm else "improvement"
    return "none" if job.search.enough_ and not job.search.unclear_ else "inconclusive"


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
