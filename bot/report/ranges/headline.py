"""The headline of a range's report: how many change points, the worst of them, what to do about it."""

from __future__ import annotations

from dataclasses import replace

from bot.model.report import ChangePoint, Report
from bot.model.trials import ALONE, BESIDE, TIP_FAILS, UNREAD, UNTRIED, tip_fails, unread
from bot.report import claims, doubts, unbuilt, unsteady, words
from bot.report.formats import (
    Listing,
    Prose,
    code,
    count,
    fraction,
    percent,
    probability,
    prose,
    seconds,
    sentence,
    strong,
)
from bot.report.hints import opening
from bot.report.parts import Headline
from bot.report.ranges import moves
from bot.report.ranges.whole import whole

MOST_NAMED = 3
"""Change points told above the fold; the table has all."""
UNEXPLAINED = "no change above explains"
CREPT = "more than is told"
NOTHING_WORKS = "Nothing work"
EARLY = 0.8
"""Share of its budget below which a search was not ended by it. Arbitrary."""
FORGOTTEN = "this night is not remembered"
DOUBTS = (
    "cut short",
    "could not be built",
    "trials failed",
    CREPT,
    "not built in time",
    UNEXPLAINED,
    FORGOTTEN,
    UNREAD.lower(),
    TIP_FAILS.lower(),
    BESIDE,
)
"""What the notes say that limits every figure: it is told above the fold, and only there."""
AGAIN = prose("nothing yet: the next night asks again, first of all.")
CHECK_EARLIER = prose(
    "run ",
    code("suspects check"),
    " at an earlier one that should work; later nights are compared with this tip.",
)
MEND = prose(
    "mend how these are run, or forbid them by ", code("constraints"), "; what works was looked at closely."
)
RUN_IT = prose(
    "run the tip in one of these configurations; if it is meant to fail there, forbid that by ",
    code("constraints"),
    ".",
)
LOST = prose("mend the place of the history first: the next night knows nothing of what this one asked.")


def range_headline(report: Report) -> Headline:
    """The headline of a bisection or a night; one that measured nothing is never green."""
    if not report.measured:
        found = _unmeasured(report)
    elif report.change_points:
        found = _found(report)
    elif report.verdict == "none" and not report.interrupted:
        found = _nothing(report)
    else:
        found = _unclear(report)
    summed = whole(report) if found.lead else None
    return replace(found, lead=(*found.lead, *([summed] if summed else [])), caveats=_caveats(report))


def doubtful(note: str) -> bool:
    """Whether a note is told above the fold."""
    return any(phrase in note.lower() for phrase in DOUBTS)


def _found(report: Report) -> Headline:
    courses = sorted(moves.courses(report), key=lambda c: (-c.left, -moves.size(c.point)))
    agreed = [c for c in courses if c.worse and c.point.accepted]
    worse = [c for c in courses if c.worse and c.lasting and c not in agreed]
    better = [c for c in courses if not c.worse and c.lasting]
    gone = [c for c in courses if c.worse and not c.lasting and c.begin is None]
    if worse:
        lead = _lead(worse + gone + better)
        icon = "🟠" if better else "🔴"
        return Headline("bad", icon, _title(report, worse[0]), lead, *_what_to_do(worse[0].point, report))
    if agreed and not gone:
        title, lead = prose("Nothing slower but what was accepted"), _lead(agreed + better)
        if _open(report):
            return Headline("unclear", "🟡", prose(title, ", so far"), lead, _to_be_sure(report))
        return Headline("good", "🟢", title, lead)
    if gone:
        action = prose("nothing, unless it can come back: it is no longer there.")
        if _open(report):
            action = prose("it is no longer there; ", _to_be_sure(report))
        return Headline("unclear", "🟡", _title(report, gone[0]), _lead(gone + better), action)
    ranked = better or courses
    title, lead = _title(report, ranked[0]), _lead(ranked)
    if _open(report):
        return Headline("unclear", "🟡", title, lead, _to_be_sure(report))
    return Headline("good", "🟢", title, lead, prose("nothing; what changed made it cheaper."))


