"""Lines on what varies, for a terminal."""

from __future__ import annotations

from bot.model.overhead import OverheadDriver, ProfilerOverhead
from bot.model.variation import CallGroup, ContextFactor, Variation
from bot.report.variation_text import overhead_text, variation_text

PARSE = Variation(
    method="shop:parse",
    measurement=0.02,
    configuration=0.4,
    context=1.3,
    calls=1234,
    trials=10,
    factors=(
        ContextFactor(
            by="callers",
            share=0.31,
            slowest=(CallGroup(value="a > b > c > d", calls=20, seconds=0.004, times=3.0),),
        ),
        ContextFactor(
            by="arguments",
            share=0.62,
            slowest=(CallGroup(value="n=int ~2^20", calls=14, seconds=0.0012, times=12.3),),
        ),
    ),
)
STEADY = Variation(method="shop:main", measurement=0.02, configuration=0.4)


def test_a_method_has_its_three_variations_and_what_goes_with_slow_calls_most_telling_first() -> None:
    assert variation_text([PARSE], every=True) == (
        "shop:parse\n"
        "  variation of its time: 2 % between repetitions, 40 % between configurations, 130 % between"
        " the calls of a run\n"
        "  slow calls go with their arguments: 62 % of the variance\n"
        "    12.3 times the usual: n=int ~2^20 (14 calls of 1.2 ms)\n"
        "  slow calls go with their callers: 31 % of the variance\n"
        "    3 times the usual: b > c > d (20 calls of 4.0 ms)\n"
        "\n"
    )


def test_a_method_that_was_not_watched_says_so_where_it_is_asked_for() -> None:
    assert variation_text([STEADY], every=False) == ""
    text = variation_text([STEADY, Variation(method="shop:rare")], every=True)
    assert text.count("its single calls were not watched") == 2 and "variation of its time: not known" in text


def test_only_methods_that_depend_on_the_context_are_in_the_overview() -> None:
    text = variation_text([STEADY, PARSE], every=False)
    assert text.startswith("Methods whose single calls differ more than configurations do\n\nshop:parse\n")
    assert "shop:main" not in text


def test_factors_that_explain_next_to_nothing_are_not_told() -> None:
    weak = PARSE.model_copy(update={"factors": (PARSE.factors[0].model_copy(update={"share": 0.05}),)})
    text = variation_text([weak], every=True)
    assert "stand out among its slow calls (1,234 calls)" in text and "5 %" not in text


def test_a_factor_without_a_slow_group_is_not_told() -> None:
    empty = PARSE.model_copy(update={"factors": (PARSE.factors[0].model_copy(update={"slowest": ()}),)})
    assert "no arguments or callers stand out" in variation_text([empty], every=True)


def test_names_of_strangers_are_harmless() -> None:
    evil = PARSE.model_copy(update={"method": "shop\x1b[31m:parse\nNote"})
    assert "\x1b" not in variation_text([evil], every=True)


def test_each_profiler_has_a_line() -> None:
    drivers = (
        OverheadDriver(option="toc", correlation=0.72),
        OverheadDriver(option="smarty", correlation=-0.5),
    )
    one = ProfilerOverhead(
        tool="cProfile 3.12", configurations=40, pearson=0.991, spearman=None, ratio=1.9, drivers=drivers
    )
    assert overhead_text([one]) == (
        "What profiling costs\n"
        "cProfile 3.12: 1.90 times the unprofiled seconds; over 40 configurations Pearson 0.99, Spearman not"
        " known; its overhead goes with toc (+0.72), smarty (-0.50)\n"
        "\n"
    )
    assert overhead_text([]) == ""
