"""The headline: verdict, what, how much, how sure, what to do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.model.report import Effect, Report
from bot.model.trials import unread
from bot.report import claims, doubts, failures, hints, methods, nameless, resources, unbuilt, words
from bot.report.assertions import condition, violations, what_moved
from bot.report.formats import (
    Listing,
    Prose,
    code,
    count,
    join,
    percent,
    prose,
    sentence,
)
from bot.report.parts import Headline

MOST_NAMED = 3
"""Suspects named above the fold; the table has the others."""
MOST_ACCEPTED = 5
ON_TOP = "what this pull request adds comes on top"
KNOWN_BEFORE = ("this pull request takes back", "this pull request makes it worse there again", ON_TOP)
"""What notes say of changes that history knows. Whether what was accepted is twice, a reader decides."""
GENERAL = 0.5
"""Of a special change's size, from which on the more general one leads. Arbitrary."""


def headline(report: Report, *, fork: bool = False) -> Headline:
    """The headline of any report; a run that measured nothing is never green."""
    told = _TOLD[state(report)](report)
    accepted = claims.accepted(report)
    twice = _said(report, ON_TOP) if accepted and told.tone == "good" else ()
    told = replace(told, lead=(*told.lead, *accepted, *twice))
    return replace(_with_assertions(report, told, fork=fork), caveats=claims.caveats(report, fork=fork))


def state(report: Report) -> str:
    """The verdict, or why there is none: equal (trees), unbuilt, unmeasured."""
    if report.measured:
        return report.verdict
    if report.build_failures:
        return "unbuilt"
    untouched = report.verdict == "none" and not report.spent.trials and not report.interrupted
    return "equal" if untouched else "unmeasured"


def alarms(report: Report, *, bad: bool) -> list[Effect]:
    """Named changes for the worse (or better): the primary metric's first, then most probable first.

    What was accepted is none.
    """
    named = [e for e in report.suspects.options if e.significant and not e.accepted]
    unnamed = sorted(
        (e for e in report.effects if e.significant and not e.accepted), key=lambda e: -e.probability
    )
    for candidates in (named, unnamed):
        found = [e for e in candidates if words.worse(report, e) is bad]
        if found:
            return ordered(report, found)
    return []


def ordered(report: Report, found: Sequence[Effect]) -> list[Effect]:
    """As readers are told of them: the primary metric's, then proven, relevant and general ones first."""

    def place(one: Effect) -> tuple[bool, ...]:
        rivals = [e for e in found if e.significant and (e.ratio > 1) == (one.ratio > 1)]
        told = (not one.relevant, _special(one, rivals)) if one.significant else ()
        return (one.metric != report.primary_metric, not one.significant, *told)

    return sorted(found, key=place)


def _special(one: Effect, found: Sequence[Effect]) -> bool:
    """Whether another change, of a part of its term alone, is about as large: more readers have that one."""
    return any(
        other.metric == one.metric
        and other.term
        and set(other.term) < set(one.term)
        and abs(math.log(other.ratio)) >= GENERAL * abs(math.log(one.ratio))
        for other in found
    )


def _regression(report: Report) -> Headline:
    found = alarms(report, bad=True)
    return Headline(
        "bad", "🔴", _title(report, found, bad=True), _lead(report, found, bad=True),
        *_what_to_do(report, found),
    )  # fmt: skip


def _improvement(report: Report) -> Headline:
    found = alarms(report, bad=False)
    action = prose("nothing; this pull request makes it cheaper.")
    if claims.default_may_be_worse(report):
        worse = (
            "what is named needs nothing; but the default configuration may have become worse. To be sure, "
        )
        action = hints.more_time(report, worse)
    title = prose(_title(report, found, bad=False), claims.mostly_unseen(report))
    return Headline("good", "🟢", title, _lead(report, found, bad=False), action)


