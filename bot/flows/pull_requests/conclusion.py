"""From evidence to report: the judgement, the failures, the exact counts, how to reproduce."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bot.analysis.diagnose import Judgement
from bot.flows.assertions.findings import ASSERTING_SHARE, check_assertions
from bot.flows.assertions.suspects import Blamed, with_violations
from bot.flows.history.accepting import with_accepted
from bot.flows.history.experience import Recalled
from bot.flows.methods.choice import Flagged
from bot.flows.methods.suspects import METRICS, MethodFindings, MethodInquiry
from bot.flows.ports import Bench
from bot.flows.pull_requests.costly import costly
from bot.flows.resources.findings import Resources
from bot.flows.resources.inquiry import ResourceInquiry, counting_seconds
from bot.flows.run.evidence import Evidence
from bot.flows.run.idle import doubted
from bot.flows.run.job import Job
from bot.model.report import ConfigurationChange, Report, RevisionRef, Spent, State, Suspects, Verdict
from bot.model.space import Configuration, distance
from bot.model.trials import Pair, Wish
from bot.report.reproduce import repeated, reproduction

PROFILING_SHARE = 1 / 3
"""Of the budget, at most, goes into profiles."""
SHORT = 0.5
"""With less than this share of the time for methods and resources fewer configurations are profiled."""
COUNTED = 3
"""Flagged configurations whose instructions are counted, those nearest to the default first."""


def report(
    job: Job, *, verdict: Verdict, notes: Sequence[str] = (), recalled: Recalled | None = None, **found: Any
) -> Report:
    """A report of this job; what is not given stays empty, and the notes say why."""
    base, head = job.comparison.base, job.comparison.head
    built = job.workshop.notes() if job.workshop else ()
    known = recalled or Recalled()
    said = [*job.comparison.notes, *job.notes, *built, *notes, *known.notes]
    plain = Report(
        mode="pull_request",
        subject=job.name,
        verdict=verdict,
        base=RevisionRef(revision=base.id, label=base.label),
        head=RevisionRef(revision=head.id, label=head.label),
        threshold=job.subject.threshold,
        false_alarms=job.subject.false_alarms,
        history=known.history,
        notes=tuple(dict.fromkeys(said)),
        **found,
    )
    return doubted(plain if job.accepted is None else with_accepted(plain, job.accepted))


def conclude(
    job: Job, bench: Bench, evidence: Evidence, *, until: float, spent: Spent, recalled: Recalled
) -> Report:
    """The report of a measured comparison (or of one in which nothing could be measured).

    until: seconds on the bench's clock up to which counts and profiles may go on.
    """
    assert evidence.estimator is not None
    job.progress.stage("deciding")
    judgement = evidence.estimator.judge()
    changes = _configurations(job, judgement, evidence)
    names = job.subject.space.names
    moved = [tuple(c.options[n] for n in names) for c in changes if c.state in ("slower", "faster")]
    flagged = sorted(dict.fromkeys(moved), key=lambda c: distance(c, evidence.configurations[0]))
    environment = bench.environment()
    answers = recalled.answers(judgement.options)
    notes = [*bench.notes(), *judgement.notes, *answers, *recalled.machine_notes(environment)]
    if _cut_short(evidence) and evidence.rules[0].name in METRICS:
        notes += costly(evidence.base(), names)
    if any(m.name == "instructions" for m in job.subject.metrics):
        changes += _instructions(job, bench, flagged[:COUNTED], notes)
    share = PROFILING_SHARE + (ASSERTING_SHARE if job.assertions else 0.0)
    until = min(until, bench.elapsed() + share * job.budget + counting_seconds(job))
    asserting = ASSERTING_SHARE * job.budget if job.assertions else 0.0
    methods, resources = _explained(job, bench, evidence, _timed(job, evidence, judgement), until - asserting)
    asserted = check_assertions(job, bench.elapsed, until=until)
    found = report(
        job,
        recalled=recalled,
        verdict=judgement.verdict if evidence.pairs else "inconclusive",
        interrupted="signal" if bench.stopped() else "budget" if _cut_short(evidence) else "",
        effects=recalled.beside_base(judgement.effects),
        suspects=Suspects(
            options=recalled.beside_base((*judgement.options, *judgement.suspected)),
            methods=tuple(with_violations(job, asserted.checked, _blamed(job, evidence, changes, methods))),
            resources=resources.suspects,
        ),
        profiles=methods.profiles,
        resources=resources.counted,
        configurations=tuple(changes),
        visible=judgement.visible,
        primary_metric=evidence.rules[0].name,
        higher_is_better=tuple(r.name for r in evidence.rules if r.better == "higher"),
        environment=environment.model_copy(update={"noise": evidence.noise()}),
        spent=spent.model_copy(
            update={
                "seconds": bench.elapsed(),
                "budget_seconds": job.budget,
                "trials": evidence.trials,
                "pairs": evidence.pairs,
                "failed_trials": evidence.failed_trials,
            }
        ),
        assertions=asserted.outcomes,
        notes=(*notes, *methods.notes, *resources.notes, *asserted.notes),
    )
    repeating = dict.fromkeys(c for c in repeated(found, job.subject.space) if c not in flagged)
    told = (reproduction(job.subject, job.comparison, c) for c in (*repeating, *flagged))
    return found.model_copy(update={"reproduce": tuple(told)})


def _blamed(
    job: Job, evidence: Evidence, changes: Sequence[ConfigurationChange], methods: MethodFindings
) -> Blamed:
    """What is known of the default configuration, in which assertions are checked."""
    metric, names = evidence.rules[0].name, job.subject.space.names
    for own in changes:
        if own.default and own.metric == metric:
            base = evidence.base().get(tuple(own.options[n] for n in names))
            timed = base is not None and own.state in ("slower", "faster") and metric in METRICS
            change = (base or 0.0) * ((own.ratio or 1.0) - 1.0) if timed else None
            return Blamed(methods.suspects, dict(own.options), change)
    return Blamed(methods.suspects, {}, None)


def _timed(job: Job, evidence: Evidence, judgement: Judgement) -> Flagged | None:
    """What was decided on the primary metric, when that is time: methods and resources explain no other."""
    metric, names = evidence.rules[0].name, job.subject.space.names
    if metric not in METRICS:
        return None
    return Flagged(
        {tuple(c.options[n] for n in names): c for c in judgement.configurations if c.metric == metric},
        [effect for effect in judgement.options if effect.metric == metric],
        evidence.base(),
    )


def _explained(
    job: Job, bench: Bench, evidence: Evidence, timed: Flagged | None, until: float
) -> tuple[MethodFindings, Resources]:
    """Methods and resources behind the changes, until `until` on the bench's clock; methods come first."""
    if timed is None:
        return MethodFindings(), Resources()
    counting, methods = counting_seconds(job), MethodFindings()
    if job.open_profiles is not None:
        left = until - bench.elapsed()  # less than both were meant to have, where the alarm came late
        short = left < SHORT * (PROFILING_SHARE * job.budget + counting)
        methods = MethodInquiry(job, bench, timed, until - min(counting, left / 3), short).run()
    latest = min(until, bench.elapsed() + counting)
    return methods, ResourceInquiry(job, bench, timed, evidence.free, until=latest).run()


