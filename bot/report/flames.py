"""Differential flame graphs of the HTML page: call paths as wide as they cost, red slower, blue faster."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from bot.model.report import Report
from bot.model.report_methods import ComparedProfile, FlameNode
from bot.report import words
from bot.report.formats import Prose, brief, clean, code, join, prose, seconds, shorten, times
from bot.report.methods import groups
from bot.report.parts import Block, Figure, Section, Table
from bot.report.svg import BLUES, INK, PAPER, PLAIN, REDS, drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# Drawn by matplotlib as all pictures are: what zooms (d3-flame-graph, plotly) needs up to 4.5 MB of scripts,
# and a page that may hold a stranger's names allows none.
MOST_GRAPHS, MOST_ROWS, NEAREST = 4, 6, 3
STEPS = (0.05, 0.2, 0.5)
"""A path's own difference as a share of the measured change, from which on it has each shade."""
LEAST_CHANGE = 0.02
"""A change is taken for at least this share of the program; a control's for the largest one of the others."""
WIDE, NARROW = 9.1, 4.4
"""Inches of 72 SVG units, for screens wider and narrower than 48 rem."""
ROW, FONT, LETTER = 0.24, 8.5, 0.6
"""Inches of a row, points of a label, and the width of a letter as a share of that."""
LONGEST = 1e9
"""Seconds; more, or what is no number, was not measured."""
LEAST_WIDTH, LEAST_LETTERS = 0.012, 7
"""Inches of a box and letters of a cut name; less cannot be seen or read."""
NAME_LENGTH = 200


@dataclass
class _Frame:
    """A call path as it is drawn: its place, seconds with callees, and its own difference in seconds."""

    name: str
    path: tuple[str, ...]
    parent: int
    base: float
    head: float
    own: float = 0.0
    left: float = 0.0
    width: float = 0.0

    @property
    def told(self) -> str:
        """For people who point at it."""
        took = f"{' to '.join(times(self.base, self.head))} with all it calls"
        return f"{self.name}\n{took}; by itself {_signed(self.own)}"


def flames(report: Report) -> Section | None:
    """A flame graph and its largest differences for each profiled configuration; the control comes last."""
    chosen = sorted((p for p in report.profiles if p.flame), key=lambda p: p.control)[:MOST_GRAPHS]
    blocks: list[Block] = []
    for profile in chosen:
        frames = _frames(profile.flame)
        if frames:
            blocks += _told(report, profile, frames, caption="" if blocks else "flames")
    return Section("flames", "Call paths at base and head", tuple(blocks), open=True) if blocks else None


def _told(report: Report, profile: ComparedProfile, frames: list[_Frame], *, caption: str) -> list[Block]:
    where = words.configuration(profile.options, words.default_options(report))
    named = {clean(m.method) for g in groups(report) if g.options == profile.options for m in g.methods}
    base, head = (sum(getattr(f, side) for f in frames if f.parent < 0) for side in ("base", "head"))
    measured = [abs(p.change_seconds) for p in report.profiles if p == profile or profile.control]
    change = max(*measured, LEAST_CHANGE * (base + head) / 2)
    largest = sorted((f for f in frames if abs(f.own) >= STEPS[0] * change), key=lambda f: -abs(f.own))
    said = "; ".join(f"{shorten(f.name, 60)} {_signed(f.own)}" for f in largest[:MOST_ROWS])
    alt = f"Flame graph, {seconds(base)} at base to {seconds(head)} at head. {said or 'Nothing moved.'}"
    svgs = tuple(
        Markup(  # noqa: S704 - escaped by matplotlib and `drawn`
            drawn(
                (width, ROW * (1 + max(len(f.path) for f in frames))),
                lambda canvas, width=width: _draw(canvas, frames, width, change, named),  # type: ignore[misc]
                alt=alt,
                titles=[f.told for f in frames],
            )
        )
        for width in (WIDE, NARROW)
    )
    control = " (control, without an alarm)" if profile.control else ""
    rows = tuple(
        (_path(f), prose(" to ".join(times(f.base, f.head))), prose(_signed(f.own)))
        for f in largest[:MOST_ROWS]
    )
    table = Table(("Call path", "With all it calls", "By itself"), rows, "lrr")
    return [prose(where, control, ":"), Figure(svgs, caption), *([table] if rows else [])]


