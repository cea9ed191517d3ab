"""Draws the ways to an asserted method: boxes of methods, lines of calls in their groups' colours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from bot.report.assertion_behaviours import OUTSIDE, Behaviour
from bot.report.assertion_layout import Layout, Link, layout
from bot.report.assertion_legend import badge
from bot.report.assertion_shapes import length, named, tag, words
from bot.report.assertion_ways import Call, Ways
from bot.report.formats import count, fraction, shorten

FONT, SMALL = 13.0, 11.0
TALL, LOW, PITCH = 42.0, 28.0, 96.0
"""Pixels: heights of a box with two lines and with one, and from row to row."""
THIN, BOLD, BESIDE = 3.0, 6.0, 2.0
"""Strokes of calls, of those that conditions speak of, and between two strokes of one call."""
LETTERS, FEW_LETTERS, FEW = 30, 19, 500.0
"""Of a name in a box, and in a picture of less than so many pixels."""
HEAD = 8.0
"""Of an arrow, its length."""
MOST_NAMES, MOST_TOLD = 12, 160
"""Names of a box that are shown to people who point at it, and letters of each."""
MOST_LABELS = 24
"""Calls; where there are more, only those that conditions speak of have their share written beside."""


class _Stroke(NamedTuple):
    """One group's line beside the others of a call. at: its middle, from that of all of them."""

    colour: str
    dash: str
    halo: str
    at: float


class _Point(NamedTuple):
    x: float
    y: float


def drawn(
    found: Ways, looks: Sequence[Behaviour], *, room: float, calls: int
) -> tuple[list[Markup], tuple[float, float]]:
    """Shapes, lines below boxes below labels, and width and height. calls: over all paths, for shares."""
    drawing = _Drawing(found, looks, room)
    lines = [drawing.line(link) for link in found.links]
    boxes = [drawing.box(k) for k in range(len(found.boxes))]
    labels = [
        drawing.label(link, max(calls, 1))
        for link, call in found.links.items()
        if call.names or len(found.links) <= MOST_LABELS
    ]
    return [*lines, *boxes, *labels], drawing.size


