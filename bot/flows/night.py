"""The night: measures the default branch where it teaches most, remembers it, and says what was learnt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from bot.flows.nights.asserting import Asserted
from bot.flows.nights.concluding import concluded
from bot.flows.nights.issues import announce
from bot.flows.nights.job import NightJob, named
from bot.flows.nights.proposing import earlier, offer
from bot.flows.nights.second_look import second_look
from bot.flows.nights.teaching import Taught
from bot.flows.ports import Store
from bot.flows.ranges.chaining import Chain
from bot.flows.ranges.trials import recorded
from bot.model.change_points import Observation, Probe
from bot.model.errors import HistoryError
from bot.model.history import Measurements, RunRecord
from bot.model.report import Report
from bot.model.space import Configuration

LEAST_TRIALS = 4
"""For which there is time where profiles or assertions are begun: with fewer neither has a result."""


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
    asserted = _asserted(job, taught, began, measured)
    if len(taught.profiles):
        failure += _remembered(job, lambda store: store.append_profiles(taught.profiles))
    if len(taught.durations):
        failure += _remembered(job, lambda store: store.append_durations(taught.durations.table(_run(job))))
    job.progress.stage("concluding")
    again = second_look(job.search, [*(n.observations for n in job.past), measured])
    notes = [*failure, *taught.notes, *asserted.notes]
    report = concluded(job, measured, notes=notes, again=again)
    report = report.model_copy(
        update={"influences": taught.influences, "proposed_assertions": asserted.proposed}
    )
    return report.model_copy(update={"notes": (*report.notes, *_posted(job, report, asserted))})


def _posted(job: NightJob, report: Report, asserted: Asserted) -> list[str]:
    """Opens issues and the pull request of assertions; what was done, as notes."""
    notes = []
    if job.issues is not None and report.measured:
        notes += announce(job.issues, report, job.line)
    if job.proposals is not None and job.asserting is not None:
        tip = named(job.revisions[-1])
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
            job.progress.trials(job.bench.spent(), job.budget, found)
        job.search.partial_fit(chain.seconds(taken))
        if len(taken) < len(wishes):
            return
    sample = job.teaching.sample if job.teaching else ()
    for observation in job.bench.measure([Probe(c, len(job.revisions) - 1) for c in sample]):
        measured.append(observation)
        job.progress.trials(job.bench.spent(), job.budget, "")


def _trials(job: NightJob, measured: Sequence[Observation]) -> Measurements:
    """The night's trials as history keeps them."""
    return recorded(
        measured,
        _run(job),
        space=job.subject.space,
        revisions=job.revisions,
        metric=job.metric,
        partner=job.partner,
    )


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
    if job.teaching is None or job.bench.stopped() or not _room(job, measured):
        return Taught()
    job.progress.stage("profiling the tip")
    seconds: dict[Configuration, list[float]] = defaultdict(list)
    for observation in measured:
        # A failed pair's configuration teaches nothing, whatever the anchor took in it.
        if job.metric == "cpu" and job.partner is not None and observation.value > 0:
            seconds[observation.probe.configuration].append(observation.anchor)
    tip = named(job.revisions[-1])
    return job.teaching.teach(
        job.subject, tip, _run(job), trials=trials, clock=job.bench.elapsed, seconds=seconds
    )


def _room(job: NightJob, measured: Sequence[Observation]) -> bool:
    """Whether some more trials end within the budget; where tonight's first did not, none does."""
    spent = job.bench.elapsed()
    return bool(measured) and spent + LEAST_TRIALS * spent / len(measured) <= job.budget


def _asserted(job: NightJob, taught: Taught, began: float, measured: Sequence[Observation]) -> Asserted:
    """What the tip's call paths show, in its own time and what teaching, which `began` then, left over."""
    if job.asserting is None or job.bench.stopped() or not _room(job, measured):
        return Asserted()
    job.progress.stage("mining assertions")
    taught_by = began + (job.teaching.seconds if job.teaching else 0.0)
    return job.asserting.mine(
        named(job.revisions[-1]),
        job.subject.space,
        taught.durations,
        clock=job.bench.elapsed,
        until=min(max(taught_by, job.bench.elapsed()) + job.asserting.seconds, job.asserting.ends),
        earlier=earlier(job.proposals, job.asserting.file.text),
        tell=job.progress.stage,
    )
