"""Where everything of a picture of call paths is: boxes with their texts, lines, and labels on lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bot.report.assertion_call_graph import Call, CallGraph, Group
from bot.report.assertion_layout import Layout, Link, Route, layout, recursive
from bot.report.assertion_shapes import length, named
from bot.report.formats import count, fraction, shorten

FONT, SMALL = 13.0, 11.0
TALL, LOW, CHIP = 42.0, 28.0, 22.0
"""Pixels: heights of a box with two lines and with one, and of a label."""
BETWEEN, HEAD = 44.0, 8.0
"""Between two rows (half of it beside a row of labels), and of an arrow's head."""
THIN, BOLD, BESIDE = 3.0, 6.0, 2.0
"""Strokes of calls, of those that conditions speak of, and between two strokes of one call."""
LETTERS, FEW_LETTERS, FEW = 30, 19, 500.0
"""Of a name in a box, and in a picture of less than so many pixels."""
MOST_LABELS, MOST_BADGES = 24, 3
"""Labels: of more calls only those that conditions speak of have one. Groups whose numbers a label has."""


class Point(NamedTuple):
    """In pixels, from the left and from the top."""

    x: float
    y: float


class Box(NamedTuple):
    """A method: its middle, its size, its name and what is said below."""

    at: Point
    width: float
    high: float
    name: str
    more: str


class Label(NamedTuple):
    """Of a call: the groups that run over it, its name in conditions, its share of all calls."""

    groups: tuple[Group, ...]
    name: str
    share: str

    @property
    def width(self) -> float:
        """In pixels."""
        named_by = length(self.name, FONT) + 9 if self.name else 0.0
        return 20.0 * len(self.groups) + named_by + length(self.share, SMALL) + 10


@dataclass(frozen=True)
class Plan:
    """lines: by link, from caller to callee; after each curve a straight piece. labels: and their middles."""

    boxes: list[Box]
    lines: dict[Link, list[Point]]
    labels: dict[Link, tuple[Label, Point]]
    size: Point


def plan(found: CallGraph, *, room: float, calls: int) -> Plan:
    """About `room` pixels wide. calls: over all paths, for shares."""
    names = _names(found, LETTERS if room >= FEW else FEW_LETTERS)
    more = [_more(found, k) for k in range(len(names))]
    bundles = {link: bundle(call) for link, call in found.links.items()}
    widths = {k: _width(k, (names[k], more[k]), bundles) for k in range(len(names))}
    upwards = recursive(found.links, sink=0)
    labels = _labels(found, upwards, calls=max(calls, 1))
    # A label is laid out as if it were a method that is called between the two.
    between = [link for link in labels if link not in upwards]
    chips = {link: len(widths) + k for k, link in enumerate(between)}
    placed = layout(
        widths | {chip: labels[link].width for link, chip in chips.items()},
        {part: bundles[link] for link in found.links for part in _parts(link, chips)},
        sink=0,
        room=room,
    )
    rows = _rows(placed, len(widths))
    boxes = [
        Box(Point(placed.x[k], rows[placed.row[k]].y), widths[k], TALL if more[k] else LOW, names[k], more[k])
        for k in widths
    ]
    routes = {link: _joined([placed.routes[part] for part in _parts(link, chips)]) for link in found.links}
    ports = _ports(placed, routes, bundles)
    lines = {link: _line(link, routes[link], ports[link], boxes=boxes, rows=rows) for link in routes}
    middles = {link: Point(placed.x[chip], rows[placed.row[chip]].y) for link, chip in chips.items()}
    told = {link: (label, middles.get(link) or _middle(lines[link])) for link, label in labels.items()}
    return Plan(boxes, lines, told, Point(placed.width, rows[-1].y + TALL / 2 + 4))


def thickness(call: Call) -> float:
    """Of each of its strokes."""
    return BOLD if call.names else THIN


def bundle(call: Call) -> float:
    """Width of all strokes of a call."""
    return (thickness(call) + BESIDE) * len(call.calls)


def groups_of(call: Call) -> list[Group]:
    """In their order; none comes last."""
    return sorted(call.calls, key=lambda group: (group is None, group or 0))


def _names(found: CallGraph, letters: int) -> list[str]:
    """Short, but where two would be the same, with both ends."""
    firsts = [names[0] for names in found.boxes]
    short = [named(name, letters) for name in firsts]
    return [
        said if short.count(said) == 1 else shorten(name, letters)
        for name, said in zip(firsts, short, strict=True)
    ]


