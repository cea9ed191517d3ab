"""Draws the call paths to an asserted method: boxes of methods, lines of calls in their groups' colours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from bot.report.assertion_behaviours import OUTSIDE, Behaviour
from bot.report.assertion_call_graph import Call, CallGraph, Group
from bot.report.assertion_layout import Link
from bot.report.assertion_legend import badge
from bot.report.assertion_plan import (
    BESIDE,
    CHIP,
    FONT,
    HEAD,
    SMALL,
    Box,
    Label,
    Point,
    groups_of,
    plan,
    thickness,
)
from bot.report.assertion_shapes import length, tag, words
from bot.report.formats import count, shorten

HALO = 9.0
"""By which it is wider than its line."""
UNGROUPED = "1 3"
"""The dash of calls of no group."""
MOST_NAMES, MOST_TOLD = 12, 160
"""Names of a box that are shown to people who point at it, and letters of each."""


class _Stroke(NamedTuple):
    """One group's line beside the others of a call. at: its middle, from that of all of them."""

    colour: str
    dash: str
    halo: str
    at: float


def drawn(
    found: CallGraph, looks: Sequence[Behaviour], *, room: float, calls: int
) -> tuple[list[Markup], Point]:
    """Shapes, lines below boxes below labels, and width and height. calls: over all paths, for shares."""
    made = plan(found, room=room, calls=calls)
    lines = [
        _line(call, looks, made.lines[link], told=_calls(found, link, looks))
        for link, call in found.links.items()
    ]
    boxes = [
        _box(box, names, asserted=not k)
        for k, (box, names) in enumerate(zip(made.boxes, found.boxes, strict=True))
    ]
    labels = [_label(label, looks, at) for label, at in made.labels.values()]
    return [*lines, *boxes, *labels], made.size


def _look(looks: Sequence[Behaviour], group: Group) -> Behaviour | None:
    return looks[group] if group is not None and 0 <= group < len(looks) else None


def _box(box: Box, names: Sequence[str], *, asserted: bool) -> Markup:
    """A method; the asserted one is framed heavily."""
    (x, y), high = box.at, box.high
    frame = tag(
        "rect",
        x=x - box.width / 2,
        y=y - high / 2,
        width=box.width,
        height=high,
        rx=5,
        fill="var(--card)",
        stroke="var(--ink)" if asserted else "var(--muted)",
        stroke_width=2.5 if asserted else 1,
    )
    weight = "bold" if asserted else ""
    first = y - 1 if box.more else y + 4.5
    said = [words(x, first, box.name, size=FONT, text_anchor="middle", font_weight=weight)]
    if box.more:
        said.append(words(x, y + 14, box.more, size=SMALL, text_anchor="middle", fill="var(--muted)"))
    shown = [shorten(name, MOST_TOLD) for name in names[:MOST_NAMES]]
    rest = [f"and {count(len(names) - MOST_NAMES, 'other')}"] if len(names) > MOST_NAMES else []
    return tag("g", tag("title", "\n".join([*shown, *rest])), frame, *said)


def _line(call: Call, looks: Sequence[Behaviour], points: Sequence[Point], *, told: str) -> Markup:
    """A call: halos of groups that moved, over them a stroke of each group, and the arrow's head."""
    thick = thickness(call)
    strokes = _strokes(call, looks)
    halos = [
        _path(points, stroke, colour=stroke.halo, thick=thick + HALO, opacity=0.28)
        for stroke in strokes
        if stroke.halo
    ]
    shapes = [_path(points, s, colour=s.colour, thick=thick, stroke_dasharray=s.dash) for s in strokes]
    colour = strokes[0].colour if len(strokes) == 1 else "var(--ink)"
    return tag("g", tag("title", told), *halos, *shapes, _head(points, thick * len(strokes), colour))


def _strokes(call: Call, looks: Sequence[Behaviour]) -> list[_Stroke]:
    """Of each group side by side, in their order."""
    groups, found = groups_of(call), []
    for k, group in enumerate(groups):
        at = (k - (len(groups) - 1) / 2) * (thickness(call) + BESIDE)
        look = _look(looks, group)
        halo = look.halo if look and group in call.moved else ""
        found.append(_Stroke(look.colour if look else OUTSIDE, look.dash if look else UNGROUPED, halo, at))
    return found


def _calls(found: CallGraph, link: Link, looks: Sequence[Behaviour]) -> str:
    """For people who point at a line."""
    call = found.links[link]
    caller, callee = (shorten(found.boxes[end][0], MOST_TOLD) for end in link)
    lines = [f"{caller} calls {callee}"]
    for group in groups_of(call):
        look, (base, head) = _look(looks, group), call.calls[group]
        name = f"group {look.number}" if look else "no group"
        lines.append(f"{name}: {base:,} calls of the method at base, {head:,} at head")
    return "\n".join(lines)


def _label(label: Label, looks: Sequence[Behaviour], at: Point) -> Markup:
    """In the middle of a line, which it covers."""
    x, y = at.x - label.width / 2, at.y
    chip = {"width": label.width, "height": CHIP, "rx": CHIP / 2, "stroke": "var(--line)"}
    shapes = [tag("rect", x=x, y=y - CHIP / 2, fill="var(--paper)", **chip)]
    x += 2
    for group in label.groups:
        look = _look(looks, group)
        if look:
            shapes.append(badge(look, x + 9, y))
            x += 20
    if label.name:
        shapes.append(words(x + 2, y + 4.5, label.name, size=FONT, font_weight="bold"))
        x += length(label.name, FONT) + 9
    return tag("g", *shapes, words(x + 2, y + 4, label.share, size=SMALL))


def _way(points: Sequence[Point], at: float) -> str:
    """A smooth line through the points, `at` pixels beside them."""
    said = [f"M{points[0].x + at:.1f} {points[0].y:.1f}"]
    for k, (one, other) in enumerate(pairwise(points)):
        x, y = other.x + at, other.y
        if k % 2:
            said.append(f"L{x:.1f} {y:.1f}")
            continue
        # What runs beside a flat line runs above or below it.
        lean = max(-1.0, min(1.0, (other.x - one.x) / ((other.y - one.y) or 1.0)))
        turn = (one.y + other.y) / 2 - lean * at
        said.append(f"C{one.x + at:.1f} {turn:.1f} {x:.1f} {turn:.1f} {x:.1f} {y:.1f}")
    return " ".join(said)


def _path(points: Sequence[Point], stroke: _Stroke, *, colour: str, thick: float, **more: object) -> Markup:
    return tag("path", d=_way(points, stroke.at), fill="none", stroke=colour, stroke_width=thick, **more)


def _head(points: Sequence[Point], thick: float, colour: str) -> Markup:
    (x, y), before = points[-1], points[-2]
    tip = y + (HEAD if y >= before.y else -HEAD)
    half = thick / 2 + 3.5
    return tag("path", d=f"M{x - half:.1f} {y:.1f}H{x + half:.1f}L{x:.1f} {tip:.1f}Z", fill=colour)
