"""A report as a check run: its conclusion, and what is said on the lines of suspect methods."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from bot.model.forge import Check, Conclusion, Placed, Stamp
from bot.model.report import Report
from bot.report.annotated import line_annotations
from bot.report.headline import headline

NAME, FORK_NAME = "Suspects", "Suspects (fork)"
"""A fork's has another name: a required check `Suspects` never becomes green by what a fork claims."""
FAILING = ("regression", "violation")
LONGEST_TITLE = 250
"""Characters of a check run's title: longer ones are cut out of sight. Arbitrary."""


class Checks(Protocol):
    """What a flow asks of the place where commits are checked."""

    def check(self, check: Check, stamp: Stamp) -> Placed:
        """Makes `check` the one check run of its name, head and run, unless a newer run's stands there."""
        ...


def check_run(report: Report, *, markdown: str, fork: bool = False, fail_on: Collection[str] = ()) -> Check:
    """The check run of a pull request's report; markdown: its comment.

    fail_on: the conditions that fail it; none given: all that there are.
    """
    title = str(headline(report, fork=fork).title)
    return Check(
        name=FORK_NAME if fork else NAME,
        conclusion=conclusion(report, fork=fork, fail_on=fail_on),
        title=title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…",
        summary=markdown,
        annotations=line_annotations(report),
    )


def conclusion(report: Report, *, fork: bool = False, fail_on: Collection[str] = ()) -> Conclusion:
    """What a check says: a fork's is never a success, and what measured nothing never looks green."""
    if unmeasured(report):
        return "action_required"
    if fork:
        return "neutral"
    found = conditions(report)
    if found.intersection(fail_on or FAILING):
        return "failure"
    unclear = report.verdict == "inconclusive" or bool(report.broken_at_head)
    unclear |= headline(report).tone == "unclear"  # a verdict speaks of what was exercised alone
    return "neutral" if found or unclear else "success"


def conditions(report: Report) -> frozenset[str]:
    """Which conditions of `fail-on` a report meets."""
    regressed = report.verdict in ("regression", "mixed")
    violated = any(one.outcome == "violated" for one in report.assertions)
    return frozenset(name for name, met in zip(FAILING, (regressed, violated), strict=True) if met)


def unmeasured(report: Report) -> bool:
    """Whether nothing could be measured although there was something to measure."""
    return not report.measured and report.verdict != "none"
