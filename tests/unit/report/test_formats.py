"""Numbers in plain words; strangers' text that can only be read as itself."""

import html as html_module
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.report import formats
from bot.report.formats import Listing, Prose, code, prose, strong
from bot.report.media import html, markdown

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = st.text(
    alphabet=st.sampled_from(list("`|*_~[]()<>!#@&;$:/.\\-+=1aé \n\t\r\x1b\u202e\u200b\x00\"'")), max_size=30
)


def inline(source: str) -> list[tuple[str, str]]:
    """(kind, content) of a one-paragraph document's inline tokens."""
    tokens = GITHUB.parse(source)
    assert [t.type for t in tokens] == ["paragraph_open", "inline", "paragraph_close"], source
    return [(t.type, t.content) for t in tokens[1].children or []]


def read(source: str) -> str:
    """What a reader sees of a one-paragraph document (zero-width spaces are not seen)."""
    shown = "".join(content for kind, content in inline(source) if kind != "html_inline")
    return shown.replace("\u200b", "")


@pytest.mark.parametrize(
    ("ratio", "interval", "said"),
    [
        (1.052, (1.046, 1.059), "+5.2 % (4.6 to 5.9)"),
        (1.34, (1.30, 1.38), "+34 % (30 to 38)"),
        (1.003, (0.998, 1.008), "+0.3 % (-0.2 to +0.8)"),
        (0.88, (0.868, 0.894), "-12 % (-13 to -11)"),
        (1.0004, (1.0001, 1.0007), "+0.04 % (0.01 to 0.07)"),
        (1.0, (1.0, 1.0), "0.0 % (0.0 to 0.0)"),
        (13.5, (13.0, 14.0), "+1,250 % (1,200 to 1,300)"),
        (float("nan"), (1.0, 2.0), "unknown"),
        (1.02, None, "+2.0 %"),
    ],
)
def test_a_change_is_told_with_as_many_digits_as_its_interval_supports(
    ratio: float, interval: tuple[float, float] | None, said: str
) -> None:
    assert formats.change(ratio, interval) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.0, "almost certain (over 99 %)"),
        (0.93, "very likely (93 %)"),
        (0.7, "likely (70 %)"),
        (0.5, "more likely than not (50 %)"),
        (0.3, "possible (30 %)"),
        (0.0, "unlikely (under 1 %)"),
    ],
)
def test_a_probability_has_words_and_a_number_and_is_never_flat(value: float, said: str) -> None:
    assert formats.probability(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0 ms"),
        (0.000042, "42 µs"),
        (0.0042, "4.2 ms"),
        (0.012, "12 ms"),
        (4.25, "4.2 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (171.2, "2 min 51 s"),
        (3900, "1 h 5 min"),
    ],
)
def test_durations_have_the_grain_a_person_cares_for(value: float, said: str) -> None:
    assert formats.seconds(value) == said


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (8e-6, 0.0, ("8 µs", "0 µs")),
        (8e-6, 1e-9, ("8 µs", "0 µs")),
        (1e-9, 0.7, ("0 ms", "700 ms")),
        (2.0, 0.0, ("2.0 s", "0 s")),
        (0.0, 0.0, ("0 ms", "0 ms")),
        (0.0008, 0.0016, ("800 µs", "1.6 ms")),
    ],
)
def test_what_rounds_to_nothing_has_the_unit_of_what_stands_beside_it(
    before: float, after: float, said: tuple[str, str]
) -> None:
    assert formats.times(before, after) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1 k"),
        (40_120_008, "40.12 M"),
        (3_104_882_113, "3.105 G"),
        (10**18, "1,000,000 T"),
    ],
)
def test_large_numbers_keep_four_digits(number: int, said: str) -> None:
    assert formats.engineering(number) == said


def test_counts_agree_with_their_nouns() -> None:
    assert formats.count(1, "pair") == "1 pair"
    assert formats.count(1234, "pair of levels", "pairs of levels") == "1,234 pairs of levels"


def test_a_long_name_loses_its_middle_only() -> None:
    shown = str(code("begin" + "x" * 10_000 + "end"))
    assert len(shown) == formats.NAME_LENGTH
    assert shown.startswith("begin") and shown.endswith("end") and "…" in shown


@pytest.mark.parametrize(
    ("name", "limit", "said"),
    [
        ("a.b:C.run", 9, "a.b:C.run"),
        ("a.b:C.run", 8, "b:C.run"),
        ("a.b:C.run", 5, "C.run"),
        ("a.b:C.run", 3, "run"),
        ("a.b:C.running", 5, "ru…ng"),
        ("org.mozilla.javascript.Parser.parse", 34, "Parser.parse"),
        ("org.mozilla.javascript.Parser.parse", 35, "org.mozilla.javascript.Parser.parse"),
        ("org.mozilla.javascript.Parser.Kind.of", 11, "Kind.of"),
        ("pkg.module.Class.method", 22, "Class.method"),
        ("pkg.module.function", 18, "module.function"),
        ("lzma::mf::find", 8, "mf::find"),
        ("lib/less/parser/parser:Parser.parse", 34, "…/less/parser/parser:Parser.parse"),
        ("lib/less/parser/parser:Parser.parse", 32, "…/parser/parser:Parser.parse"),
        ("lib/less/parser/parser:Parser.parse", 21, "…/parser:Parser.parse"),
        ("f<a::b>(c)", 7, "f<a…(c)"),
        ("endless_name", 7, "end…ame"),
        ("odd::", 4, "od…:"),
    ],
)
def test_a_qualified_name_is_told_by_its_last_parts(name: str, limit: int, said: str) -> None:
    assert formats.brief(name, limit) == said


