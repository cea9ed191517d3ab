"""Performance assertions in a report: what moved, and the entry to take over if that is intended."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.model.report import Report
from bot.model.report_assertions import AssertionGroup, AssertionOutcome
from bot.report.formats import (
    Prose,
    Words,
    brief,
    change,
    code,
    count,
    fraction,
    join,
    prose,
    sentence,
    shell,
)
from bot.report.parts import Block, Bullets, Section, Table

MOST_UNDECIDED, MOST_PATHS, NEAREST = 8, 3, 3
NAME = 40
"""Characters of a method's name within a path."""
FILE = ".github/suspects.assertions.yml"


def violations(report: Report) -> list[tuple[AssertionOutcome, AssertionGroup]]:
    """Groups that moved to the reader's disadvantage, the largest move first."""
    found = [
        (one, group)
        for one in report.assertions
        if one.outcome == "violated" and one.slower
        for group in one.groups
        if group.outcome == "violated"
    ]
    return sorted(found, key=lambda pair: -(pair[1].ratio or 1.0))


def assertions(report: Report, rows: int) -> Section | None:
    """The violated ones with what moved, the undecided ones with why, the others counted."""
    every = report.assertions
    if not every:
        return None
    violated = [one for one in every if one.outcome == "violated"]
    undecided = [one for one in every if one.outcome == "undecided"]
    held = len(every) - len(violated) - len(undecided)
    title = f"Performance assertions: {len(violated)} violated, {held} held, {len(undecided)} undecided"
    blocks: list[Block] = [_moved(violated, rows) if violated else prose("None was violated.")]
    notes = [prose(code(one.method), ": ", sentence(_why(one))) for one in undecided[:MOST_UNDECIDED]]
    if notes:
        left = len(undecided) - len(notes)
        more = [prose(f"and {count(left, 'more undecided assertion')}, in the report")] if left else []
        blocks += [prose("Undecided:"), Bullets((*notes, *more))]
    blocks += _offered(violated[:rows])
    return Section("assertions", title, tuple(blocks), open=bool(violated))


def what_moved(group: AssertionGroup) -> str:
    """In the run's own words; where these are not shown, in numbers."""
    base, head = (" / ".join(map(fraction, shares)) or "none" for shares in (group.base, group.observed))
    return group.said or f"{base} -> {head} of its calls, from fast to slow"


def _moved(violated: list[AssertionOutcome], rows: int) -> Table:
    cells = [
        (
            code(one.method),
            _reached(one, group),
            prose(what_moved(group)),
            _ratio(group),
            prose("{} / {}".format(*group.calls)),
        )
        for one in violated
        for group in one.groups
        if group.outcome == "violated"
    ]
    header = ("Method", "Reached over", "What moved", "A call takes", "Calls (base / head)")
    return Table(header, tuple(cells[:rows]), "lllrr")


def condition(one: AssertionOutcome, group: AssertionGroup) -> Prose:
    """Over which calls, with names as short as they are clear."""
    if not one.edges or not group.when:
        return code(group.expression)
    parts: list[Words] = []
    for piece in re.split(r"(\w+)", group.when):
        edge = one.edges.get(piece)
        parts.append(
            piece if edge is None else code(" > ".join(brief(name, NAME) for name in edge), limit=100)
        )
    return prose(*parts)


def _reached(one: AssertionOutcome, group: AssertionGroup) -> Prose:
    """The condition; or the paths that moved by themselves."""
    if not group.paths:
        return condition(one, group)
    return join([code(_nearest(path), limit=100) for path in group.paths[:MOST_PATHS]], ", ", " and ")


def _nearest(path: tuple[str, ...]) -> str:
    """The callers nearest to the method: the outer ones are much the same for all paths."""
    names = [brief(name, NAME) for name in path[-NEAREST:]]
    return " > ".join((*(["…"] if len(path) > NEAREST else []), *names))


def _ratio(group: AssertionGroup) -> Prose:
    return prose("") if group.ratio is None else prose(change(group.ratio, group.interval))


def _why(one: AssertionOutcome) -> str:
    return one.why[0] if one.why else "no reason is known"


def _offered(violated: list[AssertionOutcome]) -> list[Block]:
    entries = [one.proposed for one in violated if one.proposed]
    if not entries:
        return []
    what = "this entry" if len(entries) == 1 else "these entries"
    return [
        prose(f"If it is intended, take over {what} in ", code(FILE), ":"),
        replace(shell(tuple(entry.rstrip("\n") for entry in entries)), language="yaml"),
    ]
