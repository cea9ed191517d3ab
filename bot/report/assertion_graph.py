"""Pictures of performance assertions: the ways to a method in the colours of how its calls behave there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from bot.model.report import Report
from bot.model.report_assertions import AssertionOutcome
from bot.report.assertion_behaviours import Behaviour, behaviours
from bot.report.assertion_drawing import drawn
from bot.report.assertion_legend import legend
from bot.report.assertion_shapes import named, picture, tag
from bot.report.assertion_ways import ways
from bot.report.formats import clean, code, count, prose
from bot.report.parts import Block, Figure, Section

WIDE, NARROW = 840.0, 340.0
"""Pixels of a picture on screens wider and narrower than 48 rem."""
MOST_VIOLATED, MOST_OTHERS = 8, 24


def assertion_graphs(report: Report) -> tuple[Section, ...]:
    """Pictures of violated assertions, and, folded away, of the others."""
    violated = [one for one in report.assertions if one.outcome == "violated"]
    others = [one for one in report.assertions if one.outcome != "violated"]
    found = (
        _section(
            "assertion_graphs",
            "Ways to the methods of violated assertions",
            violated[:MOST_VIOLATED],
            violated,
        ),
        _section("assertion_models", "Ways to the methods of other assertions", others[:MOST_OTHERS], others),
    )
    return tuple(section for section in found if section)


def _section(
    key: str, title: str, shown: Sequence[AssertionOutcome], every: Sequence[AssertionOutcome]
) -> Section | None:
    blocks: list[Block] = []
    for outcome in shown:
        blocks.append(prose(code(outcome.method), f", {outcome.outcome}:"))
        pictures = tuple(graph_svg(outcome, room=room) for room in (WIDE, NARROW))
        blocks += [Figure(pictures, "" if len(blocks) > 1 else "ways"), *_left_out(outcome)]
    if len(every) > len(shown):
        blocks.append(prose(f"and {count(len(every) - len(shown), 'more assertion')}, in the report"))
    return Section(key, title, tuple(blocks), open=key == "assertion_graphs") if blocks else None


def _left_out(outcome: AssertionOutcome) -> Iterator[Block]:
    found = ways(outcome)
    if found is None:
        yield prose("Over which ways it was reached is not known.")
    elif found.paths[0] < found.paths[1]:
        yield prose("Drawn are {} of {} ways, those that moved and the busiest.".format(*found.paths))


def graph_svg(outcome: AssertionOutcome, *, room: float = WIDE) -> Markup:
    """The ways to a method above a legend, as an SVG element about `room` pixels wide.

    After figure 1 of Brünink and Rosenblum (FSE 2016), "Mining Performance Specifications".
    """
    looks = behaviours(outcome)
    found = ways(outcome)
    calls = sum(sum(path.calls) for path in outcome.paths)
    graph, size = drawn(found, looks, room=room, calls=calls) if found else ([], (0.0, 0.0))
    explained, high = legend(outcome, looks, room)
    width = max(size[0], room)
    parts = [
        tag("g", *graph, transform=f"translate({(width - size[0]) / 2:.0f} 0)"),
        tag("g", *explained, transform=f"translate(0 {size[1] + 10:.0f})"),
    ]
    title = f"Ways to {named(clean(outcome.method), 80)}"
    return picture(parts, (width, size[1] + 14 + high), title=title, told=_told(looks))


def _told(looks: Sequence[Behaviour]) -> str:
    return " ".join(f"Group {look.number}, when {look.condition}: {look.status}." for look in looks)