def _more(found: CallGraph, box: int) -> str:
    folded = len(found.boxes[box]) - 1
    said = [f"and {count(folded, 'other')}"] if folded else []
    return ", ".join([*said, *(["calls itself"] if box in found.recursive else [])])


def _width(box: int, texts: tuple[str, str], bundles: Mapping[Link, float]) -> float:
    """For both lines of text, and for all lines that end above or below."""
    ends = [sum(width + BESIDE for link, width in bundles.items() if link[end] == box) for end in (0, 1)]
    name = length(texts[0], FONT) * (1.0 if box else 1.08)  # the method's is bold
    return max(name + 22, length(texts[1], SMALL) + 22, *(end + 16 for end in ends), 64.0)


def _labels(found: CallGraph, upwards: Collection[Link], *, calls: int) -> dict[Link, Label]:
    labels = {}
    many = len(found.links) > MOST_LABELS
    for link, call in found.links.items():
        if not call.names and (many or link in upwards):
            continue
        groups = tuple(group for group in groups_of(call) if group is not None)
        new = "new, " if call.total and not sum(base for base, _ in call.calls.values()) else ""
        share = f"{new}{fraction(call.total / calls)}"
        labels[link] = Label(groups if len(groups) <= MOST_BADGES else (), ", ".join(call.names[:2]), share)
    return labels


def _parts(link: Link, chips: Mapping[Link, int]) -> list[Link]:
    """From caller to callee, over the label where there is one."""
    return [(link[0], chips[link]), (chips[link], link[1])] if link in chips else [link]


def _joined(routes: Sequence[Route]) -> Route:
    return routes[0] if len(routes) == 1 else (*routes[0], *routes[1][1:])


class _Row(NamedTuple):
    """Its middle, and half of its height: rows of labels alone are low."""

    y: float
    half: float


def _rows(placed: Layout, boxes: int) -> list[_Row]:
    tall = {placed.row[box] for box in range(boxes)}
    rows, top = [], 2.0
    for row in range(placed.rows):
        half = (TALL if row in tall else CHIP) / 2
        rows.append(_Row(top + half, half))
        beside_labels = row not in tall or row + 1 not in tall
        top += 2 * half + (BETWEEN * 0.6 if beside_labels else BETWEEN)
    return rows


def _ports(
    placed: Layout, routes: Mapping[Link, Route], bundles: Mapping[Link, float]
) -> dict[Link, tuple[float, float]]:
    """Where each link leaves its caller and meets its callee: side by side, in the order of where they go."""
    sides: dict[tuple[int, bool], list[tuple[float, Link, int]]] = defaultdict(list)
    for link, route in routes.items():
        falls = route[-1][1] > route[0][1]
        sides[link[0], falls].append((route[1][0], link, 0))
        sides[link[1], not falls].append((route[-2][0], link, 1))
    found = {link: [0.0, 0.0] for link in routes}
    for (box, _), ends in sides.items():
        x = placed.x[box] - sum(bundles[link] + BESIDE for _, link, _ in ends) / 2
        for _, link, end in sorted(ends):
            found[link][end] = x + (bundles[link] + BESIDE) / 2
            x += bundles[link] + BESIDE
    return {link: (start, end) for link, (start, end) in found.items()}


def _line(
    link: Link, route: Route, ports: tuple[float, float], *, boxes: Sequence[Box], rows: Sequence[_Row]
) -> list[Point]:
    """From box to box; straight past what is in the rows between."""
    start, end = rows[route[0][1]], rows[route[-1][1]]
    sign = 1.0 if end.y > start.y else -1.0
    points = [Point(ports[0], start.y + sign * boxes[link[0]].high / 2)]
    for x, number in route[1:-1]:
        row = rows[number]
        points += [Point(x, row.y - sign * row.half), Point(x, row.y + sign * row.half)]
    return [*points, Point(ports[1], end.y - sign * (boxes[link[1]].high / 2 + HEAD))]


def _middle(line: Sequence[Point]) -> Point:
    """Half way between the last two rows that a line joins."""
    one, other = line[-2:]
    return Point((one.x + other.x) / 2, (one.y + other.y) / 2)
