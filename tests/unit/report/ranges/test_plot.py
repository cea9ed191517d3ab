"""The plot of a range: well-formed, described, of bounded size, and drawn from what was measured."""

import re
from xml.etree import ElementTree

import pytest

from bot.model.report import Point, Report, Series
from bot.report.ranges.plot import plots
from bot.report.render import page
from tests.unit.report.ranges import builders
from tests.unit.report.ranges.builders import bisection, move, series


def once(value: float) -> Series:
    return Series(options={}, points=(Point(revision="0", place=0, value=value, trials=1),))


SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def colours(svg: str) -> set[str]:
    return set(re.findall(r"var\(--(\w+)\)", svg))


def test_there_is_a_plot_for_wide_and_one_for_narrow_screens() -> None:
    wide, narrow = plots(builders.several())
    for svg in (wide, narrow):
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert "1: +23 % with extreme since v5.3" in (root.get("aria-label") or "")
        assert not re.search(r"#[0-9a-f]{6}", svg)
        assert {"1 v5.3", "2 v5.6", "default configuration", "extreme on", "threads on"} <= set(texts(svg))
    widths = [
        float((ElementTree.fromstring(svg).get("width") or "").removesuffix("pt")) for svg in (wide, narrow)
    ]
    assert widths[0] > 600 > 330 > widths[1]


def test_a_change_is_coloured_only_where_it_hits() -> None:
    slow = move(12, "extreme", ratio=1.23)
    hit = series(slow, extreme=True)
    spared = series(threads=True)
    assert "bad" in colours(plots(bisection(change_points=(slow,), series=(hit,)))[0])
    numbered = plots(bisection(change_points=(slow,), series=(spared,)))[0]
    assert numbered.count("var(--bad)") == 1  # its number
    assert "good" not in colours(numbered)


def test_a_change_that_may_be_at_one_of_several_revisions_has_a_band() -> None:
    sure, unsure = (move(12, ratio=1.2, first=first) for first in (12, 9))
    for point, banded in ((sure, False), (unsure, True)):
        drawn = plots(bisection(change_points=(point,), series=(series(point),)))[0]
        assert ("band" in colours(drawn)) is banded


@pytest.mark.parametrize("failed", [(), (8, 9, 10)])
def test_failures_are_crosses(failed: tuple[int, ...]) -> None:
    drawn = plots(bisection(series=(series(failed=failed),)))[0]
    assert drawn.count("<use ") == len(series(failed=failed).points) + len(failed)


def test_ten_thousand_revisions_are_drawn_as_a_sample() -> None:
    many = tuple(Point(revision=str(i), place=i, value=1.0 + i % 7 / 100, trials=1) for i in range(10_000))
    found = tuple(move(100 * i, ratio=1.1, places=(100 * i, 100 * i, 100 * i)) for i in range(1, 90))
    report = bisection(revisions=10_000, series=(Series(options={}, points=many),) * 8, change_points=found)
    assert sum(map(len, plots(report))) < 1_000_000


def test_labels_without_room_are_left_out_but_each_row_keeps_apart() -> None:
    found = tuple(move(p, ratio=1.1) for p in range(1, 39))
    wide = plots(bisection(change_points=found, series=(series(),)))[0]
    numbers = [t for t in texts(wide) if re.match(r"\d+( |$)", t)]
    assert "1 " + found[0].label in numbers
    assert len([t for t in numbers if " " in t]) < len(found)


@pytest.mark.parametrize(
    "report",
    [
        builders.unmeasured(),
        bisection(series=()),
        bisection(series=(once(1.0),), revisions=1),
        bisection(series=(once(float("nan")),)),
    ],
    ids=["unmeasured", "no series", "one revision", "not a number"],
)  # fmt: skip
def test_nothing_to_draw_draws_nothing(report: Report) -> None:
    assert plots(report) == ()
    assert "<svg" not in page(report)


def test_a_picture_without_change_points_is_not_explained_by_them() -> None:
    slow = move(12, "extreme", ratio=1.23)
    found = bisection(change_points=(slow,), series=(series(slow, extreme=True),))
    assert "Lines are the change points" in page(found)
    assert "Lines are the change points" not in page(found.model_copy(update={"change_points": ()}))


def test_no_axis_goes_below_the_loss_of_everything() -> None:
    rose, fell = move(12, "extreme", ratio=9.0), move(24, ratio=0.4)
    shown = (series(fell, rose, extreme=True), series(fell))
    for svg in plots(bisection(change_points=(rose, fell), series=shown)):
        falls = [int(found[1]) for text in texts(svg) if (found := re.fullmatch(r"-(\d+) %", text))]
        assert falls and max(falls) <= 100
