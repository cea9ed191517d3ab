"""A report of trials that never opened their input is not green: the program may have done nothing."""

from __future__ import annotations

from bot.model.report import Report
from bot.model.trials import unread


def doubted(report: Report) -> Report:
    """The same, but unclear instead of green where a note tells of an input that nobody read.

    What ends sooner and reads nothing is no improvement.
    """
    idle = report.verdict in ("none", "improvement") and bool(unread(report.notes))
    return report.model_copy(update={"verdict": "inconclusive"}) if idle else report
