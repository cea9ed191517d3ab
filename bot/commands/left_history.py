"""The whole history, left where a night's workflow uploads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.model.errors import HistoryError

if TYPE_CHECKING:
    from bot.compose.nightly import AskedNight
    from bot.model.report import Report

HISTORY = "suspects-history"
"""Folder of the history below the workspace, and the artifact's name."""


def with_history_left(asked: AskedNight, report: Report) -> Report:
    """The report, once the whole history lies where the workflow uploads it; a note, when it cannot."""
    from bot.adapters.workspace import left_in
    from bot.compose.nightly import leave_history

    try:
        with left_in(asked.repository, HISTORY) as folder:
            leave_history(asked, folder)
    except (HistoryError, OSError) as error:
        note = f"The history was not left for the workflow: {error}."
        return report.model_copy(update={"notes": (*report.notes, note)})
    return report
