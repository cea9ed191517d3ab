"""Pictures of performance assertions: call paths to a method, coloured by how its calls behave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from bot.model.report import Report
from bot.model.report_assertions import AssertionOutcome
from bot.report.assertion_behaviours import Behaviour, behaviours
from bot.report.assertion_call_graph import call_graph
from bot.report.assertion_drawing import drawn
from bot.report.assertion_legend import legend
from bot.report.assertion_plan import Point
from bot.report.assertion_shapes import named, picture, tag
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
            "Call paths of violated assertions",
            violated[:MOST_VIOLATED],
            violated,
        ),
        _section("assertion_models", "Call paths of the other assertions", others[:MOST_OTHERS], others),
    )
    return tuple(section for section in found if section)


def _section(
    key: str, title: str, shown: Sequence[AssertionOutcome], every: Sequence[AssertionOutcome]
) -> Section | None:
    blocks: list[Block] = []
    for outcome in shown:
        blocks.append(prose(code(outcome.method), f", {outcome.outcome}:"))
        pictures = tuple(graph_svg(outcome, room=room) for room in (WIDE, NARROW))
        blocks += [Figure(pictures, "" if len(blocks) > 1 else "call-paths"), *_left_out(outcome)]
    if len(every) > len(shown):
        blocks.append(prose(f"and {count(len(every) - len(shown), 'more assertion')}, in the report"))
    return Section(key, title, tuple(blocks), open=key == "assertion_graphs") if blocks else None


def _left_out(outcome: AssertionOutcome) -> Iterator[Block]:
    found = call_graph(outcome)
    if found is None:
        yield prose("Over which call paths it was reached is not known.")
    elif found.paths[0] < found.paths[1]:
        yield prose("Drawn are {} of {} call paths, those that moved and the busiest.".format(*found.paths))


def graph_svg(outcome: AssertionOutcome, *, room: float = WIDE) -> Markup:
    """The call paths to a method above a legend, as an SVG element about `room` pixels wide.

    After figure 1 of Brünink and Rosenblum (FSE 2016), "Mining Performance Specifications".
    """
    looks = behaviours(outcome)
    found = call_graph(outcome)
    calls = sum(max(calls, 0) for path in outcome.paths for calls in path.calls)
    graph, size = drawn(found, looks, room=room, calls=calls) if found else ([], Point(0.0, 0.0))
    explained, high = legend(outcome, looks, room)
    width = max(size.x + 4, room)
    parts = [
        tag("g", *graph, transform=f"translate({(width - size.x) / 2:.0f} 0)"),
        tag("g", *explained, transform=f"translate(0 {size.y + 10:.0f})"),
    ]
    title = f"Call paths to {named(clean(outcome.method), 80)}"
    return picture(parts, (width, size.y + 14 + high), title=title, told=_told(looks))


def _told(looks: Sequence[Behaviour]) -> str:
    return " ".join(f"Group {look.number}, when {look.condition}: {look.status}." for look in looks)
