"""What a reader is told: everything computed here, so that templates only place it."""

from __future__ import annotations

from bot.model.report import Report
from bot.report.formats import Prose, code, count, fraction, prose, seconds
from bot.report.headline import headline
from bot.report.parts import Section, View
from bot.report.sections import ROWS, changed, conditions, notes, reproductions, visible
from bot.report.suspects import assertions, change_points, influences, logs, methods, resources, suspects


def view(report: Report, *, fork: bool = False, rows: int = ROWS) -> View:
    """The whole report in words; tables of more than `rows` rows say how many were left out.

    `fork`: the figures come from a run of somebody else's, which the reader must know.
    """
    found = (
        logs(report),
        suspects(report, rows),
        methods(report, rows),
        resources(report, rows),
        assertions(report, rows),
        change_points(report, rows),
        influences(report, rows),
        changed(report, rows),
        reproductions(report),
        visible(report, rows),
        conditions(report),
        notes(report),
    )
    sections: tuple[Section, ...] = tuple(s for s in found if s is not None)
    return View(headline(report, fork=fork), sections, _footer(report))


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
    separated = [parts[0]]
    for part in parts[1:]:
        separated += [prose(" · "), part]
    return prose(*separated)
