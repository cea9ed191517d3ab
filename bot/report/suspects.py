"""Sections that blame: suspects, influences, build logs."""

from __future__ import annotations

from bot.model.report import Effect, Report
from bot.model.revisions import WORKLOADS
from bot.report import words
from bot.report.claims import acceptance_of, accepted, aliases, on_top, proves
from bot.report.formats import (
    Prose,
    code,
    count,
    fraction,
    log_tail,
    probability,
    probability_number,
    prose,
    strong,
)
from bot.report.headline import ordered, state
from bot.report.influence_text import amount
from bot.report.parts import Block, Section, Table

MOST_SUSPECTS = 8
_TOO_FEW = prose("too few pairs: not proven")
UNLIKELY = 0.05
"""An unproven suspect below this probability is not worth a line."""


def suspects(report: Report, rows: int) -> Section | None:
    """Who is blamed, open: in the order of the headline."""
    if state(report) not in ("regression", "improvement", "mixed", "inconclusive") and not accepted(report):
        return None
    found = [e for e in report.suspects.options if e.significant or e.probability >= UNLIKELY]
    found = ordered(report, found)
    if not found:
        return None
    prior = any(e.prior is not None for e in found)
    header = ("Suspect", "Change", "How sure", *(("Before this run",) if prior else ()))
    most = min(rows, MOST_SUSPECTS)
    lines = tuple(_suspect(report, e, prior=prior) for e in found[:most])
    table = Table(header, lines, "lnll"[: len(header)])
    good = not any(e.significant and words.worse(report, e) for e in found)
    title = "Who is faster" if good else "Suspects"
    return Section(
        "suspects",
        title if any(e.significant for e in found) else "Suspects, none proven",
        (table, *more(len(found), most, "suspect")),
        open=True,
    )


def _suspect(report: Report, effect: Effect, *, prior: bool) -> tuple[Prose, ...]:
    who = words.suspect(effect)
    name = strong(who) if effect.significant else who
    also = words.aliases(aliases(report, effect))
    cell = prose(name, " ", also) if also.spans else name
    amount = prose(words.amount(effect), on_top(report, effect))
    unless = f", accepted{acceptance_of(effect)}" if effect.accepted else ""
    unproven = prose(probability(effect.probability), ", not proven") if proves(effect) else _TOO_FEW
    sure = prose(probability(effect.probability), unless) if effect.significant else unproven
    before = (prose(probability_number(effect.prior) if effect.prior is not None else ""),) if prior else ()
    return (cell, amount, sure, *before)


def more(total: int, shown: int, noun: str) -> tuple[Prose, ...]:
    """A line that counts what a table leaves out; empty when it leaves out nothing."""
    return (prose(f"and {count(total - shown, f'more {noun}')}, in the report"),) if total > shown else ()


def influences(report: Report, rows: int) -> Section | None:
    """What options add to the program and its methods, the largest shares first, calls last."""
    driven = [i for i in report.influences if i.term]  # not what everybody pays
    found = sorted(driven, key=lambda i: (i.quantity == "calls", -abs(i.share)))
    if not found:
        return None
    cells = tuple(
        (
            code(i.method) if i.method else prose("whole program"),
            words.term(i.term),
            prose(amount(i)),
            prose(fraction(i.share) + " of calls" * (i.quantity == "calls")),
            prose(fraction(i.error)),
        )
        for i in found[:rows]
    )
    table = Table(("Where", "Term", "Adds", "Share", "Model error"), cells, "llrrr")
    return Section("influences", "Influences", (table, *more(len(found), rows, "influence"), _EXPLAINED))


_EXPLAINED = prose(
    "Share: of what the term adds to the whole program; in a row of the whole program, of its mean cost. "
    "Model error: how far off predictions are for configurations that were held out."
)


def logs(report: Report) -> Section | None:
    """The last lines of each failed build's log."""
    blocks: list[Block] = []
    for failure in (f for f in report.build_failures if f.step != WORKLOADS):  # no command has run
        listing = log_tail(failure.log)
        side = f"{failure.side.capitalize()}, last" if report.mode == "pull_request" else "Last"
        blocks.append(prose(f"{side} lines of ", code(failure.step), ":"))
        blocks.append(listing if listing.text else prose("(the log is empty)"))
    return Section("logs", "Build logs", tuple(blocks), open=True) if blocks else None