class _Drawing:
    """Where everything is, and how it looks."""

    def __init__(self, found: Ways, looks: Sequence[Behaviour], room: float) -> None:
        self._found, self._looks = found, looks
        self._letters = LETTERS if room >= FEW else FEW_LETTERS
        self._labels = self._names()
        self._thick = {link: BOLD if call.names else THIN for link, call in found.links.items()}
        bundles = {link: (self._thick[link] + BESIDE) * len(call.calls) for link, call in found.links.items()}
        widths = {k: self._width(k, bundles) for k in range(len(found.boxes))}
        self._widths = widths
        self._layout = layout(widths, bundles, sink=0, room=room)
        self._ports = _ports(self._layout, bundles)
        self.size = self._layout.width, _row(self._layout.rows - 1) + TALL / 2 + 6

    def _names(self) -> list[str]:
        """Short, but where two would be the same, with both ends."""
        firsts = [names[0] for names in self._found.boxes]
        short = [named(name, self._letters) for name in firsts]
        return [
            said if short.count(said) == 1 else shorten(name, self._letters)
            for name, said in zip(firsts, short, strict=True)
        ]

    def _width(self, box: int, bundles: Mapping[Link, float]) -> float:
        """For both lines of text, and for all lines that end above or below."""
        texts = max(length(self._labels[box], FONT), length(self._more(box), SMALL))
        over = sum(width + BESIDE for link, width in bundles.items() if link[1] == box)
        under = sum(width + BESIDE for link, width in bundles.items() if link[0] == box)
        return max(texts + 22, over + 16, under + 16, 64.0)

    def _more(self, box: int) -> str:
        folded = len(self._found.boxes[box]) - 1
        said = [f"and {count(folded, 'other')}"] if folded else []
        return ", ".join([*said, *(["calls itself"] if box in self._found.recursive else [])])

    def _high(self, box: int) -> float:
        return TALL if self._more(box) else LOW

    def box(self, number: int) -> Markup:
        """A method; the asserted one is framed heavily."""
        x, y = self._layout.x[number], _row(self._layout.row[number])
        width, high = self._widths[number], self._high(number)
        asserted = number == 0
        frame = tag(
            "rect",
            x=x - width / 2,
            y=y - high / 2,
            width=width,
            height=high,
            rx=5,
            fill="var(--card)",
            stroke="var(--ink)" if asserted else "var(--muted)",
            stroke_width=2.5 if asserted else 1,
        )
        more = self._more(number)
        weight = "bold" if asserted else "normal"
        first = y + (-1.0 if more else 4.5)
        told = [words(x, first, self._labels[number], size=FONT, text_anchor="middle", font_weight=weight)]
        if more:
            told.append(words(x, y + 14, more, size=SMALL, text_anchor="middle", fill="var(--muted)"))
        names = self._found.boxes[number]
        shown = [shorten(name, MOST_TOLD) for name in names[:MOST_NAMES]]
        rest = [f"and {count(len(names) - MOST_NAMES, 'other')}"] if len(names) > MOST_NAMES else []
        return tag("g", tag("title", "\n".join([*shown, *rest])), frame, *told)

    def line(self, link: Link) -> Markup:
        """A call: halos of groups that moved, and over them a stroke of each group, with a head."""
        call, points = self._found.links[link], self._points(link)
        thick = self._thick[link]
        strokes = self._strokes(call, thick)
        halos = [
            _path(points, stroke, colour=stroke.halo, thick=thick + 9, opacity=0.28)
            for stroke in strokes
            if stroke.halo
        ]
        shapes = [_path(points, s, colour=s.colour, thick=thick, stroke_dasharray=s.dash) for s in strokes]
        colour = strokes[0].colour if len(strokes) == 1 else "var(--ink)"
        head = _head(points, thick * len(strokes), colour)
        return tag("g", tag("title", self._told(link)), *halos, *shapes, head)

    def _strokes(self, call: Call, thick: float) -> list[_Stroke]:
        """Of each group side by side, in their order; calls of no group come last."""
        groups = sorted(call.calls, key=lambda g: (g is None, g or 0))
        found = []
        for k, group in enumerate(groups):
            at = (k - (len(groups) - 1) / 2) * (thick + BESIDE)
            look = self._look(group)
            halo = look.halo if look and group in call.moved else ""
            found.append(_Stroke(look.colour if look else OUTSIDE, look.dash if look else "1 3", halo, at))
        return found

    def _look(self, group: int | None) -> Behaviour | None:
        return self._looks[group] if group is not None and 0 <= group < len(self._looks) else None

    def _told(self, link: Link) -> str:
        """For people who point at a call."""
        call = self._found.links[link]
        caller, callee = (shorten(self._found.boxes[end][0], MOST_TOLD) for end in link)
        lines = [f"{caller} calls {callee}"]
        for group, (base, head) in sorted(
            call.calls.items(), key=lambda item: (item[0] is None, item[0] or 0)
        ):
            look = self._look(group)
            name = f"group {look.number}" if look else "no group"
            lines.append(f"{name}: {base:,} calls of the method at base, {head:,} at head")
        return "\n".join(lines)

    def label(self, link: Link, calls: int) -> Markup:
        """In the middle of a line: its groups' numbers, its name in conditions, its share of the calls."""
        call, points = self._found.links[link], self._points(link)
        x, y = _middle_of(points)
        looks = [look for group in call.calls if (look := self._look(group))] if len(call.calls) <= 3 else []
        name = ", ".join(call.names[:3])
        new = "new" if call.total and not sum(base for base, _ in call.calls.values()) else ""
        share = " ".join(filter(None, [new, fraction(call.total / calls)]))
        wide = 20 * len(looks) + (length(name, FONT) + 8 if name else 0) + length(share, SMALL) + 6
        shapes = [
            tag(
                "rect",
                x=x - wide / 2,
                y=y - 11,
                width=wide,
                height=22.0,
                rx=11,
                fill="var(--paper)",
                opacity=0.9,
            )
        ]
        at = x - wide / 2
        for look in looks:
            shapes.append(badge(look, at + 10, y))
            at += 20
        if name:
            shapes.append(words(at + 4, y + 4.5, name, size=FONT, font_weight="bold"))
            at += length(name, FONT) + 8
        shapes.append(words(at + 3, y + 4, share, size=SMALL, fill="var(--muted)"))
        return tag("g", *shapes, pointer_events="none")

    def _points(self, link: Link) -> list[_Point]:
        """From the caller's box to the callee's; straight past the boxes of rows between."""
        route = self._layout.routes[link]
        caller, callee = link
        sign = 1.0 if route[-1][1] > route[0][1] else -1.0
        start, end = self._ports[link]
        points = [_Point(start, _row(route[0][1]) + sign * self._high(caller) / 2)]
        for x, row in route[1:-1]:
            points += [_Point(x, _row(row) - sign * TALL / 2), _Point(x, _row(row) + sign * TALL / 2)]
        return [*points, _Point(end, _row(route[-1][1]) - sign * (self._high(callee) / 2 + HEAD))]


