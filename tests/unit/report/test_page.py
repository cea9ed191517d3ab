"""The HTML page: self-contained, harmless, with pictures that can be read without seeing them."""

import base64
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from bot.model.report import Report
from bot.report import pictures
from bot.report.render import page
from tests.unit.report import assertion_reports, builders, method_reports
from tests.unit.report.builders import effect, report, states
from tests.unit.report.test_comment import NAMES, crowd, hostile


class Elements(HTMLParser):
    """Collects every start tag with its attributes."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@cache
def harmless(make: Callable[[str], Report]) -> frozenset[str]:
    """The elements of the page whose names are harmless: one page for all hostile names."""
    return frozenset(t for t, _ in Elements(page(make("x"))).found)


@pytest.mark.parametrize("make", [hostile, method_reports.of_strangers, assertion_reports.of_strangers])
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_hostile_names_become_no_elements(name: str, make: Callable[[str], Report]) -> None:
    for tag, attributes in Elements(page(make(name))).found:
        assert tag in harmless(make)
        assert tag not in ("script", "img", "iframe", "object")
        assert not any(key.startswith("on") for key in attributes)


def test_the_page_refers_to_nothing_outside_but_the_repositorys_files() -> None:
    for name, (made, fork) in (states() | method_reports.states() | assertion_reports.states()).items():
        source = page(made, fork=fork)
        assert "default-src 'none'" in source
        assert not re.search(r"@import|url\((?!#)", source)
        for tag, attributes in Elements(source).found:
            for key in ("src", "href", "xlink:href", "action", "poster"):
                value = attributes.get(key) or ""
                files = f"{method_reports.REPOSITORY}/blob/" if tag == "a" else "#"
                assert not value or value.startswith(("data:", "#", files)), (name, tag, value)


def test_the_report_can_be_downloaded_from_its_page() -> None:
    made = builders.regression()
    href = next(a["href"] for t, a in Elements(page(made)).found if a.get("download") == "report.json")
    assert href is not None
    assert Report.model_validate_json(base64.b64decode(href.partition("base64,")[2])) == made


def test_pictures_are_well_formed_described_and_in_the_pages_colours() -> None:
    for svg in (pictures.effects(builders.regression()), pictures.configurations(builders.regression())):
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert "+34 %" in (root.get("aria-label") or "") or "8 configurations" in (
            root.get("aria-label") or ""
        )
        assert "var(--bad)" in svg and "var(--band)" in svg
        assert not re.search(r"#[0-9a-f]{6}", svg)
        assert "<text" in svg


def test_seconds_of_a_flame_graph_are_told_to_be_the_profilers_and_not_those_of_the_table() -> None:
    said = " ".join(page(method_reports.of_python()).split())
    assert "the table of methods holds all of them against the measured change" in said


def test_the_same_report_gives_the_same_page() -> None:
    assert page(builders.regression()) == page(builders.regression())


def test_a_dollar_or_an_unknown_letter_in_a_name_is_only_that() -> None:
    svg = pictures.effects(builders.regression(suspects={"options": (effect("$x^2$ 名前 <b>", ratio=1.2),)}))
    assert "$x^2$ 名前 &lt;b&gt; on" in svg


def test_five_thousand_configurations_are_drawn_as_a_sample() -> None:
    svg = pictures.configurations(crowd(5000, "o"))
    assert "5000 configurations (one in 17), from +50 % to +150 %" in svg
    assert len(svg) < 500_000


def test_nothing_to_draw_draws_nothing() -> None:
    assert pictures.effects(report()) == ""
    assert pictures.configurations(report(configurations=())) == ""
    assert "<svg" not in page(builders.equal())


def test_the_picture_of_suspects_says_that_somebody_is_spared() -> None:
    assert "every configuration, some spared" in pictures.effects(builders.spared())


def test_ratios_that_are_not_numbers_are_left_out_of_pictures() -> None:
    broken = effect("a", ratio=1.0).model_copy(update={"ratio": float("nan")})
    assert pictures.effects(report(suspects={"options": (broken,)})) == ""
