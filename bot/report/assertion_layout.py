"""Places the boxes of a call graph in rows, callers above, with few crossings and no line through a box."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import TypeAlias

import numpy as np

# Layers, order, places: the three steps of Sugiyama, Tagawa and Toda (1981). A layout of our own, because
# rows must be bounded (a telephone shows two boxes side by side) and lines need their way around boxes:
# grandalf (GPL, last release in 2023), igraph (GPL), fast-sugiyama (no routes) and pygraphviz (a system
# library) do not give both under a licence and in a size that fit.

Link: TypeAlias = tuple[int, int]
Route: TypeAlias = tuple[tuple[float, int], ...]
SWEEPS = 12
GAP = 16.0
"""Between two boxes of a row."""
BOXES = 0.8
"""Share of a row for its boxes, where others of the same level must be above: their lines come through."""
LOOSE = 1.15
"""How much wider than its widest row a picture may be, for lines that go straight."""
_Neighbours: TypeAlias = dict[int, list[int]]


@dataclass(frozen=True)
class Layout:
    """Where everything is. x: by box, its centre. row: by box, 0 is the top one.

    routes: by link, the points (x, row) from caller to callee, both included, one in every row between.
    """

    x: Mapping[int, float]
    row: Mapping[int, int]
    routes: Mapping[Link, Route]
    rows: int
    width: float


def layout(widths: Mapping[int, float], links: Mapping[Link, float], *, sink: int, room: float) -> Layout:
    """Rows at most `room` wide where that is possible; recursion goes upwards.

    widths: of boxes, numbered from 0. links: from caller to callee, with the width of their line; none to
    itself. From every box a way leads to `sink`, which is alone in the last row.
    """
    upwards = recursive(links, sink=sink)
    down = {link: (link[::-1] if link in upwards else link) for link in links}
    heights = _heights(widths, {down[link]: width for link, width in links.items()}, room)
    top = max(heights.values())
    rows: list[list[int]] = [[] for _ in range(top + 1)]
    for box in sorted(widths):
        rows[top - heights[box]].append(box)
    sizes, chains = dict(widths), dict[Link, list[int]]()
    for link, (caller, callee) in down.items():
        chains[link] = [caller]
        for row in range(top - heights[caller] + 1, top - heights[callee]):
            bend = len(sizes)
            sizes[bend] = links[link]
            rows[row].append(bend)
            chains[link].append(bend)
        chains[link].append(callee)
    segments = [segment for chain in chains.values() for segment in pairwise(chain)]
    rows = _ordered(rows, segments)
    x = _placed(rows, segments, sizes, room)
    row_of = {item: number for number, row in enumerate(rows) for item in row}
    routes = {
        link: tuple((x[item], row_of[item]) for item in (chain[::-1] if link in upwards else chain))
        for link, chain in chains.items()
    }
    width = max(x[item] + sizes[item] / 2 for item in sizes)
    return Layout({b: x[b] for b in widths}, {b: row_of[b] for b in widths}, routes, len(rows), width)


def recursive(links: Iterable[Link], *, sink: int) -> frozenset[Link]:
    """Links that close a circle, searched from the sink."""
    callers: _Neighbours = defaultdict(list)
    for caller, callee in links:
        callers[callee].append(caller)
    found, done, way = set[Link](), set[int](), [sink]
    pending = {sink: iter(callers[sink])}
    while way:
        callee = way[-1]
        caller = next(pending[callee], -1)
        if caller < 0:
            done.add(way.pop())
        elif caller not in pending:
            way.append(caller)
            pending[caller] = iter(callers[caller])
        elif caller not in done:
            found.add((caller, callee))
    return frozenset(found)


def _heights(widths: Mapping[int, float], links: Mapping[Link, float], room: float) -> dict[int, int]:
    """Rows above the sink: right above what is called, or where there is room (after Coffman and Graham)."""
    callees: _Neighbours = {box: [] for box in widths}
    for caller, callee in links:
        callees[caller].append(callee)
    longest: dict[int, int] = {}
    for box in TopologicalSorter(callees).static_order():
        longest[box] = 1 + max((longest[callee] for callee in callees[box]), default=-1)
    level: dict[int, float] = defaultdict(float)
    for box, height in longest.items():
        level[height] += widths[box] + GAP
    used: dict[int, float] = defaultdict(float)
    taken, heights = set[int](), dict[int, int]()
    for box in sorted(widths, key=lambda b: (longest[b], b)):
        row = 1 + max((heights[callee] for callee in callees[box]), default=-1)
        free = room if level[longest[box]] - GAP <= room else BOXES * room
        while row in taken and used[row] + widths[box] > free:
            row += 1
        heights[box] = row
        taken.add(row)
        used[row] += widths[box] + GAP
        for callee in callees[box]:
            for between in range(heights[callee] + 1, row):
                used[between] += links[box, callee] + GAP
    return heights


def _ordered(rows: list[list[int]], segments: list[Link]) -> list[list[int]]:
    """The order with the fewest crossings that sweeps down and up find: each item at its neighbours' mean."""
    above, below = _neighbours(segments)
    best, fewest = rows, _crossings(rows, below)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        near = above if downwards else below
        rows = [list(row) for row in rows]
        place = {item: k for row in rows for k, item in enumerate(row)}
        for row in rows if downwards else rows[::-1]:
            row.sort(key=lambda item: _mean([place[n] for n in near.get(item, ())], place[item]))
            place |= {item: k for k, item in enumerate(row)}
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _neighbours(segments: list[Link]) -> tuple[_Neighbours, _Neighbours]:
    above: _Neighbours = defaultdict(list)
    below: _Neighbours = defaultdict(list)
    for upper, lower in segments:
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


def _crossings(rows: list[list[int]], below: _Neighbours) -> int:
    found = 0
    for row, following in pairwise(rows):
        place = {item: k for k, item in enumerate(following)}
        ends = np.array([place[n] for item in row for n in sorted(below[item], key=place.__getitem__)])
        found += int(np.sum(np.triu(ends[:, None] > ends[None, :], 1))) if len(ends) else 0
    return found


def _mean(values: list[float] | list[int], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _placed(
    rows: list[list[int]], segments: list[Link], sizes: Mapping[int, float], room: float
) -> dict[int, float]:
    """Centres as near to those of the neighbours as the order allows: least squares, row after row."""
    from scipy.optimize import isotonic_regression

    above, below = _neighbours(segments)
    ends = [np.cumsum([sizes[item] + GAP for item in row]) - GAP for row in rows]
    leftmost = [
        end - np.array([sizes[item] / 2 for item in row]) for row, end in zip(rows, ends, strict=True)
    ]
    widest = max(float(end[-1]) for end in ends)
    widest = max(widest, min(room, LOOSE * widest))
    x: dict[int, float] = {}
    for row, end, left in zip(rows, ends, leftmost, strict=True):
        x |= zip(row, (left + (widest - end[-1]) / 2).tolist(), strict=True)
    for sweep in range(SWEEPS):
        order = range(len(rows)) if sweep % 2 == 0 else range(len(rows) - 1, -1, -1)
        for number in order:
            row, left = rows[number], leftmost[number]
            near = above if sweep % 2 == 0 else below
            wanted = np.array([_mean([x[n] for n in near.get(item, ())], x[item]) for item in row])
            shift = isotonic_regression(wanted - left).x
            x |= zip(row, (left + np.clip(shift, 0.0, widest - ends[number][-1])).tolist(), strict=True)
    first = min(x[item] - sizes[item] / 2 for item in x)
    return {item: place - first for item, place in x.items()}
