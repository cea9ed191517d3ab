"""The legend of an assertion's picture: each group's condition, what it did, and its calls by duration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from markupsafe import Markup

from bot.model.report_assertions import AssertionGroup, AssertionOutcome
from bot.report.assertion_behaviours import Behaviour, shares
from bot.report.assertion_shapes import length, lines, named, tag, words
from bot.report.formats import clean, count, seconds

LINE, BAR, LABEL = 19.0, 15.0, 62.0
"""Pixels: of a line of text, of a bar with its gap, and of the word before a bar."""
SIDE_BY_SIDE = 600.0
"""Wide enough for bars beside the words."""
SHADES = ("plain", "red-1", "red-2", "red-3")
MOST_EDGES = 12


def legend(outcome: AssertionOutcome, found: Sequence[Behaviour], width: float) -> tuple[list[Markup], float]:
    """Shapes from y = 0 downwards, and their height."""
    parts: list[Markup] = []
    y = 0.0
    for behaviour in found:
        shapes, height = _group(behaviour, width)
        parts.append(tag("g", *shapes, transform=f"translate(0 {y:.0f})"))
        y += height + 12
    for drawn in (_clusters(outcome, width), _edges(outcome, width)):
        for line in drawn:
            parts.append(tag("g", line, transform=f"translate(0 {y:.0f})"))
            y += LINE
    return parts, y


def badge(behaviour: Behaviour, x: float, y: float) -> Markup:
    """The group's number in its colour, around (x, y)."""
    return Markup("").join(
        (
            tag("circle", cx=x, cy=y, r=8.5, fill="var(--paper)", stroke=behaviour.colour, stroke_width=2.0),
            words(x, y + 4, str(behaviour.number), size=11, text_anchor="middle", font_weight="bold"),
        )
    )


def _group(behaviour: Behaviour, width: float) -> tuple[list[Markup], float]:
    beside = width >= SIDE_BY_SIDE
    room = width * 0.54 if beside else width
    group = behaviour.group
    base, head = group.calls
    sample = [
        tag("line", x1=0.0, y1=10.0, x2=44.0, y2=10.0, stroke=behaviour.halo, stroke_width=12.0, opacity=0.25)
    ]
    sample = sample if behaviour.halo else []
    stroke = {"stroke": behaviour.colour, "stroke_width": 4.0, "stroke_dasharray": behaviour.dash}
    sample += [tag("line", x1=0.0, y1=10.0, x2=44.0, y2=10.0, **stroke), badge(behaviour, 60.0, 10.0)]
    letters = int((room - 80) / length("n", 13))
    said = [(line, "normal", "var(--ink)") for line in lines(f"when {behaviour.condition}", letters)]
    weight = "bold" if behaviour.halo else "normal"
    said += [(line, weight, behaviour.tone) for line in lines(behaviour.status, letters)]
    said.append((f"calls: {base:,} at base, {head:,} at head", "normal", "var(--muted)"))
    texts = [
        words(76.0, 14.5 + k * LINE, line, font_weight=weight, fill=fill)
        for k, (line, weight, fill) in enumerate(said)
    ]
    high = len(said) * LINE
    left, top = (room + 12, 2.0) if beside else (14.0, high + 2)
    bars = list(_bars(group, width - left))
    placed = tag("g", *bars, transform=f"translate({left:.0f} {top:.0f})")
    below = 3 * BAR + 4
    return [*sample, *texts, placed], max(high, below) if beside else high + below


def _bars(group: AssertionGroup, width: float) -> Iterator[Markup]:
    """Expected, base and head, one below the other: shares of calls, the fastest cluster first."""
    for k, (name, found) in enumerate(
        (("expected", group.expected), ("base", group.base), ("head", group.observed))
    ):
        y = k * BAR
        yield words(0.0, y + 10, name, size=11.5, fill="var(--muted)")
        usable = shares(found)
        if not usable:
            yield words(LABEL, y + 10, "no calls", size=11.5, fill="var(--muted)")
        ends = [0.0, *accumulate(usable)]
        for cluster, (start, end) in enumerate(pairwise(ends)):
            yield _segment(
                LABEL + start * (width - LABEL),
                (end - start) * (width - LABEL),
                y,
                cluster=cluster,
                of=len(usable),
                share=end - start,
            )


def _segment(x: float, width: float, y: float, *, cluster: int, of: int, share: float) -> Markup:
    shade = _shade(cluster, of)
    box = tag(
        "rect", x=x, y=y, width=width, height=BAR - 2, fill=shade, stroke="var(--paper)", stroke_width=1
    )
    said = f"{100 * share:.0f} %"
    if length(said, 10.5) + 8 > width:
        return box
    return box + words(x + width / 2, y + 10.5, said, size=10.5, text_anchor="middle")


def _shade(cluster: int, of: int) -> str:
    """Slower is redder, the slowest reddest."""
    return f"var(--{SHADES[round(cluster * (len(SHADES) - 1) / max(of - 1, 1))]})"


def _clusters(outcome: AssertionOutcome, width: float) -> Iterator[Markup]:
    """What the bars' shades mean on this machine."""
    borders = outcome.borders_seconds
    if not borders:
        return
    ends = [seconds(border) for border in borders]
    told = [f"under {ends[0]}", *(f"{low} to {high}" for low, high in pairwise(ends)), f"{ends[-1]} and more"]
    x, shapes = 0.0, [words(0.0, 14, "A call takes", size=12, fill="var(--muted)")]
    x = length("A call takes", 12) + 12
    for k, text in enumerate(told):
        if x + 18 + length(text, 12) > width:
            yield Markup("").join(shapes)
            x, shapes = 0.0, []
        shapes.append(
            tag("rect", x=x, y=4.0, width=12.0, height=12.0, fill=_shade(k, len(told)), stroke="var(--line)")
        )
        shapes.append(words(x + 17, 14, text, size=12))
        x += 17 + length(text, 12) + 16
    yield Markup("").join(shapes)


def _edges(outcome: AssertionOutcome, width: float) -> Iterator[Markup]:
    """The calls that conditions speak of, by name."""
    for name, (caller, callee) in list(outcome.edges.items())[:MOST_EDGES]:
        short = named(clean(name), 8)
        left = max(38.0, 1.1 * length(short, 12) + 10)
        letters = int((width - left - length(" → ", 12)) / 2 / length("n", 12))
        said = f"{named(clean(caller), letters)} → {named(clean(callee), letters)}"
        yield words(0.0, 14, short, size=12, font_weight="bold") + words(left, 14, said, size=12)
    if len(outcome.edges) > MOST_EDGES:
        yield words(38.0, 14, f"and {count(len(outcome.edges) - MOST_EDGES, 'more call')}", size=12)
