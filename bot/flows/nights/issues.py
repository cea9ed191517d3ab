"""One issue for each confirmed slow-down on the default branch, found again by a hidden marker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import quote

from bot.model.errors import ForgeError
from bot.model.forge import Issue
from bot.model.report import ChangePoint, Report
from bot.model.revisions import Revision
from bot.report.ranges.headline import range_headline
from bot.report.render import comment

MARKER = "<!-- suspects change-point"
_FACTS = re.compile(rf"{MARKER} term=(?P<term>\S*) first=(?P<first>\S+) last=(?P<last>\S+) -->")
CERTAIN = 0.95
"""Probability from which a change is worth an issue."""
LONGEST_TITLE = 200


class Issues(Protocol):
    """Where issues are."""

    def ours(self, marker: str) -> Sequence[Issue]:
        """Our issues whose text begins with a marker, open or closed."""
        ...

    def open_issue(self, title: str, body: str) -> Issue:
        """Opens an issue."""
        ...


def announce(issues: Issues, report: Report, revisions: Sequence[Revision]) -> list[str]:
    """Opens an issue for each slow-down of a night's report that has none; what was done, as notes.

    A closed issue counts: whoever closed it has decided. What cannot be posted is a note, because the
    measurement stands without it.
    """
    worse = [point for point in report.change_points if _is_worth_one(point, report)]
    if not worse:
        return []
    places = {revision.id: i for i, revision in enumerate(revisions)}
    notes = []
    try:
        standing = [issue.body for issue in issues.ours(MARKER)]
        for point in worse:
            if not any(_speaks_of(body, point, places) for body in standing):
                opened = issues.open_issue(*_text(report, point))
                notes.append(f"Opened {opened.url}.")
    except ForgeError as error:
        notes.append(f"No issue was opened: {error}.")
    return notes


def marker(point: ChangePoint) -> str:
    """The hidden line by which a change's issue is found again; a term cannot end it early."""
    first, last = point.interval
    return f"{MARKER} term={quote('+'.join(point.term), safe='')} first={first} last={last} -->"


def _is_worth_one(point: ChangePoint, report: Report) -> bool:
    slower = (point.ratio > 1) != (point.metric in report.higher_is_better)
    certain = point.shape == "step" and point.probability >= CERTAIN
    return slower and certain and point.accepted is None


def _speaks_of(body: str, point: ChangePoint, places: dict[str, int]) -> bool:
    """Whether an issue is about this change: the same term, and an interval that overlaps."""
    facts = _FACTS.match(body)
    if facts is None or facts["term"] != quote("+".join(point.term), safe=""):
        return False
    first, last = (places.get(facts[end]) for end in ("first", "last"))
    ours = [places[end] for end in point.interval]
    if first is None or last is None:  # of revisions before tonight's window
        return (facts["first"], facts["last"]) == point.interval
    return first <= ours[1] and ours[0] <= last


def _text(report: Report, point: ChangePoint) -> tuple[str, str]:
    """Title and body: what the night tells, of this change alone."""
    alone = report.model_copy(
        update={"change_points": (point,), "lists": (), "series": (), "verdict": "regression"}
    )
    title = str(range_headline(alone).title)
    return title[:LONGEST_TITLE], comment(alone, marker=marker(point))