def _mixed(report: Report) -> Headline:
    slower, faster = alarms(report, bad=True), alarms(report, bad=False)
    titles = _title(report, slower, bad=True), _title(report, faster, bad=False, capital=False)
    lead = _lead(report, [*slower[: MOST_NAMED - 1], *faster[:1]], bad=True)
    return Headline("bad", "🟠", prose(titles[0], "; ", titles[1]), lead, *_what_to_do(report, slower))


def _none(report: Report) -> Headline:
    lead = (claims.default(report), claims.power(report))
    if report.interrupted == "signal":
        return Headline("unclear", "🟡", prose("No slow-down found before the run was stopped"), lead)
    if report.broken_at_head:
        return _broken(report, lead, "no slow-down found elsewhere")
    if (found := doubts.doubt(report)) is not None:
        return Headline(
            "unclear", "🟡", found.title, (lead[0], *found.lead, lead[1]), hints.more_time(report, found.why)
        )
    failed = " where trials ended well" if report.spent.failed_trials else ""
    said = "Nothing slower but what was accepted" if claims.accepted(report) else "No slow-down found"
    unseen = claims.mostly_unseen(report) or claims.hardly_clear(report)
    action = hints.more_time(report, "nothing; to see more, ") if unseen else None
    return Headline("good", "🟢", prose(f"{said}{failed}{unseen}"), lead, action)


def _broken(report: Report, lead: Sequence[Prose], elsewhere: str) -> Headline:
    """Nothing is known to be slower, and head fails where base works: that is what to look at."""
    broken = report.broken_at_head
    shown = failures.broken_values(report)
    where = (
        prose("with ", join(shown, "; or with ")) if shown else "in " + count(len(broken), "configuration")
    )
    title = prose("Head fails ", where, ", where base works; ", elsewhere)
    action = prose(
        "run head in one of the failed configurations of the table below; if it is meant to fail there, "
        "forbid that by ", code("constraints"), ".",
    )  # fmt: skip
    return Headline("bad", "🟠", title, (lead[0], *failures.how_they_fit(report), *lead[1:]), action)


def _inconclusive(report: Report) -> Headline:
    lead = [claims.default(report)]
    suspect = next((e for e in report.suspects.options if words.worse(report, e)), None)
    if suspect is not None:
        also, told = words.aliases(suspect.aliases), claims.hit(report, suspect, capital=False)
        lead.append(prose("Most suspicious, but not proven: ", told, " " if also.spans else "", also))
    else:
        lead += doubts.told(report)
    if unread(report.notes):
        return Headline("unclear", "🟡", prose("Not clear: ", doubts.IDLE), tuple(lead[:1]), doubts.REPAIR)
    settling = _said(report, "would settle it", "to settle it")
    if report.broken_at_head:
        return _broken(report, (*lead, *settling), "elsewhere a slow-down could not be ruled out")
    action = hints.more_time(report, "for a clear answer ")
    title = prose("Not clear: a slow-down could not be ruled out")
    return Headline("unclear", "🟡", title, (*lead, *settling), None if settling else action)


def _equal(report: Report) -> Headline:
    lead = prose("Base and head have the same files, so their performance is the same.")
    # The reader may have meant another base than the one whose files these are.
    return Headline("neutral", "⚪", prose("Nothing to measure"), (lead, *_said(report, "the merge base of")))


def _unmeasured(report: Report) -> Headline:
    failed = report.spent.failed_trials
    lead = prose("No pair of runs of base and head ended well, so nothing is known about this pull request.")
    action = prose("run the program by hand as ", code("suspects check"), " does, and repair what fails.")
    title = "Nothing was measured" + (": trials failed" if failed else "")
    if report.broken_at_head and len(report.broken_at_head) == len(report.configurations):
        title = "Nothing was measured: head fails in every configuration that was tried, and base works"
        action = prose("repair what this pull request broke; the table of configurations has the errors.")
    failures = [change.failure for change in report.configurations]
    action = hints.opening_for(failures) or hints.installing(failures) or action
    return Headline("broken", "⛔", prose(title), (lead,), action)