def _open(report: Report) -> bool:
    """Whether something may have become slower that is not told: a night's verdict knows."""
    return bool(report.interrupted) or report.verdict == "inconclusive" or tip_fails(report.notes)


def _nameless(report: Report) -> bool:
    """Whether something moved that could not be named."""
    return any(found.kind == "unclear" and found.items for found in report.lists)


def _again(report: Report) -> Prose:
    """A night that is not remembered leaves no question to the next one."""
    return LOST if any(FORGOTTEN in note.lower() for note in report.notes) else AGAIN


def _to_be_sure(report: Report) -> Prose:
    if _nameless(report) and report.mode == "nightly" and not report.interrupted:
        return _again(report)
    return prose("to be sure that nothing became slower, ", _more(report))


def _title(report: Report, first: moves.Course) -> Prose:
    """The change point to know of, and how many there are."""
    point = first.point
    spoken = words.metric(point.metric)
    verb = spoken.worse if first.worse else spoken.better
    others = len(report.change_points) - 1 - (first.end is not None)
    when = moves.since(point)
    if first.end is not None:
        when = prose("from ", moves.called(point), " until ", moves.called(first.end))
    title = prose(
        verb.lower() if others else verb, " ", words.hit(point), " ", when,
        f": {percent(point.ratio)} ", spoken.noun,
    )  # fmt: skip
    if first.end is None and first.eased is not None:
        title = prose(title, ", partly undone")
    if not others:
        return title
    rank = "worst" if first.worse else "largest"
    return prose(count(len(report.change_points), "change point"), f"; the {rank}: ", title)


def _lead(ranked: list[moves.Course]) -> tuple[Prose, ...]:
    """The first few change points, a sentence each."""
    return tuple(_sentence(course) for course in ranked[:MOST_NAMED])


def _sentence(course: moves.Course) -> Prose:
    point, fate, several = course.point, course.fate, moves.span(course.point)
    return prose(
        moves.revision(point),
        prose(" (or another of ", several, ")") if several.spans else "",
        ": ",
        words.hit(point),
        " ",
        moves.amount(point, emphasised=True),
        f", {probability(point.probability)}",
        f", accepted until {point.accepted.until}" if point.accepted else "",
        prose("; ", fate) if fate.spans else "",
        ".",
    )


def _what_to_do(point: ChangePoint, report: Report) -> tuple[Prose, Listing | None]:
    several = moves.span(point)
    what = several if several.spans else moves.called(point)
    look = prose("look at what ", what, " changed in the code that runs ", words.hit(point))
    line = moves.comparison(point, report)
    if not line:
        return prose(look, "."), None
    return prose(look, ". To see this change alone, measured in pairs:"), Listing(line, "sh")


def _more(report: Report) -> Prose:
    """What a search that ended too early lacks; a night has no number of trials to raise."""
    first = code("budget.nightly" if report.mode == "nightly" else "--trials")
    return prose("give it more: raise ", first, " or ", code("--budget"), ".")


def _nothing(report: Report) -> Headline:
    among = f" among {count(report.revisions, 'revision')}" * bool(report.revisions)
    partly = any(BESIDE in note for note in report.notes)
    title = prose("No change found", among, " where trials ended well" * partly)
    return Headline("good", "🟢", title, (_searched(report), power(report)))