def _row(number: int) -> float:
    """The middle of a row."""
    return TALL / 2 + 2 + number * PITCH


def _ports(placed: Layout, bundles: Mapping[Link, float]) -> dict[Link, tuple[float, float]]:
    """Where each link leaves its caller and meets its callee: side by side, in the order of where they go."""
    sides: dict[tuple[int, bool], list[tuple[float, Link, int]]] = defaultdict(list)
    for link, route in placed.routes.items():
        falls = route[-1][1] > route[0][1]
        sides[link[0], falls].append((route[1][0], link, 0))
        sides[link[1], not falls].append((route[-2][0], link, 1))
    found: dict[Link, list[float]] = {link: [0.0, 0.0] for link in placed.routes}
    for (box, _), ends in sides.items():
        ends.sort()
        x = placed.x[box] - sum(bundles[link] + BESIDE for _, link, _ in ends) / 2
        for _, link, end in ends:
            found[link][end] = x + (bundles[link] + BESIDE) / 2
            x += bundles[link] + BESIDE
    return {link: (start, end) for link, (start, end) in found.items()}


def _way(points: Sequence[_Point], at: float) -> str:
    """A smooth line through the points, `at` pixels beside them."""
    said = [f"M{points[0].x + at:.1f} {points[0].y:.1f}"]
    for k, (one, other) in enumerate(pairwise(points)):
        x, y = other.x + at, other.y
        if k % 2:
            said.append(f"L{x:.1f} {y:.1f}")
            continue
        # Beside a line that runs flat is above or below it.
        lean = max(-1.0, min(1.0, (other.x - one.x) / (abs(other.y - one.y) or 1.0)))
        turn = (one.y + other.y) / 2 - lean * at * (1 if other.y > one.y else -1)
        said.append(f"C{one.x + at:.1f} {turn:.1f} {x:.1f} {turn:.1f} {x:.1f} {y:.1f}")
    return " ".join(said)


def _path(points: Sequence[_Point], stroke: _Stroke, *, colour: str, thick: float, **more: object) -> Markup:
    return tag("path", d=_way(points, stroke.at), fill="none", stroke=colour, stroke_width=thick, **more)


def _head(points: Sequence[_Point], thick: float, colour: str) -> Markup:
    x, y = points[-1]
    tip = y + (HEAD if points[-1].y >= points[-2].y else -HEAD)
    half = thick / 2 + 3.5
    return tag("path", d=f"M{x - half:.1f} {y:.1f}H{x + half:.1f}L{x:.1f} {tip:.1f}Z", fill=colour)


def _middle_of(points: Sequence[_Point]) -> _Point:
    """Half way between the last two rows that a line joins."""
    one, other = points[-2:]
    return _Point((one.x + other.x) / 2, (one.y + other.y) / 2)
