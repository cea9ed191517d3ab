"""What a reader is told: everything computed here, so that templates only place it."""

from __future__ import annotations

from bot.model.report import Report
from bot.report.assertion_graph import assertion_graphs
from bot.report.assertion_proposals import proposed_assertions
from bot.report.assertions import assertions
from bot.report.flames import flames
from bot.report.formats import Prose, code, count, fraction, join, prose, seconds
from bot.report.headline import headline
from bot.report.methods import methods
from bot.report.parts import Section, View
from bot.report.ranges import sections as ranged
from bot.report.ranges.headline import range_headline
from bot.report.resources import resources
from bot.report.sections import ROWS, changed, conditions, notes, reproductions, visible
from bot.report.suspects import influences, logs, suspects


def view(report: Report, *, fork: bool = False, rows: int = ROWS, drawn: bool = False) -> View:
    """The whole report in words; tables of more than `rows` rows say how many were left out.

    `fork`: the figures come from a run of somebody else's, which the reader must know. `drawn`: with the
    sections that are pictures.
    """
    if report.mode != "pull_request":
        return _range_view(report, rows)
    found = (
        logs(report),
        suspects(report, rows),
        methods(report, rows),
        flames(report) if drawn else None,
        resources(report, rows),
        assertions(report, rows),
        *(assertion_graphs(report) if drawn else ()),
        ranged.change_points(report, rows),
        influences(report, rows),
        changed(report, rows),
        reproductions(report),
        visible(report, rows),
        conditions(report),
        notes(report),
    )
    return View(headline(report, fork=fork), _present(found), _footer(report))


def _range_view(report: Report, rows: int) -> View:
    """The view of a bisection or a night: nothing of it speaks of pairs of base and head."""
    found = (
        logs(report),
        ranged.change_points(report, rows),
        *ranged.lists(report),
        ranged.values(report),
        methods(report, rows),
        assertions(report, rows),
        proposed_assertions(report),
        ranged.comparisons(report),
        influences(report, rows),
        ranged.visible(report, rows) if report.mode == "bisect" else visible(report, rows),
        ranged.conditions(report),
        ranged.remarks(report),
    )
    return View(range_headline(report), _present(found), _range_footer(report))


def _present(found: tuple[Section | None, ...]) -> tuple[Section, ...]:
    return tuple(s for s in found if s is not None)


def _footer(report: Report) -> Prose:
    parts = [prose("Suspects", f" for {report.subject}" if report.subject else "")]
    if report.base and report.head:
        parts.append(prose("base ", code(report.base.label), " to head ", code(report.head.label)))
    spent = report.spent
    if spent.pairs:
        parts.append(prose(f"{count(spent.pairs, 'pair')} of runs in {seconds(spent.seconds)}"))
    if spent.build_seconds:
        parts.append(prose(f"builds {seconds(spent.build_seconds)}"))
    parts.append(prose(f"false alarms held to {fraction(report.false_alarms)} of pull requests"))
    return join(parts, " · ")


def _range_footer(report: Report) -> Prose:
    parts = [prose("Suspects", f" for {report.subject}" if report.subject else "")]
    if report.base and report.head:
        parts.append(prose(code(report.base.label), " to ", code(report.head.label)))
    if report.revisions:
        parts.append(prose(count(report.revisions, "revision")))
    if report.spent.trials:
        parts.append(prose(f"{count(report.spent.trials, 'trial')} in {seconds(report.spent.seconds)}"))
    if report.spent.build_seconds:
        parts.append(prose(f"builds {seconds(report.spent.build_seconds)}"))
    return join(parts, " · ")
