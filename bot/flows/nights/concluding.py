"""The report of a night: what its search believes, what is known of earlier nights, what must be doubted."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from bot.flows.machines import drift
from bot.flows.nights.broken import broken_at_tip
from bot.flows.nights.gone import gone
from bot.flows.nights.job import NightJob, named
from bot.flows.nights.second_look import SecondLook
from bot.flows.nights.telling import NO_LOOK, Telling
from bot.flows.ranges.chaining import Chain
from bot.flows.ranges.failing_runs import broken_values, together, without_broken, without_value
from bot.flows.ranges.repeated import with_noise
from bot.flows.ranges.series import series
from bot.flows.run.idle import doubted
from bot.model.at_fault import held
from bot.model.change_points import ChangePoint, Observation
from bot.model.report import Report, Series, Verdict
from bot.model.space import Term
from bot.model.trials import ALONE, UNTRIED
from bot.report.formats import seconds
from bot.report.ranges.moves import courses

FIRST_LOOK = 30
"""Pairs that a first look takes: the anchor's, and eight of tip and reference, in seven tenths of a night."""


def concluded(
    job: NightJob,
    measured: Sequence[Observation],
    *,
    notes: Sequence[str],
    again: SecondLook = NO_LOOK,
) -> Report:
    """The report of what the job's search believes after tonight's trials, and `again`: on a second look."""
    telling = _telling(job, again)
    nights = [*(n.observations for n in job.past), measured]
    all_nights = [o for observations in nights for o in observations]
    if job.partner is not None:
        telling.set_aside(gone(telling.points, nights, job.subject.space))
    usable = sorted({o.probe.revision for o in all_nights if not math.isnan(o.value)})
    found = {p: telling.point(p, usable) for p in telling.points}
    base, tip = job.revisions[0], job.revisions[-1]
    worked = any(o.value > 0 for o in measured)
    broken = _broken_at_tip(job, measured) if worked else []
    report = Report(
        mode="nightly",
        subject=job.name,
        verdict="inconclusive",
        interrupted="signal" if job.bench.stopped() else "",
        base=named(base),
        head=named(tip),
        primary_metric=job.metric,
        higher_is_better=(job.metric,) if job.higher_is_better else (),
        threshold=job.subject.threshold,
        false_alarms=job.subject.false_alarms,
        change_points=tuple(found.values()) if worked else (),
        series=_series(job, measured, [p.term for p in found]),
        revisions=len(job.revisions),
        visible=telling.visible(job.subject.space),
        spent=job.bench.spent().model_copy(update={"budget_seconds": job.budget}),
        environment=with_noise(job.bench.environment(), measured, job.metric),
        history=job.history,
        notes=tuple(
            dict.fromkeys(
                [
                    *job.notes,
                    *notes,
                    *broken,
                    *_machine(job, measured),
                    *_doubts(job, measured),
                    *_forgotten(job),
                    *job.bench.notes(),
                ]
            )
        ),
    )
    if not worked:
        return report
    kept = telling.kept(dict(zip(found, courses(report), strict=True)))
    told = {
        "change_points": tuple(found[p] for p in kept),
        "lists": telling.lists(kept),
        "verdict": _verdict(job, telling, kept, broken=bool(broken)),
    }
    return doubted(report.model_copy(update=told))


def _telling(job: NightJob, again: SecondLook) -> Telling:
    return Telling(
        job.search,
        job.revisions,
        job.metric,
        higher_is_better=job.higher_is_better,
        accepted=job.accepted,
        archive=job.archive,
        again=again,
    )


def _series(job: NightJob, measured: Sequence[Observation], terms: Sequence[Term]) -> tuple[Series, ...]:
    space, revisions = job.subject.space, job.revisions
    return series(space, revisions, measured, terms=terms, unit=job.unit, partner=job.partner)


def _broken_at_tip(job: NightJob, measured: Sequence[Observation]) -> list[str]:
    earlier = [o for night in job.past for o in night.observations]
    tip = len(job.revisions) - 1
    return broken_at_tip(job.subject.space, measured, earlier, tip=tip, partner=job.partner)


def _verdict(job: NightJob, telling: Telling, kept: Mapping[ChangePoint, bool], *, broken: bool) -> Verdict:
    """Of what is new tonight, and of regressions that stand: nobody accepted or undid them.

    broken: the tip fails where earlier revisions work, which is never green.
    """
    fresh = [telling.worse(p) for p in telling.fresh if telling.acceptance(p) is None]
    still = [p for p in telling.known if p in kept and not kept[p]]
    harm = any(fresh) or any(telling.worse(p) and telling.acceptance(p) is None for p in still)
    if harm or fresh:
        return "mixed" if harm and not all(fresh) else "regression" if harm else "improvement"
    settled = not telling.unclear and not telling.gone and not broken
    return "none" if job.search.enough_ and settled else "inconclusive"


