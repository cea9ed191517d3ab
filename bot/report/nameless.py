"""Whom a change hits that no option could be named for: its configurations, and what they have in common."""

from __future__ import annotations

import math

from bot.model.report import ConfigurationChange, Report
from bot.report import words
from bot.report.formats import Prose, count, prose


def hit(report: Report, *, bad: bool) -> tuple[Prose, ...]:
    """How many configurations moved, how much at most, and with which values all of these are."""
    measured = [c for c in report.configurations if c.metric == report.primary_metric and c.pairs]
    moved = [c for c in measured if c.state in ("slower", "faster") and words.worse(report, c) == bad]
    if not moved:
        return ()
    most = max(moved, key=lambda c: abs(math.log(c.ratio or 1.0)))
    verb = "is" if len(moved) == 1 else "are"
    said = prose(
        f"{len(moved)} of {count(len(measured), 'configuration')} {verb} ", "worse" if bad else "better"
    )
    by = ": by " if len(moved) == 1 else ": by up to "
    return (prose(said, by, words.amount(most, emphasised=True), _in_common(report, moved), "."),)


def _in_common(report: Report, moved: list[ConfigurationChange]) -> Prose:
    default = words.default_options(report) or {}
    first, *others = [c.options for c in moved]
    shared = {name: v for name, v in first.items() if all(o.get(name) == v for o in others)}
    if all(default.get(name) == value for name, value in shared.items()):
        return prose("")
    whose = ("It has ", "Both have ", "All of them have ")[min(len(moved), 3) - 1]
    return prose(". ", whose, words.configuration(shared, default))
