"""What a night would change in the file of assertions: a section of its report, and a pull request's text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bot.model.report import Report
from bot.model.report_assertions import ProposedAssertions, ProposedEntry
from bot.report.formats import brief, code, count, join, prose, shell
from bot.report.media import markdown
from bot.report.parts import Block, Bullets, Section

KINDS = ("new", "changed", "gone")
MOST_NAMED = 20
TITLE_NAME = 60
BODY_CHARACTERS = 60_000
"""GitHub refuses a body of more than 65,536."""
REVIEW = (
    "Each table has a row for each way in which the method is reached: `when` says over which calls (e1, e2,"
    " ... are named above the table); then come the shares of its calls in each cluster of duration, the"
    " fastest first, with the times of the machine that mined them. Only shares are kept: borders are found"
    " anew on each machine.",
    "Merge what should stay as it is. Entries may be edited or deleted, here or later: a branch with your"
    " commits is left alone. If none of this should be asserted, close the pull request: the same is not"
    " proposed again.",
)


def proposed_assertions(report: Report) -> Section | None:
    """The methods whose entries are new, changed or gone, and the difference."""
    proposed = report.proposed_assertions
    if not proposed.entries:
        return None
    items = []
    for kind in KINDS:
        if methods := [code(entry.method) for entry in proposed.entries if entry.change == kind]:
            left = len(methods) - MOST_NAMED
            more = [prose(f"{left:,} more")] if left > 0 else []
            items.append(prose(f"{kind}: ", join([*methods[:MOST_NAMED], *more])))
    blocks: tuple[Block, ...] = (
        prose("What ", code(proposed.path), " should say of the methods that were mined:"),
        Bullets(tuple(items)),
        replace(shell((proposed.difference.rstrip("\n"),)), language="diff"),
    )
    return Section("proposed", f"Performance assertions to review: {_counted(proposed)}", blocks)


def proposed_title(proposed: ProposedAssertions) -> str:
    """A pull request's title: the method, or how many entries."""
    first, *others = proposed.entries
    what = _counted(proposed)
    return f"Performance assertions: {what}" if others else f"Performance assertion of {_name(first)}: {what}"


def proposed_body(proposed: ProposedAssertions, tip: str) -> str:
    """A pull request's text in Markdown: what is asserted, how to review it, a table for each entry."""
    mined = prose(
        "Suspects mined ", code(tip), " at night: how long the calls of a method take, relatively, depending"
        " on how it is reached. What ", code(proposed.path), " says is checked on every pull request.",
    )  # fmt: skip
    parts = [markdown(mined), "**How to review.** " + "\n\n".join(REVIEW)]
    room = BODY_CHARACTERS - sum(map(len, parts))
    told = list(_told(proposed))
    for number, part in enumerate(told):
        room -= len(part)
        if room < 0:
            left = len(told) - number
            parts.append(f"{count(left, 'more entry', 'more entries')}: see the changed file.")
            break
        parts.append(part)
    return "\n\n".join(parts) + "\n"


def _told(proposed: ProposedAssertions) -> Iterator[str]:
    for kind in KINDS:
        for entry in proposed.entries:
            if entry.change == kind:
                table = replace(shell((entry.table.rstrip("\n"),)), language="text")
                yield f"{markdown(prose(f'{kind}: ', code(entry.method)))}\n\n{markdown(table)}"


def _counted(proposed: ProposedAssertions) -> str:
    kinds = [entry.change for entry in proposed.entries]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds)


def _name(entry: ProposedEntry) -> str:
    return brief(str(prose(entry.method)), TITLE_NAME)
