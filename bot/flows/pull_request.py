"""The pull-request analysis: sample, build base and head, measure in pairs, decide, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from bot.analysis.diagnose import PairedEstimator, Rule
from bot.flows.assertions.findings import ASSERTING_SHARE
from bot.flows.history.diff_aware import changed_before, target
from bot.flows.history.experience import Recalled, recall
from bot.flows.ports import Bench
from bot.flows.pull_requests.conclusion import PROFILING_SHARE, conclude, report
from bot.flows.pull_requests.contrasts import Contrasts, Crossings
from bot.flows.resources.inquiry import counting_seconds
from bot.flows.run.evidence import Evidence
from bot.flows.run.job import Job
from bot.flows.run.reserve import LEAST_SHARE, Reserve
from bot.model.report import BuildFailure, Report, Spent
from bot.model.revisions import Build
from bot.model.space import Configuration
from bot.model.subject import Program, Subject, TableProgram
from bot.model.trials import Side
from bot.sampling.crossing import crossings
from bot.sampling.schedule import MOST, ROUNDS, Schedule

REPORTING_SHARE, REPORTING_SECONDS = 0.08, 4.0
"""Kept back from the budget for deciding and writing (the smaller of a share and of seconds)."""
WAITING = 0.8
"""A program whose CPU time is below this share of its wall time waits: it gets a second, wall-clock track."""
CROSSED = 256
"""Configurations that are drawn to find the few that tell suspects apart."""
COUNTING_LEAVES = 0.75
"""Share of the measuring time that is left for pairs when instructions are to be counted afterwards."""


def pull_request(job: Job) -> Report:
    """Runs the whole job; every failure of the subject program ends in the report, not in an exception."""
    if job.comparison.same_tree:
        return report(job, verdict="none", notes=("Base and head have the same tree: nothing to measure.",))
    if job.memory is not None:
        job.progress.stage("reading the history")
    recalled = recall(job.memory, job.subject, rules(job.subject), job.solver, accepted=job.accepted)
    builds: Mapping[Side, Build] = {}
    if job.workshop is not None:
        job.progress.stage("building base and head")
        builds = job.workshop.build(job.comparison)
    spent = Spent(
        build_seconds=max((b.seconds for b in builds.values()), default=0.0),  # both sides build at once
        builds=sum(b.ran for b in builds.values()),
    )
    failures = tuple(
        BuildFailure(side=b.side, step=b.step, reason=b.reason, log=b.log)
        for b in builds.values()
        if not b.ok
    )
    if failures:
        return report(job, verdict="inconclusive", build_failures=failures, spent=spent, recalled=recalled)
    job = aimed(job, recalled)
    job = replace(job, notes=(*job.notes, *job.condition()))
    job.progress.stage("measuring")
    reporting = min(REPORTING_SHARE * job.budget, REPORTING_SECONDS) if job.workshop else 0.0
    measuring = job.budget - reporting
    return _measure(job, job.open_bench(measuring), measuring, spent=spent, recalled=recalled)


def aimed(job: Job, recalled: Recalled) -> Job:
    """The job with a sample that aims at what drives the methods which the diff touches, if that is known.

    Else it aims at what changed before, where few configurations would show that.
    """
    aim, memory = job.aim, job.memory
    if aim is None or memory is None:
        return job
    job.progress.stage("looking up what drives the methods that the diff touches")
    found = target(aim, memory, job.subject, job.comparison) or changed_before(recalled, job.subject.space)
    if found is None:
        return job
    terms = found.terms
    return replace(job, sampler=lambda count: aim.sampler(count, terms), notes=(*job.notes, found.note))


def rules(subject: Subject) -> list[Rule]:
    """The metrics to decide on, with their margins; the primary one first.

    Wall time is primary for a parallel program and joins whatever the list says; a table has one metric.
    """
    if isinstance(subject.program, TableProgram):
        return [Rule(subject.program.metric, "lower", subject.threshold)]
    if not isinstance(subject.program, Program):
        return [Rule("cpu", "lower", subject.threshold)]
    found = [
        Rule(m.name, m.better, m.threshold or subject.threshold)
        for m in subject.metrics
        if m.name != "instructions"
    ]
    if subject.program.parallel:
        wall = next((r for r in found if r.name == "wall"), Rule("wall", "lower", subject.threshold))
        found = [wall, *(r for r in found if r.name != "wall")]
    return found or [Rule("cpu", "lower", subject.threshold)]


def _measure(job: Job, bench: Bench, measuring: float, *, spent: Spent, recalled: Recalled) -> Report:
    counting = any(m.name == "instructions" for m in job.subject.metrics)
    until = measuring
    measuring -= ASSERTING_SHARE * job.budget if job.assertions else 0.0
    wanted = rules(job.subject)
    of_time = timed(job.subject)
    alone = all(rule.name in of_time for rule in wanted[:1])
    evidence = Evidence(wanted, wall_only=frozenset() if alone else of_time)
    sample = list(dict.fromkeys(bench.served(c) for c in job.sampler(MOST)))
    rounds = ROUNDS
    if job.recorded is not None:
        sample = list(dict.fromkeys([*sample, *job.recorded.most]))  # all that speak
        rounds = min(rounds, max(job.recorded.most.values(), default=1))
    schedule = Schedule(
        sample=sample,
        slots=1 if alone else bench.slots,
        budget=measuring * (COUNTING_LEAVES if counting else 1.0),
        clock=bench.elapsed,
        rng=job.rng,
        primary="wall" if alone else "duet",
        rounds=rounds,
        controls=job.recorded is None,  # a value beside itself says nothing
        second_track=not alone and any(rule.name in of_time for rule in wanted),
        doubted=recalled.doubted(sample),
        served=lambda wished: _served(job, bench, wished),
    )
    contrasts = Contrasts(job.subject.space, _between(job, bench), evidence, schedule)
    schedule.active = partial(_worth_measuring, job, contrasts, schedule)
    reserve = _reserve(job, evidence, schedule.budget)
    schedule.finished = lambda: bench.stopped() or contrasts.decided or reserve.due(bench.elapsed())
    for pair in bench.measure(schedule.wishes()):
        schedule.observe(pair)
        evidence.observe(pair)
        if schedule.settled and evidence.estimator is None:
            _settle(job, schedule, evidence, recalled)
        contrasts.observe()
        job.progress.pairs(evidence.pairs, bench.elapsed(), job.budget, evidence.leader)
    if evidence.estimator is None:
        _settle(job, schedule, evidence, recalled)
    job = replace(job, notes=(*job.notes, *contrasts.notes))
    return conclude(job, bench, evidence, until=until, spent=spent, recalled=recalled)


def _worth_measuring(job: Job, contrasts: Contrasts, schedule: Schedule) -> Sequence[Configuration] | None:
    """What is measured next; of a noisy table, whatever has values that were not drawn yet."""
    if job.recorded is None:
        return contrasts.active()
    known, most = contrasts.evidence.ok_pairs, job.recorded.most
    return [c for c in schedule.configurations if known[c] < most.get(c, 0)]


def _served(job: Job, bench: Bench, wished: Configuration) -> Configuration | None:
    """What is measured for a wished configuration: the valid one close to it."""
    valid = job.solver.complete(near=wished)
    return None if valid is None else bench.served(valid)


def _between(job: Job, bench: Bench) -> Crossings:
    """What can be measured between configurations."""

    def found(one: Configuration, others: Sequence[Configuration]) -> list[Configuration]:
        crossed = crossings(one, others, lambda c: job.solver.complete(near=c), count=CROSSED, rng=job.rng)
        return [bench.served(c) for c in crossed]

    return found


def _reserve(job: Job, evidence: Evidence, end: float) -> Reserve:
    """Time that pairs leave to what explains them; it is worth looking for that early where methods are."""
    if job.open_profiles is None:
        return Reserve(evidence, end - counting_seconds(job))
    enough = end - PROFILING_SHARE * job.budget - counting_seconds(job)
    return Reserve(evidence, enough, latest=end - LEAST_SHARE * job.budget)


def timed(subject: Subject) -> frozenset[str]:
    """Metrics that a partner on the same core would distort: wall time, and what the program prints."""
    return frozenset({"wall"} | {m.name for m in subject.metrics if m.regex})


def _settle(job: Job, schedule: Schedule, evidence: Evidence, recalled: Recalled) -> None:
    """The sample is final: a waiting program gets its wall-clock track, and the estimator begins."""
    if schedule.primary == "duet" and evidence.waiting(WAITING) and not schedule.second_track:
        schedule.second_track = True
        evidence.rules.append(Rule("wall", "lower", job.subject.threshold))
    evidence.start(
        schedule.configurations,
        lambda: paired_estimator(job, schedule.configurations, evidence.rules, recalled),
    )


def paired_estimator(
    job: Job, configurations: Sequence[Configuration], rules: Sequence[Rule], recalled: Recalled
) -> PairedEstimator:
    """What decides on these configurations, with what history knows."""
    return PairedEstimator(
        space=job.subject.space,
        configurations=configurations,
        rules=rules,
        false_alarms=job.subject.false_alarms,
        equivalent=job.solver.equivalent,
        possible=job.solver.possible,
        rng=job.rng,
        experience=recalled.experience,
        recorded=job.recorded,
    )
