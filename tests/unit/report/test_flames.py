"""Differential flame graphs: boxes where and as wide as they must be, colours, names, what is left out."""

import re
from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from bot.model.report import Report
from bot.report.flames import MOST_GRAPHS, flames
from bot.report.parts import Figure, Table
from bot.report.view import view
from tests.unit.report import method_reports
from tests.unit.report.builders import DEFAULT, report
from tests.unit.report.method_reports import blaming, method, profile
from tests.unit.report.test_comment import NAMES

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Box:
    """A drawn call path in SVG units; style: its colours."""

    title: str
    left: float
    right: float
    top: float
    style: str


def figures(found: Report) -> list[Figure]:
    section = flames(found)
    return [b for b in section.blocks if isinstance(b, Figure)] if section else []


def boxes(svg: str) -> dict[str, Box]:
    """First line of its title -> box."""
    made: dict[str, Box] = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        title, path = group.find(f"{SVG}title"), group.find(f"{SVG}path")
        if title is not None and title.text and path is not None:
            points = [float(x) for x in re.findall(r"-?[\d.]+", path.get("d", ""))]
            left, right = min(points[::2]), max(points[::2])
            name = title.text.partition("\n")[0]
            made[name] = Box(title.text, left, right, min(points[1::2]), path.get("style", ""))
    return made


def labels(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


TREE = (
    ("main", -1, 4.0, 6.0),
    ("slower", 0, 1.0, 2.8),
    ("faster", 0, 1.0, 0.5),
    ("same", 0, 1.0, 1.0),
    ("new", 0, 0.0, 0.7),
    ("leaf", 1, 0.9, 0.9),
)


def drawn(*tree: tuple[str, int, float, float], **fields: object) -> dict[str, Box]:
    found = blaming(method("slower", 0.9), profiles=(profile(*tree, change_seconds=2.0),), **fields)
    return boxes(figures(found)[0].svgs[0])


def test_a_box_is_as_wide_as_its_mean_cost_and_lies_below_its_caller() -> None:
    found = drawn(*TREE)
    unit = (found["main"].right - found["main"].left) / 5.0
    widths = {name: round((box.right - box.left) / unit, 2) for name, box in found.items()}
    assert widths == {"main": 5.0, "slower": 1.9, "faster": 0.75, "same": 1.0, "new": 0.35, "leaf": 0.9}
    assert found["main"].top < found["slower"].top < found["leaf"].top
    for child, parent in (("slower", "main"), ("new", "main"), ("leaf", "slower")):
        assert found[parent].left <= found[child].left + 0.01
        assert found[child].right <= found[parent].right + 0.01
    siblings = sorted((found[n] for n in ("slower", "faster", "same", "new")), key=lambda b: b.left)
    assert all(a.right <= b.left + 0.01 for a, b in pairwise(siblings))


def test_colour_says_what_a_path_changed_by_itself() -> None:
    found = drawn(*TREE)
    assert "var(--red-3)" in found["slower"].style
    assert "var(--blue-2)" in found["faster"].style
    assert "var(--red-2)" in found["new"].style
    for name in ("main", "same", "leaf"):
        assert "fill: var(--plain)" in found[name].style


def test_a_control_is_not_coloured_by_its_noise() -> None:
    tree = (("main", -1, 1.0, 1.001), ("f", 0, 0.5, 0.501))
    control = profile(*tree, control=True, change_seconds=0.0)
    svg = figures(blaming(profiles=(control,)))[0].svgs[0]
    assert "--red" not in svg and "--blue" not in svg
    assert "Nothing moved." in svg


def test_methods_of_the_table_are_framed_and_the_others_are_not() -> None:
    found = drawn(*TREE)
    assert "stroke: var(--ink)" in found["slower"].style
    assert "stroke: var(--paper)" in found["faster"].style


def test_pointing_at_a_box_tells_its_seconds() -> None:
    assert drawn(*TREE)["slower"].title == "slower\n1.0 s to 2.8 s with all it calls; by itself +1.8 s"


def test_the_table_below_tells_the_largest_differences_in_words() -> None:
    section = flames(blaming(profiles=(profile(*TREE, change_seconds=2.0),)))
    assert section is not None
    table = next(b for b in section.blocks if isinstance(b, Table))
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["main → slower", "1.0 s to 2.8 s", "+1.8 s"],
        ["main → new", "0 ms to 700 ms", "+700 ms"],
        ["main → faster", "1.0 s to 500 ms", "-500 ms"],
    ]
    assert "slower +1.8 s; new +700 ms; faster -500 ms" in figures(
        blaming(profiles=(profile(*TREE, change_seconds=2.0),))
    )[0].svgs[0].replace("&#43;", "+")


