"""Headlines of what could not be built, and so not measured."""

from __future__ import annotations

from bot.model.report import BuildFailure, Report
from bot.model.revisions import CHECKOUT
from bot.report.formats import Prose, code, join, prose, sentence
from bot.report.parts import Headline

AGAIN = prose("make room for its files, and run again: nobody's command has run.")


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
    lead = tuple(
        prose(
            f.side.capitalize(), _label(report, f.side), ": ", code(f.step), " failed: ", sentence(f.reason)
        )
        for f in failures
    )
    ours = any(f.step == CHECKOUT for f in failures)
    return Headline("broken", "⛔", prose("Nothing was measured: ", title), lead, AGAIN if ours else action)


def of_range(failure: BuildFailure) -> Headline:
    """No revision of a range."""
    check = prose("check ", code(failure.step), " in ", code(".github/suspects.yml"), "; the log is below.")
    return Headline(
        "broken",
        "⛔",
        prose("Nothing was measured: no revision could be built"),
        (prose(code(failure.step), " failed: ", sentence(failure.reason)),),
        AGAIN if failure.step == CHECKOUT else check,
    )


def _label(report: Report, side: str) -> Prose:
    ref = report.base if side == "base" else report.head
    return prose(" (", code(ref.label), ")") if ref else prose("")