def _unclear(report: Report) -> Headline:
    why, action = "no change found before the search ended", _more(report)
    if unread(report.notes):
        why, action = doubts.IDLE, doubts.REPAIR
    elif tip_fails(report.notes):
        title = prose("The tip fails where earlier revisions work; no slow-down known elsewhere")
        return Headline("bad", "🟠", title, (_searched(report),), RUN_IT)
    elif any(note.startswith(ALONE) for note in report.notes):
        why, action = "there is nothing to compare the tip with", CHECK_EARLIER
    elif _ended_itself(report) and any(NOTHING_WORKS in note for note in report.notes):
        why, action = "no change found, but with some options nothing works", MEND
    elif any(UNEXPLAINED in note for note in report.notes):
        why, action = "something moved that no option explains", prose("look at what changed there.")
    elif not report.interrupted and any(CREPT in note for note in report.notes):
        why, action = (
            "it moved in steps too small to be told",
            prose("compare releases that are further apart."),
        )
    elif _nameless(report):
        why = "something may have moved that could not be named"
        action = _again(report) if report.mode == "nightly" else _more(report)
    return Headline("unclear", "🟡", prose("Not clear: ", why), (_searched(report),), action)


def _ended_itself(report: Report) -> bool:
    """Whether a search had budget left."""
    spent = report.spent
    early = spent.budget_seconds is not None and spent.seconds < EARLY * spent.budget_seconds
    return early and not report.interrupted


def _unmeasured(report: Report) -> Headline:
    """No trial ended well: there was nothing to compare, nothing could be built, or everything failed."""
    if report.build_failures:
        return unbuilt.of_range(report.build_failures[0])
    spent = report.spent
    if report.verdict == "none" and not spent.trials and not report.interrupted:
        told = [sentence(note) for note in report.notes if "nothing to measure" in note]
        lead = told or [prose("In this range there was nothing to compare.")]
        return Headline("neutral", "⚪", prose("Nothing to measure"), tuple(lead[:1]))
    untried = [sentence(note) for note in report.notes if note.startswith(UNTRIED)]
    if untried and not spent.failed_trials:
        title = prose("Nothing was measured: the budget ended before the first comparison")
        return Headline("broken", "⛔", title, tuple(untried[:1]), _more(report))
    why = ": every trial failed" if spent.failed_trials and spent.failed_trials >= spent.trials else ""
    return Headline(
        "broken",
        "⛔",
        prose("Nothing was measured", why),
        (prose("No trial ended well, so nothing is known about this range."),),
        prose("run ", code("suspects check"), " at one of these revisions, and repair what fails."),
    )


def power(report: Report) -> Prose:
    """What this search (or night) would have found, and what it did not exercise, in one sentence."""
    if report.mode != "bisect":  # a night compares its tip with an earlier commit, as a pull request does
        return claims.power(report)
    options = report.visible.options
    seen = [o.slow_down for o in options if o.slow_down is not None]
    if not seen:
        return prose("How small a change it could have found is not known.")
    on = "any option" if len(seen) == len(options) else count(len(seen), "option")
    missed = claims.unexercised(report)
    return prose(
        "A lasting change of ",
        strong(fraction(max(seen))),
        prose(" ", words.metric(report.primary_metric).noun, f" or more with {on}"),
        " would have been found in four cases of five",
        f"; {missed} not exercised." if missed else ".",
    )


def _searched(report: Report) -> Prose:
    spent = report.spent
    where = prose("")
    if report.base and report.head:
        where = prose(moves.name(report.base.label), " to ", moves.name(report.head.label), ": ")
    of = f"{count(report.revisions, 'revision')}, " if report.revisions else ""
    made = [f"{count(spent.trials, 'trial')} in {seconds(spent.seconds)}"] if spent.trials else []
    made += [f"{count(spent.earlier, 'value')} of an earlier run"] if spent.earlier else []
    return prose("Searched ", where, of, f"{' and '.join(made) or 'no trials'}.")


def _caveats(report: Report) -> tuple[Prose, ...]:
    told = [note for note in report.notes if doubtful(note)]
    if report.interrupted == "signal":
        told.insert(0, f"Stopped from outside after {count(report.spent.trials, 'trial')}.")
    if report.interrupted and not any("cut short" in note for note in told):
        told.insert(0, "The search was cut short: changes may have been missed.")
    advice = opening(report.notes) if report.measured else None
    advised = [prose("Of what failed: ", advice)] if advice else []
    return (*(sentence(note) for note in told), *advised, *unsteady.caveat(report))