def _cut_short(evidence: Evidence) -> bool:
    """Whether the budget ended before every configuration of the sample had a pair."""
    return any(not evidence.ok_pairs[c] and not evidence.failed_pairs[c] for c in evidence.configurations)


def _configurations(job: Job, judgement: Judgement, evidence: Evidence) -> list[ConfigurationChange]:
    """The judged configurations, default first, with their failed pairs; failed ones as such."""
    names = job.subject.space.names
    first = evidence.configurations[0] if evidence.configurations else None
    found = []
    for change in judgement.configurations:
        configuration = tuple(change.options[n] for n in names)
        failed = evidence.failed_pairs[configuration]
        update: dict[str, Any] = {"default": configuration == first, "failed_pairs": failed}
        if failed:
            update["failure"] = evidence.failures[configuration]
            update["failed_sides"] = tuple(sorted(evidence.failed_sides[configuration]))
        if failed and not change.pairs:
            update["state"] = "failed"
        found.append(change.model_copy(update=update))
    return sorted(found, key=lambda c: not c.default)


def _instructions(
    job: Job, bench: Bench, configurations: Sequence[Configuration], notes: list[str]
) -> list[ConfigurationChange]:
    """Instruction counts of the flagged configurations: exact, so one pair of each says it."""
    if not configurations:
        notes.append("Instructions were not counted: no configuration was flagged.")
        return []
    found = []
    for pair in bench.measure(Wish(c, track="instructions") for c in configurations):
        ratio = _instruction_ratio(pair)
        if ratio is None:
            reason = pair.first.detail or pair.second.detail or "the budget was spent"
            notes.append(f"Instructions of a flagged configuration were not counted: {reason}.")
            continue
        found.append(
            ConfigurationChange(
                options=job.subject.space.as_dict(pair.wish.configuration),
                metric="instructions",
                ratio=ratio,
                interval=(ratio, ratio),
                pairs=1,
                state=_exact_state(ratio, job.subject.threshold),
            )
        )
    return found


def _instruction_ratio(pair: Pair) -> float | None:
    base, head = (t.metrics.get("instructions", math.nan) for t in (pair.first, pair.second))
    return head / base if base > 0 and head > 0 else None


def _exact_state(ratio: float, threshold: float) -> State:
    if abs(math.log(ratio)) <= math.log1p(threshold):
        return "same"
    return "slower" if ratio > 1 else "faster"