_TOLD: dict[str, Callable[[Report], Headline]] = {
    "regression": _regression,
    "improvement": _improvement,
    "mixed": _mixed,
    "none": _none,
    "inconclusive": _inconclusive,
    "equal": _equal,
    "unbuilt": unbuilt.of_pull_request,
    "unmeasured": _unmeasured,
}


def _title(report: Report, found: list[Effect], *, bad: bool, capital: bool = True) -> Prose:
    first = found[0] if found else None
    spoken = words.metric(first.metric if first else report.primary_metric)
    verb = spoken.worse if bad else spoken.better
    verb = verb if capital else verb.lower()
    if first is None:
        return prose(verb, ", but no option could be named")
    guilty = [m for m in methods.blamed(report, first)[:1] if not m.cleared]
    named = prose(*(x for m in guilty for x in (f" ({methods.part(m)} in ", code(m.method), ")")))
    title = prose(f"{verb} ", words.hit(first), f": {percent(first.ratio)} ", spoken.noun, named)
    others = len({e.term for e in found} - {first.term})
    return prose(title, f", and {count(others, 'more suspect')}") if others else title


def _lead(report: Report, found: list[Effect], *, bad: bool) -> tuple[Prose, ...]:
    if not found:
        overall = (*nameless.hit(report, bad=bad), *claims.overall(report))
        return (claims.default(report), *overall, *_said(report, "single out an option"))
    guilty = methods.blamed(report, found[0])
    where = (methods.verdict(report, guilty),) if guilty else ()
    hits = [claims.hit(report, e) for e in found[:MOST_NAMED]]
    past = _said(report, *KNOWN_BEFORE)
    return (claims.default(report), hits[0], *where, *resources.blamed(report, found[0]), *hits[1:], *past)


def _said(report: Report, *phrases: str) -> list[Prose]:
    """The notes (the decision's own sentences) that hold one of these phrases."""
    return [sentence(n) for n in report.notes if any(p in n.lower() for p in phrases)]


def _what_to_do(report: Report, found: list[Effect]) -> tuple[Prose, Listing | None]:
    if not found:
        return prose("look at the changed configurations below."), None
    guilty = methods.blamed(report, found[0])[:1]
    around = prose("the code that runs ", words.hit(found[0]))
    if guilty:
        around = words.around(guilty[0])
    look = prose("look at what this pull request changed in ", around)
    lines = [line for e in found if (line := claims.acceptance(e))]
    lines = list(dict.fromkeys(lines))[:MOST_ACCEPTED]
    if not lines:
        return prose(look, "."), None
    how = "comment each line by itself" if len(lines) > 1 else "comment"
    return prose(look, f". If it is intended, {how} ({hints.COMMANDS}):"), Listing("\n".join(lines), "text")


def _with_assertions(report: Report, found: Headline, *, fork: bool) -> Headline:
    """With the violated assertions; they are the title where the program as a whole is not slower."""
    moved = violations(report)
    if not moved:
        return found
    one, group = moved[0]
    more = len({other.id for other, _ in moved}) - 1
    also = f", and {count(more, 'more assertion')}" if more else ""
    said = prose("Performance assertion violated: ", code(one.method), " ", what_moved(group), also)
    if found.tone not in ("good", "unclear", "neutral"):
        return replace(found, lead=(*found.lead, prose(said, ".")))
    intended = (
        "nothing is to be edited: the entry still describes it, and base is the measure after the merge."
    )
    if fork:
        intended = "take over the entry that its own run proposes."
    elif one.proposed:
        intended = "take over the entry below."
    look = prose(
        "look at what this pull request changed around ", code(one.method), " where it is reached over ",
        condition(one, group), ". If it is intended, ", intended,
    )  # fmt: skip
    return replace(found, tone="bad", icon="🟠", title=said, lead=(found.title, *found.lead), action=look)