def test_nothing_that_hides_or_reorders_text_survives() -> None:
    assert formats.clean("a\u202eb\u2066c\u200bd\ufeffe\x00f\x7fg") == "abcdefg"
    assert (
        formats.clean("\x1b[31mred\x1b[0m \x1b]8;;http://evil\x07link\x1b]8;;\x1b\\ \x9b2Jx") == "red link x"
    )
    assert formats.clean("one\ntwo\r\nthree\u2028four") == "one two  three four"
    assert formats.clean("a" + "\u0301" * 50) == "a\u0301\u0301"


@given(HOSTILE)
def test_any_text_is_read_as_itself_in_markdown(text: str) -> None:
    said = prose("said ", text, " end")
    assert read(markdown(said)) == str(said)


@given(HOSTILE)
def test_any_text_at_the_start_of_a_line_begins_no_block(text: str) -> None:
    said = prose(text.lstrip(), " end")
    assert read(markdown(said).strip()).strip() == str(said).strip()


@given(HOSTILE)
def test_any_name_is_one_piece_of_code_even_in_a_table_cell(name: str) -> None:
    said = code(name)
    table = GITHUB.parse(f"| a | b |\n|---|---|\n| {markdown(said)} | end |\n")
    cells = [t.children or [] for t in table if t.type == "inline"]
    assert len(cells) == 4
    shown = "".join(t.content for t in cells[2] if t.type != "html_inline")
    assert shown == str(said)
    assert [t.content for t in cells[3]] == ["end"]


@given(HOSTILE)
def test_the_finished_text_holds_nothing_that_github_would_link(text: str) -> None:
    tokens = GITHUB.parse(
        markdown(prose("see ", text, "@mona #12 GH-12 https://evil.example www.evil.example"))
    )
    shown = "".join(t.content for t in tokens[1].children or [] if t.type == "text")
    assert not re.search(r"@\w|#\d|(?i:gh-)\d|https?://|(?i:www)\.", shown)


@given(st.text(alphabet=st.sampled_from(list("`~ \nab<>")), max_size=60))
def test_no_content_closes_its_code_block(text: str) -> None:
    listing = Listing(text)
    tokens = GITHUB.parse(f"before\n\n{markdown(listing)}\n\nafter")
    assert [t.type for t in tokens if t.level == 0 and t.nesting >= 0] == [
        "paragraph_open",
        "fence",
        "paragraph_open",
    ]
    assert next(t for t in tokens if t.type == "fence").content.rstrip("\n") == text.rstrip("\n")


@given(HOSTILE)
def test_any_text_is_read_as_itself_in_html(text: str) -> None:
    for said in (prose(text), code(text), strong(text)):
        source = re.sub(r"</?(?:code|strong)>", "", str(html(said)))
        assert "<" not in source and ">" not in source
        assert html_module.unescape(source) == str(said)
    assert html_module.unescape(str(html(Listing(text)))) == f"<pre><code>{text}</code></pre>"


def test_emphasis_holds_code_and_text() -> None:
    said = prose("a ", strong("b ", code("c*d")), " e")
    assert markdown(said) == "a **b `c*d`** e"
    assert str(html(said)) == "a <strong>b </strong><strong><code>c*d</code></strong> e"


def test_a_sentence_keeps_its_backquoted_words_as_code() -> None:
    assert markdown(formats.sentence("repair `a|b` now")) == "repair <code>a&#124;b</code> now"


def test_a_log_is_shown_from_its_end_with_bounded_lines() -> None:
    log = "\n".join(f"line {i}" for i in range(100)) + "\n" + "y" * 10_000 + "\n\n"
    lines = formats.log_tail(log).text.split("\n")
    assert len(lines) == formats.LOG_LINES
    assert lines[-2] == "line 99"
    assert len(lines[-1]) == formats.LOG_LINE_LENGTH


def test_a_line_rewritten_in_place_shows_its_last_state() -> None:
    assert formats.log_tail("10 %\r50 %\r100 %\r\ndone").text == "100 %\ndone"


def test_commands_are_never_shortened() -> None:
    assert formats.shell(("x" * 5000,)).text == "x" * 5000


def test_joined_parts_read_like_a_sentence() -> None:
    parts: list[Prose] = [prose("a"), code("b"), prose("c")]
    assert str(formats.join(parts, ", ", " and ")) == "a, b and c"