def test_a_long_name_shows_its_last_part_or_its_ends_or_nothing() -> None:
    long = "package.module.sub:Class.method_of_it"
    tree = (
        ("main", -1, 10.0, 10.0),
        (long, 0, 1.8, 1.8),
        ("std::map<int, a::b<c>>::find_all(x y)", 0, 1.5, 1.5),
        ("package.other:narrow", 0, 0.1, 0.1),
    )
    shown = labels(figures(blaming(profiles=(profile(*tree),)))[0].svgs[0])
    assert "Class.method_of_it" in shown and long not in shown
    assert any(t.startswith("std::") and "…" in t for t in shown)
    assert not any("narr" in t for t in shown)


def test_graphs_are_bounded_with_the_control_at_the_end() -> None:
    several = [profile(*TREE, options=DEFAULT | {"passes": n}, control=n == 0) for n in range(6)]
    found = blaming(profiles=tuple(several))
    assert len(figures(found)) == MOST_GRAPHS
    section = flames(blaming(profiles=tuple(several[:2])))
    assert section is not None
    said = [str(b) for b in section.blocks]
    assert said[0] == "default configuration:"
    assert "passes=0 (control, without an alarm):" in said


@pytest.mark.parametrize(
    "tree",
    [
        (("a", 5, 1.0, 1.0), ("b", 1, 1.0, 1.0)),  # parents that come later or are themselves
        (("a", -1, float("nan"), 1.0),),
        (("a", -1, float("inf"), 1.0),),
        (),
    ],
)
def test_what_is_no_tree_of_numbers_is_not_drawn(tree: tuple[tuple[str, int, float, float], ...]) -> None:
    assert flames(blaming(profiles=(profile(*tree),))) is None


@pytest.mark.parametrize("child", [(0.5, 1e8), (-1.0, 2.0), (0.0, 0.0), (9.0, 9.0)])
def test_children_that_claim_more_than_their_parent_stay_inside(child: tuple[float, float]) -> None:
    found = drawn(("a", -1, 1.0, 1.0), ("b", 0, *child), ("c", 0, 1.0, 1.0))
    for name in ("b", "c"):
        if name in found:
            assert found["a"].left - 0.01 <= found[name].left <= found[name].right <= found["a"].right + 0.01


def test_hundreds_of_paths_and_endless_names_stay_small() -> None:
    tree = [("r" * 10_000, -1, 300.0, 300.0)] + [("名前" * 5_000, 0, 1.0, 1.0) for _ in range(299)]
    svgs = figures(blaming(profiles=(profile(*tree),)))[0].svgs
    assert sum(len(svg) for svg in svgs) < 700_000


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_hostile_names_are_text_in_the_picture(name: str) -> None:
    found = method_reports.of_strangers(name)
    for figure in figures(found):
        for svg in figure.svgs:
            root = ElementTree.fromstring(svg)
            tags = {e.tag.removeprefix(SVG) for e in root.iter()}
            assert tags <= {"svg", "g", "path", "title", "text", "defs", "style", "clipPath", "rect", "use"}
            assert not any(key.startswith("on") or "href" in key for e in root.iter() for key in e.keys())  # noqa: SIM118
            assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x08\x0e-\x1f]", svg)


def test_pictures_are_for_the_page_only() -> None:
    found = method_reports.of_python()
    assert "flames" not in [s.key for s in view(found).sections]
    assert "flames" in [s.key for s in view(found, drawn=True).sections]
    assert flames(report()) is None
