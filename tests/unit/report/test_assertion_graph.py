"""Pictures of call paths: slow ways are red and drawn through, what moved has a halo, names are only text."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from bot.report.assertion_behaviours import behaviours
from bot.report.assertion_graph import MOST_VIOLATED, NARROW, assertion_graphs, graph_svg
from bot.report.assertion_shapes import named
from bot.report.parts import Figure, Section
from bot.report.view import view
from tests.unit.report import assertion_reports
from tests.unit.report.assertion_reports import asserted, crowded, group, held, semaphore, way
from tests.unit.report.builders import report
from tests.unit.report.test_comment import NAMES

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = {"figure 1": semaphore(), "recursive": held(), "crowd": crowded(60), "alone": crowded(1)}


def root(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in root(svg).iter(f"{SVG}text")]


def lines(svg: str) -> dict[str, list[dict[str, str]]]:
    """First line of a call's title -> its strokes and halos."""
    found = {}
    for shape in root(svg).iter(f"{SVG}g"):
        title = shape.find(f"{SVG}title")
        strokes = [path.attrib for path in shape.findall(f"{SVG}path") if path.get("fill") == "none"]
        if title is not None and title.text and strokes:
            found[title.text.partition("\n")[0]] = strokes
    return found


def sections(*outcomes: object) -> dict[str, Section]:
    return {section.key: section for section in assertion_graphs(report(assertions=outcomes))}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("room", [840.0, NARROW])
def test_a_picture_is_well_formed_described_and_in_the_pages_colours(name: str, room: float) -> None:
    svg = graph_svg(PICTURES[name], room=room)
    top = root(svg)
    assert top.get("role") == "img" and top.get("aria-label", "").startswith("Call paths to ")
    told = top.find(f"{SVG}desc")
    assert told is not None and "Group 1, when " in (told.text or "")
    assert not re.search(r"#[0-9a-f]{3,8}\b|nan|inf\b", svg)
    assert room <= float(top.get("width", "0")) <= 2 * room
    assert svg == graph_svg(PICTURES[name], room=room)


def test_the_slowest_group_is_red_and_drawn_through_and_the_fastest_is_blue() -> None:
    looks = behaviours(semaphore())
    assert [look.colour for look in looks] == ["var(--group-4)", "var(--group-5)", "var(--group-1)"]
    assert looks[1].dash == "" and len({look.dash for look in looks}) == 3


def test_twelve_groups_differ_in_colour_or_dash_at_least_from_their_neighbours_in_speed() -> None:
    groups = tuple(group(f"e{k}", expected=(1 - k / 12, k / 12)) for k in range(12))
    looks = behaviours(semaphore(groups=groups))
    assert all(a.dash != b.dash for a, b in pairwise(looks))
    assert (looks[0].colour, looks[-1].colour) == ("var(--group-1)", "var(--group-5)")


def test_a_call_has_a_stroke_for_each_group_and_a_halo_for_what_moved() -> None:
    strokes = lines(graph_svg(semaphore()))["main calls ap_mpm_run"]
    assert [s["stroke"] for s in strokes] == [
        "var(--bad)",
        "var(--group-4)",
        "var(--group-5)",
        "var(--group-1)",
    ]
    starts = [float(re.findall(r"-?[\d.]+", s["d"])[0]) for s in strokes[1:]]
    assert starts[1] - starts[0] == pytest.approx(starts[2] - starts[1]) and starts[0] < starts[1]


def test_calls_of_conditions_are_thicker_and_named() -> None:
    svg = graph_svg(semaphore())
    thick = {title: float(s[-1]["stroke-width"]) for title, s in lines(svg).items()}
    selected = {title for title, width in thick.items() if width == max(thick.values())}
    assert selected == {f"{c} calls proc_mutex_sysv_acquire" for c in ("startup_children", "child_main")}
    assert texts(svg).count("e1") == texts(svg).count("e2") == 2  # in the graph, and in the legend
    assert "child_main → proc_mutex_sysv_acquire" in texts(svg)


