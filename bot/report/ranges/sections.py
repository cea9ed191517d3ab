"""The sections of a range's report: change points, measured values, a night's lists, the run, notes."""

from __future__ import annotations

from bot.model.noise import Noise
from bot.model.report import ChangePoint, Listed, Report
from bot.report import words
from bot.report.formats import (
    Listing,
    Prose,
    Words,
    code,
    count,
    fraction,
    probability,
    prose,
    seconds,
    sentence,
)
from bot.report.parts import Block, Bullets, Section, Table
from bot.report.ranges import moves
from bot.report.ranges.headline import doubtful, power
from bot.report.ranges.sparklines import UNKNOWN, drawing, length, positive
from bot.report.sections import history, listed_notes, machine, not_exercised
from bot.report.suspects import more

MOST_COMPARED, MOST_LISTED = 10, 20
_LISTS = {
    "learnt": "What was learnt",
    "unclear": "What is still unclear",
    "tomorrow": "What tomorrow would do",
}


def change_points(report: Report, rows: int) -> Section | None:
    """Revisions where performance moved, in their order; their numbers are those of the pictures."""
    found = report.change_points
    if not found:
        return None
    courses = moves.courses(report)
    fated = any(course.fate.spans for course in courses)
    cells = tuple(
        (
            str(c.number),
            *_cells(c.point),
            *((c.fate if c.fate.spans else prose("stayed"),) if fated else ()),
        )
        for c in courses[:rows]
    )
    header = ("", "Since", "Where", "Change", "How sure", *(("Then",) if fated else ()))
    table = Table(header, cells, "rlllll"[: len(header)])
    return Section(
        "change_points", "Change points", (table, *more(len(found), rows, "change point")), open=True
    )


def _cells(point: ChangePoint) -> tuple[Prose, ...]:
    # A longer alias of the same configurations only adds what the constraints make of its term.
    told = tuple(a for a in point.aliases if not words.only_adds(a, point.term))
    several, also = moves.span(point), words.aliases(told)
    return (
        prose(moves.revision(point), prose(" (or another of ", several, ")") if several.spans else ""),
        prose(words.suspect(point), " " if also.spans else "", also),
        moves.amount(point),
        prose(probability(point.probability)),
    )


def values(report: Report) -> Section | None:
    """The measured values of a few configurations over the range."""
    if length(report) < 2 or not any(positive(s) for s in report.series):
        return None
    ends = prose("")
    if report.base and report.head:
        ends = prose(" from ", code(report.base.label), " (left) to ", code(report.head.label), " (right)")
    drawn = drawing(report)
    dots = f", and {UNKNOWN} one of which nothing is known" * (UNKNOWN in drawn.text)
    said = prose(
        words.metric(report.primary_metric).noun,
        ends,
        f". Each line has its own scale; a gap is a revision that was not built or failed{dots}.",
        " The numbers below are those of the change points." if report.change_points else "",
    )
    return Section("series", "Measured values", (drawn, said), open=True)


def comparisons(report: Report) -> Section | None:
    """The command for each change point that measures it alone, in pairs."""
    numbers: dict[str, list[str]] = {}
    for number, point in enumerate(report.change_points, 1):
        if line := moves.comparison(point, report):
            numbers.setdefault(line, []).append(str(number))
    lines = [f"{line}  # {', '.join(found)}" for line, found in numbers.items()]
    if len(lines) < 2:  # the headline has it
        return None
    blocks: tuple[Block, ...] = (
        prose("Each compares the revisions around a change point, measured in pairs:"),
        Listing("\n".join(lines[:MOST_COMPARED]), "sh"),
        *more(len(lines), MOST_COMPARED, "change point"),
    )
    return Section("compare", "How to check each change point", blocks)


def lists(report: Report) -> tuple[Section, ...]:
    """What a night learnt, what is unclear, what the next would do."""
    return tuple(_listed(found) for found in report.lists if found.items)


def _listed(found: Listed) -> Section:
    items: list[Words] = [sentence(item) for item in found.items[:MOST_LISTED]]
    items += more(len(found.items), MOST_LISTED, "line")
    return Section(found.kind, _LISTS[found.kind], (Bullets(tuple(items)),), open=True)


def visible(report: Report, rows: int) -> Section | None:
    """The smallest lasting change that would have been found per option, the blindest first."""
    seen = report.visible
    if not report.measured or not (seen.options or seen.levels_not_exercised):
        return None
    options = sorted(seen.options, key=lambda o: (o.slow_down is not None, -(o.slow_down or 0.0)))
    cells = tuple(
        (code(o.option), "too few trials" if o.slow_down is None else fraction(o.slow_down))
        for o in options[:rows]
    )
    lasting = prose(
        "Lasting: it does not begin in the first or last tenth of the range (of an option: of where it "
        "works), and does not pass."
    )
    blocks: list[Block] = [prose(power(report), " ", lasting)]
    if seen.everything is not None:
        blocks.append(prose(f"In every configuration at once: {fraction(seen.everything)}."))
    blocks += [Table(("Option", "Smallest change found"), cells, "lr"), *more(len(options), rows, "option")]
    blocks += not_exercised("Levels", [(level,) for level in seen.levels_not_exercised])
    return Section("visible", "What this run could have found", tuple(blocks))


def conditions(report: Report) -> Section:
    """The run itself: revisions, cost, machine, history."""
    rows: list[tuple[Words, Words]] = []
    for end, ref in (("From", report.base), ("To", report.head)):
        if ref is not None:
            full = prose("") if ref.label == ref.revision else prose(" ", code(ref.revision))
            rows.append((end, prose(code(ref.label), full)))
    if report.revisions:
        rows.append(("Revisions", f"{report.revisions:,}"))
    spent = report.spent
    budget = f" of {seconds(spent.budget_seconds)}" if spent.budget_seconds else ""
    failed = f", {spent.failed_trials:,} failed" if spent.failed_trials else ""
    if spent.trials:
        measured = f"{seconds(spent.seconds)}{budget}: {count(spent.trials, 'trial')}{failed}"
        rows.append(("Measuring", measured))
    if spent.earlier:
        rows.append(("Measured before", f"{count(spent.earlier, 'value')}, by an earlier run of this search"))
    if spent.builds or spent.build_seconds:
        rows.append(("Building", f"{seconds(spent.build_seconds)}: {count(spent.builds, 'build')}"))
    rows += [("Noise of a trial", _noise(n)) for n in report.environment.noise if n.sd_percent is not None]
    rows += machine(report)
    if report.history.source is not None or report.mode == "nightly":
        rows.append(("History", history(report)))
    return Section("run", "This run: range, cost, machine", (Table(("", ""), tuple(rows), "ll"),))


def _noise(noise: Noise) -> Prose:
    spread = f" of equal trials spreads by {noise.sd_percent:.2f} %, {count(noise.pairs, 'repetition')}"
    return prose(words.metric(noise.metric).noun, spread)


def remarks(report: Report) -> Section | None:
    """The notes that are not told above the fold."""
    return listed_notes([note for note in report.notes if not doubtful(note)])