def _frames(nodes: Sequence[FlameNode]) -> list[_Frame]:
    """Frames with places from 0 to 1; what is no tree or no number is left out."""
    frames: list[_Frame] = []
    index: dict[int, int] = {}
    for number, node in enumerate(nodes):
        usable = abs(node.base) < LONGEST and abs(node.head) < LONGEST
        if not usable or (node.parent >= 0 and node.parent not in index):
            continue
        parent = index[node.parent] if node.parent >= 0 else -1
        index[number] = len(frames)
        name = shorten(clean(node.method).strip() or "(unnamed)", NAME_LENGTH)
        path = (*(frames[parent].path if parent >= 0 else ()), name)
        base, head = max(node.base, 0.0), max(node.head, 0.0)
        frames.append(_Frame(name, path, parent, base, head, own=head - base))
    _place(frames)
    return frames


def _place(frames: list[_Frame]) -> None:
    """Widths: the mean of base and head, so that new and vanished paths are seen; children below parents."""
    below: dict[int, list[_Frame]] = {}
    for frame in frames:
        below.setdefault(frame.parent, []).append(frame)
        if frame.parent >= 0:
            frames[frame.parent].own -= frame.head - frame.base
    for number in range(-1, len(frames)):
        children = sorted(below.get(number, ()), key=lambda f: -(f.base + f.head))
        parent = frames[number] if number >= 0 else None
        together = sum(f.base + f.head for f in children)
        whole = max(together, parent.base + parent.head if parent else 0.0)
        left, width = (parent.left, parent.width) if parent else (0.0, 1.0)
        for child in children:
            child.left, child.width = left, width * (child.base + child.head) / whole if whole else 0.0
            left += child.width


def _draw(canvas: Canvas, frames: list[_Frame], width: float, change: float, named: set[str]) -> None:
    from matplotlib.patches import Rectangle

    axes = canvas.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0.0, width)
    axes.set_ylim(max(len(f.path) for f in frames), 0)
    axes.set_axis_off()
    for number, frame in enumerate(frames):
        if frame.width * width < LEAST_WIDTH:
            continue
        at, depth, guilty = frame.left * width, len(frame.path) - 1, frame.name in named
        axes.add_patch(
            Rectangle(
                (at, depth),
                frame.width * width,
                0.94,
                facecolor=_shade(frame.own / change if change else 0.0),
                edgecolor=INK if guilty else PAPER,
                linewidth=1.6 if guilty else 0.6,
                zorder=2 if guilty else 1,
                clip_on=False,
                gid=f"title-{number}",
            )
        )
        label = _fitting(frame.name, frame.width * width * 72 / FONT - 0.8, bold=guilty)
        if label:
            weight = "bold" if guilty else "normal"
            axes.text(at + 0.04, depth + 0.66, label, fontsize=FONT, fontweight=weight, zorder=3)


def _shade(share: float) -> str:
    """Colour of an own difference, as a share of the measured change."""
    step = sum(abs(share) >= border for border in STEPS)
    return PLAIN if not step else (REDS if share > 0 else BLUES)[step - 1]


def _fitting(name: str, room: float, *, bold: bool) -> str:
    """As much of a name as has room (in widths of the font's em): all, its last parts, or its ends."""
    letter = LETTER * (1.08 if bold else 1.0)
    if _length(name, letter) <= room:
        return name
    letters = int(room / (_length(name, letter) / len(name)))
    text = brief(name, letters)
    if "…" in text:
        text = brief(name, letters - 1) if letters > LEAST_LETTERS else ""
    return text


def _length(text: str, letter: float) -> float:
    return sum(1.05 if unicodedata.east_asian_width(c) in "WF" else letter for c in text)


def _path(frame: _Frame) -> Prose:
    cut = [prose("…")] if len(frame.path) > NEAREST else []
    return join([*cut, *(code(brief(name, 40)) for name in frame.path[-NEAREST:])], " → ")


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{seconds(abs(value))}"
