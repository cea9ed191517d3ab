"""Headlines of what could not be built, and so not measured."""

from __future__ import annotations

from bot.model.report import BuildFailure, Report
from bot.model.revisions import CHECKOUT, WORKLOADS
from bot.report.formats import Prose, code, join, prose, sentence
from bot.report.parts import Headline

AGAIN = prose("make room for its files, and run again: nobody's command has run.")
NO_WORKLOAD = "there is no workload"
COMMIT_IT = prose("commit it where ", code("workloads"), " says, or mend that; ")
TAKE_IT = prose(COMMIT_IT, code("suspects pr --overlay-from REV"), " takes it from a revision that has it.")
END_THERE = prose(COMMIT_IT, "or let the range end at a revision that has it.")


def of_pull_request(report: Report) -> Headline:
    """One side or both."""
    failures = report.build_failures
    sides = sorted({f.side for f in failures})
    steps = join([code(s) for s in dict.fromkeys(f.step for f in failures)], ", ", " and ")
    title = {
        ("base",): "base did not build",
        ("head",): "head did not build",
        ("base", "head"): "neither base nor head built",
    }[tuple(sides)]
    action = {
        ("base",): prose("base is the code before this pull request: repair ", steps, " there."),
        ("head",): prose("repair what this pull request broke in ", steps, "; the log is below."),
        ("base", "head"): prose(
            "check ", steps, " in ", code(".github/suspects.yml"), "; the logs are below."
        ),
    }[tuple(sides)]
    lead = tuple(prose(f.side.capitalize(), _label(report, f.side), ": ", _said(f)) for f in failures)
    if any(f.step == CHECKOUT for f in failures):
        action = AGAIN
    elif all(f.step == WORKLOADS for f in failures):
        title, action = NO_WORKLOAD, TAKE_IT
    return Headline("broken", "⛔", prose("Nothing was measured: ", title), lead, action)


def of_range(failure: BuildFailure) -> Headline:
    """No revision of a range."""
    check = prose("check ", code(failure.step), " in ", code(".github/suspects.yml"), "; the log is below.")
    title = NO_WORKLOAD if failure.step == WORKLOADS else "no revision could be built"
    return Headline(
        "broken",
        "⛔",
        prose("Nothing was measured: ", title),
        (_said(failure),),
        {CHECKOUT: AGAIN, WORKLOADS: END_THERE}.get(failure.step, check),
    )


def _said(failure: BuildFailure) -> Prose:
    why = sentence(failure.reason)
    return why if failure.step == WORKLOADS else prose(code(failure.step), " failed: ", why)


def _label(report: Report, side: str) -> Prose:
    ref = report.base if side == "base" else report.head
    return prose(" (", code(ref.label), ")") if ref else prose("")