def test_the_legend_tells_each_groups_condition_outcome_and_shares() -> None:
    told = texts(graph_svg(semaphore()))
    for words in (
        "when e2",
        "slower: a call takes +62 % (50 to 76)",
        "as expected",
        "calls: 1,102 at base, 1,110 at head",
        "92 %",
        "under 70 ms",
        "70 ms and more",
        "41 %",
    ):
        assert words in told, words
    assert {"no calls", "new, 3 %"} <= set(texts(graph_svg(held())))


def test_violated_ones_are_open_and_the_others_folded() -> None:
    found = sections(semaphore(), held(), crowded(3))
    assert found["assertion_graphs"].open and not found["assertion_models"].open
    figures = {key: [b for b in s.blocks if isinstance(b, Figure)] for key, s in found.items()}
    assert {key: len(drawn) for key, drawn in figures.items()} == {
        "assertion_graphs": 1,
        "assertion_models": 2,
    }
    assert all(len(figure.svgs) == 2 for drawn in figures.values() for figure in drawn)
    assert [f.caption for f in figures["assertion_models"]] == ["call-paths", ""]


def test_many_pictures_and_many_paths_are_cut_with_a_sentence() -> None:
    found = sections(*[semaphore()] * (MOST_VIOLATED + 3), crowded(60))
    assert str(found["assertion_graphs"].blocks[-1]) == "and 3 more assertions, in the report"
    last = str(found["assertion_models"].blocks[-1])
    assert re.fullmatch(r"Drawn are \d+ of 60 call paths, those that moved and the busiest.", last)


def test_without_paths_the_legend_stays_and_says_so() -> None:
    found = sections(semaphore(paths=()))["assertion_graphs"]
    assert str(found.blocks[-1]) == "Over which call paths it was reached is not known."
    svg = graph_svg(semaphore(paths=()))
    assert lines(svg) == {} and "when e2" in texts(svg)


@pytest.mark.parametrize("share", [float("nan"), float("inf"), -1.0])
def test_what_is_no_share_and_no_ratio_is_not_drawn(share: float) -> None:
    strange = group("e1", expected=(share, 0.5), observed=(share,), base=(), ratio=share, calls=(-1, 10**30))
    paths = (way("a > __semop", -5, of=0), way("b > __semop", 10**30, of=7), way("c > __semop", 0, of=-1))
    svg = graph_svg(semaphore(groups=(strange,), paths=paths, borders_seconds=(share,)))
    assert not re.search(r"\"[^\"]*\b(nan|inf)\b", svg)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_hostile_names_are_text_in_the_picture(name: str) -> None:
    for section in assertion_graphs(assertion_reports.of_strangers(name)):
        for figure in (block for block in section.blocks if isinstance(block, Figure)):
            for svg in figure.svgs:
                tags = {e.tag.removeprefix(SVG) for e in root(svg).iter()}
                assert tags <= {"svg", "g", "path", "title", "desc", "text", "rect", "circle", "line"}
                assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x08\x0e-\x1f]", svg)
                assert len(svg) < 40_000


@pytest.mark.parametrize(
    ("name", "letters", "shown"),
    [
        ("pkg.module:Class.method", 30, "pkg.module:Class.method"),
        ("package.sub.module:Class.method", 20, "module:Class.method"),
        ("std::vector<std::pair<int, char>, std::allocator<int>>::push_back", 30, "std::vector…::push_back"),
        ("std::vector<std::pair<int, char>>::push_back", 12, "push_back"),
        ("a" * 40, 9, "aaaa…aaaa"),
        ("main.(*Server).Serve", 12, "Serve"),
        ("<lambda>", 20, "<lambda>"),
        ("ns::" + "<x>" * 20, 8, "ns::…"),
    ],
)
def test_long_names_lose_arguments_then_qualifiers_then_their_middle(
    name: str, letters: int, shown: str
) -> None:
    assert len(named(name, letters)) <= letters
    assert named(name, letters) == shown


def test_pictures_are_for_the_page_only() -> None:
    keys = {"assertion_graphs", "assertion_models"}
    assert not keys & {s.key for s in view(asserted()).sections}
    assert keys <= {s.key for s in view(asserted(), drawn=True).sections}
    assert assertion_graphs(report()) == ()
