"""Terms, configurations and metrics in plain words."""

import pytest

from bot.report import words
from bot.report.media import markdown
from tests.unit.report.builders import DEFAULT, changed, effect, report

OTHERS = "configuration but with `a` off and `b` on"


@pytest.mark.parametrize(
    ("term", "said", "where"),
    [
        ((), "every configuration", "in every configuration"),
        (("reduce_vars",), "`reduce_vars` on", "with `reduce_vars`"),
        (("!mangle",), "`mangle` off", "without `mangle`"),
        (("compress", "!mangle"), "`compress` on and `mangle` off", "with `compress` on and `mangle` off"),
        (("a", "b", "c"), "`a`, `b` and `c` on", "with `a`, `b` and `c`"),
        (("!a", "!b", "!c"), "`a`, `b` and `c` off", "with `a`, `b` and `c` off"),
        (("mf=hc4",), "`mf=hc4`", "with `mf=hc4`"),
        (("level>=6",), "`level` at least `6`", "with `level` at least `6`"),
        (("level<3", "x"), "`level` below `3` and `x` on", "with `level` below `3` and `x` on"),
    ],
)
def test_a_term_reads_like_a_sentence(term: tuple[str, ...], said: str, where: str) -> None:
    assert markdown(words.term(term)) == said
    assert markdown(words.within(term)) == where


@pytest.mark.parametrize(
    ("spared", "said", "where"),
    [
        (("!a", "!b"), "`a` or `b` on", "with `a` or `b`"),
        (("!a", "!b", "!c"), "any of `a`, `b` and `c` on", "with any of `a`, `b` and `c`"),
        (("b",), "every configuration but with `b`", "in every configuration but with `b`"),
        (("!a", "b"), f"every {OTHERS}", f"in every {OTHERS}"),
    ],
)
def test_everything_but_without_several_options_is_any_of_them(
    spared: tuple[str, ...], said: str, where: str
) -> None:
    change = effect(ratio=1.1, spared=(spared,))
    assert markdown(words.suspect(change)) == said
    assert markdown(words.hit(change)) == where


def test_a_term_of_many_levels_is_counted() -> None:
    assert markdown(words.term(tuple("abcdefgh"))).endswith("`f` on and 2 more levels")


def test_aliases_are_what_cannot_be_told_apart() -> None:
    said = words.aliases((("a",), ("!b", "c")))
    assert markdown(said) == "(cannot be told apart from `a` on or `b` off and `c` on)"
    assert str(words.aliases(())) == ""
    assert str(words.aliases((("a",),) * 5)).endswith("or 2 others)")


def test_a_configuration_is_its_difference_from_the_default_one() -> None:
    assert markdown(words.configuration(DEFAULT, DEFAULT)) == "default configuration"
    options = DEFAULT | {"mangle": False, "passes": 3, "ecma": "es2020"}
    assert markdown(words.configuration(options, DEFAULT)) == "`mangle` off, `passes=3`, `ecma=es2020`"
    assert markdown(words.configuration({"a": True, "b": 1.5}, None)) == "`a` on, `b=1.5`"


def test_more_is_worse_unless_the_metric_says_otherwise() -> None:
    found = report(higher_is_better=("throughput",))
    assert words.worse(found, effect("a", ratio=1.1))
    assert not words.worse(found, effect("a", ratio=0.9))
    assert words.worse(found, effect("a", ratio=0.9, metric="throughput"))
    assert not words.worse(found, changed(1.1, "faster", metric="throughput"))


def test_an_amount_names_its_metric() -> None:
    assert markdown(words.amount(changed(1.31, "slower"), emphasised=True)) == "**+31 %** CPU time (30 to 32)"
    assert markdown(words.amount(changed(1.31, "slower", metric="MB"))) == "+31 % `MB` (30 to 32)"