def _doubts(job: NightJob, measured: Sequence[Observation]) -> list[str]:
    """What a reader must know of tonight's trials: what does not work, and which revisions failed."""
    kept, notes = _broken(job, measured)
    if job.partner is not None and any(o.value > 0 for o in measured):
        notes += without_value(job.subject.space, kept, job.revisions[job.partner].label)[1]
    tip = f"`{job.revisions[-1].label}`"
    there = [o for o in measured if o.probe.revision == len(job.revisions) - 1]
    if not measured and not job.bench.stopped():
        known = " What earlier nights know is not told: it was not looked at." * bool(job.past)
        enough = f" About {seconds(FIRST_LOOK * job.bench.elapsed())} would do for a first look."
        notes.append(f"{UNTRIED}: give it more budget.{enough * (job.bench.elapsed() > 0)}{known}")
    elif there and not any(o.value > 0 for o in there):
        notes.append(f"Every trial at the tip {tip} failed: nothing can be said of what is new.")
    elif len(job.search.compared_) == 1:
        notes.append(f"{ALONE} {tip} could be measured: there is nothing to compare it with.")
    broken = {o.probe.revision for o in measured if not o.built}
    notes += _stood_in(job, broken)
    if broken:
        shown = ", ".join(f"`{job.revisions[r].label}`" for r in sorted(broken)[:5])
        of = f"{len(broken)} of {len(job.revisions)} revisions"
        notes.append(f"{of} could not be built: {shown}{' ...' * (len(broken) > 5)}.")
    return notes


def _stood_in(job: NightJob, unbuilt: Collection[int]) -> list[str]:
    """What the tip was compared with instead of the reference, where that fails; unbuilt: places."""
    reference, compared = job.search.window.reference, job.search.compared_
    if len(compared) < 2 or min(compared) <= reference or reference in unbuilt:
        return []
    first, later = (f"`{job.revisions[place].label}`" for place in (reference, min(compared)))
    return [f"Most of what was tried fails at {first}: the tip was compared with {later} instead."]


def _broken(job: NightJob, measured: Sequence[Observation]) -> tuple[Sequence[Observation], list[str]]:
    """The trials without values with which nothing works tonight; notes on these, and until when it did."""
    space, paired = job.subject.space, job.partner is not None
    kept, notes = without_broken(space, measured, paired=paired)
    if not notes:
        return kept, []
    broken = broken_values(space, measured, paired=paired)
    earlier = [
        o.probe.revision
        for night in job.past
        for o in night.observations
        if o.value > 0 and held(space.as_dict(o.probe.configuration), broken)
    ]
    if not earlier:
        return kept, notes
    last = f"`{job.revisions[max(earlier)].label}`"
    return kept, [
        f"Nothing works with {together(broken)} tonight: all {len(measured) - len(kept)} trials failed."
        f" Earlier nights ran it, the last time at {last}: a later revision broke it, or this machine lacks"
        " what it needs."
    ]


def _forgotten(job: NightJob) -> list[str]:
    """That older nights' trials show something that is not told."""
    count = job.archive.doubtful
    if not count:
        return []
    what = "a change" if count == 1 else f"{count} changes"
    return [
        f"Older nights show {what} only where some of them are read together and not where others are: that"
        " is most often wrong, and not told."
    ]


def _machine(job: NightJob, measured: Sequence[Observation]) -> list[str]:
    """Whether the machine, rather than the code, is another one than last night."""
    if not job.past:
        return []
    last = job.past[-1]
    anchor = f"`{job.revisions[0].label}`"
    since = f"{last.run.started:%Y-%m-%d %H:%M}"
    other = drift.differences(job.bench.environment(), last.run.environment)
    ratio = drift.moved(
        drift.anchored(Chain().seconds(measured)),
        drift.anchored(Chain().seconds(last.observations)),
    )
    what = f" ({'; '.join(other)})" if other else ""
    if ratio is not None:
        way = "more" if ratio > 1 else "less"
        return [
            f"The environment moved since {since}{what}: the anchor {anchor}, the same code, takes"
            f" {100 * abs(ratio - 1):.2g} % {way} time. No commit is blamed for it: only trials of one night"
            " are compared."
        ]
    return [f"The environment is another one than at {since}{what}."] if other else []
