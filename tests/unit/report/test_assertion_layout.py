"""Rows of boxes: callers above, nothing overlaps, lines pass beside boxes, recursion ends."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.report.assertion_layout import GAP, Layout, Link, layout, recursive

NUMBERS = st.integers(1, 9)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[int, float], dict[Link, float]]:
    """Boxes from 0, each of which leads to 0 over an earlier one; and other calls."""
    boxes = draw(st.integers(1, 14))
    widths = {k: 10.0 * draw(NUMBERS) for k in range(boxes)}
    links = {(k, draw(st.integers(0, k - 1))): 2.0 * draw(NUMBERS) for k in range(1, boxes)}
    ends = st.integers(0, boxes - 1)
    for pair in draw(st.lists(st.tuples(ends, ends), max_size=15)):
        if pair[0] != pair[1]:
            links.setdefault(pair, 2.0 * draw(NUMBERS))
    return widths, links


def overlapping(placed: Layout, widths: dict[int, float]) -> list[tuple[int, int]]:
    rows: dict[int, list[int]] = {}
    for box, row in placed.row.items():
        rows.setdefault(row, []).append(box)
    return [
        (one, other)
        for row in rows.values()
        for one, other in pairwise(sorted(row, key=lambda b: placed.x[b]))
        if placed.x[one] + widths[one] / 2 + GAP > placed.x[other] - widths[other] / 2 + 1e-6
    ]


@settings(max_examples=150, deadline=None)
@given(graphs(), st.sampled_from([100.0, 300.0, 900.0]))
def test_callers_are_above_and_nothing_lies_on_anything(
    graph: tuple[dict[int, float], dict[Link, float]], room: float
) -> None:
    widths, links = graph
    placed = layout(widths, links, sink=0, room=room)
    assert overlapping(placed, widths) == []
    assert placed.row[0] == placed.rows - 1
    assert [box for box, row in placed.row.items() if row == placed.row[0]] == [0]
    assert set(placed.row.values()) == set(range(placed.rows))
    upwards = recursive(links, sink=0)
    for link, route in placed.routes.items():
        assert (placed.row[link[0]] < placed.row[link[1]]) == (link not in upwards)
        assert (route[0], route[-1]) == tuple((placed.x[end], placed.row[end]) for end in link)
        assert {abs(b - a) for (_, a), (_, b) in pairwise(route)} == {1}
        for x, row in route[1:-1]:
            for box, other in placed.row.items():
                assert other != row or abs(x - placed.x[box]) >= widths[box] / 2 + GAP / 2
    ends = [placed.x[b] + sign * widths[b] / 2 for b in widths for sign in (-1, 1)]
    assert min(ends) >= -1e-6 and max(ends) <= placed.width + 1e-6


def test_a_narrow_picture_has_more_rows() -> None:
    widths = dict.fromkeys(range(13), 100.0)
    links = {(k, 0): 5.0 for k in range(1, 13)}
    wide, narrow = (layout(widths, links, sink=0, room=room) for room in (840.0, 340.0))
    assert wide.rows <= 4 and wide.width <= 840.0
    assert narrow.rows > 5 and narrow.width <= 480.0


def test_order_avoids_crossings() -> None:
    """Two chains whose ends were given in opposite orders."""
    widths = dict.fromkeys(range(7), 50.0)
    links = dict.fromkeys([(1, 0), (2, 0), (3, 2), (4, 1), (5, 4), (6, 3)], 4.0)
    x = layout(widths, links, sink=0, room=500.0).x
    assert (x[1] < x[2]) == (x[4] < x[3]) == (x[5] < x[6])


def test_a_chain_is_a_straight_line() -> None:
    links = {(k, k - 1): 4.0 for k in range(1, 6)}
    placed = layout({k: 40.0 + 10 * k for k in range(6)}, links, sink=0, room=800.0)
    assert np.ptp(list(placed.x.values())) < 1e-6
    assert [placed.row[k] for k in range(6)] == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    "links", [[(1, 0), (0, 1)], [(1, 0), (2, 1), (1, 2)], [(1, 0), (2, 1), (3, 2), (1, 3)]]
)
def test_only_the_call_that_closes_a_circle_goes_up(links: list[Link]) -> None:
    assert recursive(links, sink=0) == {links[-1]}
