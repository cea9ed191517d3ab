"""Methods behind a change: who is named, where, with which share, in how few words."""

import pytest

from bot.model.report import OptionValue, Report
from bot.model.report_methods import ComparedProfile, MethodSuspect
from bot.report.annotated import line_annotations
from bot.report.headline import headline
from bot.report.media import html, markdown
from bot.report.methods import methods
from bot.report.parts import Bullets, Section, Table
from bot.report.render import comment, page
from tests.unit.report import builders, method_reports
from tests.unit.report.builders import DEFAULT
from tests.unit.report.method_reports import REPOSITORY, blaming, method, profile

COMMENT, PAGE = 20, 1000
OTHER = DEFAULT | {"reduce_vars": False}


def told(found: Report, rows: int = COMMENT) -> Section:
    section = methods(found, rows)
    assert section is not None
    return section


def table(found: Report, rows: int = COMMENT) -> list[dict[str, str]]:
    """Rows of the first table, by column."""
    first = next(b for b in told(found, rows).blocks if isinstance(b, Table))
    names = [str(cell) for cell in first.header]
    return [dict(zip(names, [markdown(c) for c in row], strict=True)) for row in first.rows]


def lines(found: Report) -> list[str]:
    """What is listed last."""
    return [[markdown(i) for i in b.items] for b in told(found).blocks if isinstance(b, Bullets)][-1]


def title(found: Report) -> str:
    return markdown(headline(found).title)


def test_the_headline_names_the_guilty_method_its_share_and_its_place() -> None:
    found = headline(method_reports.of_python())
    assert "+34 % CPU time (81 % in `terser.compress:Compressor.before`)" in markdown(found.title)
    assert markdown(found.lead[2]).startswith(
        "**81 %** of it (73 to 88) is in `terser.compress:Compressor.before` ([`terser/compress.py:412`]("
    )
    assert "in and around `terser.compress:Compressor.before`" in markdown(found.action)


def test_of_a_method_outside_it_is_told_who_in_the_repository_leads_to_it() -> None:
    owner = {"method": "plugin:<module>", "file": "lib/plugin.py", "line": 1}
    found = headline(blaming(method("importlib:load", 0.8, file=None, line=None, owner=owner)))
    said = " ".join(map(markdown, found.lead))
    assert "is in `importlib:load` (reached from `plugin:<module>` in [`lib/plugin.py:1`](" in said
    assert "in and around `plugin:<module>`" in markdown(found.action)


def test_nobody_is_sent_to_look_for_a_change_inside_of_a_method_whose_text_is_the_same() -> None:
    found = headline(blaming(method("window", 0.9, file="dsp.c", line=52, same_text=True)))
    said = " ".join(map(markdown, found.lead))
    assert "is in `window` ([`dsp.c:52`](" in said and ", whose text did not change)" in said
    action = markdown(found.action)
    assert "changed in what `window` calls (that may be inlined into it), what calls it, or what" in action
    assert "its own text is the same at both. If that is nothing, its code may only lie elsewhere" in action
    assert "in and around" not in action


def test_a_method_without_a_text_and_a_known_caller_is_not_called_new_nor_looked_for_in_the_change() -> None:
    report = blaming(method("strncmp", 0.9, file=None, line=None, change="new"))
    found = headline(report)
    assert any("is in `strncmp` (which is not seen at base)" in markdown(said) for said in found.lead)
    assert "changed in `strncmp` or in what calls it" in markdown(found.action)
    assert table(report)[0]["Method"] == "`strncmp` (not seen at base)"


def test_a_method_that_no_sample_met_at_base_is_not_called_new() -> None:
    sampled = method("put", 0.9, file="db.c", line=7, change="new", calls=(None, None))
    counted = method("put", 0.9, file="db.c", line=7, change="new", calls=(0, 9))
    assert table(blaming(sampled))[0]["Method"] == "`put` (not seen at base)"
    assert told(blaming(sampled)).title == "Methods: 1 not seen at base"
    assert table(blaming(counted))[0]["Method"] == "`put` (new)"


@pytest.mark.parametrize(
    "doubtful",
    [
        method("m", 0.2),  # too small a share
        method("m", 0.6, interval=(-0.1, 1.3)),  # perhaps none at all
        method("m", 0.6, options=OTHER),  # where the blamed term does not hold
    ],
)
def test_a_doubtful_method_is_in_the_table_but_not_in_the_headline(doubtful: MethodSuspect) -> None:
    found = blaming(doubtful)
    assert "`m`" not in title(found)
    assert not any("`m`" in markdown(sentence) for sentence in headline(found).lead)
    assert table(found)[0]["Method"] == "`m`"


@pytest.mark.parametrize("other", [{"control": True}, {"change_seconds": -0.1}])
def test_a_control_or_what_became_faster_is_not_behind_a_slow_down(other: dict[str, object]) -> None:
    assert "`m`" not in title(blaming(method("m", 0.9), profiles=(profile(**other),)))


def test_who_only_calls_more_is_not_counted_as_slower() -> None:
    caller = method("warm", 0.0, change="calls", interval=(-0.01, 0.01))
    found = blaming(method("m", 0.9), caller)
    assert told(found).title == "Methods: 1 slower, 1 calling more"
    assert [row["Method"] for row in table(found)] == ["`m`", "`warm` (calls more)"]
    assert table(found)[1]["Share of the change"] == "not by itself"


def test_a_bound_just_below_nothing_has_no_sign() -> None:
    found = blaming(method("m", 0.006, interval=(-0.002, 0.012)))
    assert table(found)[0]["Share of the change"] == "0.6 % (0 to 1)"


def test_seconds_explain_no_memory() -> None:
    found = blaming(method("m", 0.9))
    memory = tuple(e.model_copy(update={"metric": "max_rss"}) for e in found.suspects.options)
    found = found.model_copy(
        update={"suspects": found.suspects.model_copy(update={"options": memory}), "effects": memory}
    )
    assert "`m`" not in title(found)


def test_what_no_method_explains_is_a_row() -> None:
    rows = table(method_reports.of_python())
    assert rows[-1]["Method"] == "not explained by a method"
    assert rows[-1]["Share of the change"] == "12 %"


def test_a_rest_below_nothing_moved_the_other_way() -> None:
    rows = table(blaming(method("m", 1.3), profiles=(profile(unexplained=-0.3),)))
    assert (rows[-1]["Method"], rows[-1]["Share of the change"]) == ("the rest moved the other way", "-30 %")


def test_more_than_all_of_a_change_is_all_of_it() -> None:
    found = blaming(method("m", 1.29))
    assert "CPU time (all in `m`)" in title(found)
    assert markdown(headline(found).lead[2]).startswith("**All** of it (121 to 136 %) is in `m`")


def test_two_methods_are_in_the_headline_when_they_explain_at_most_all_of_it() -> None:
    for share, named in ((0.35, True), (0.45, False)):
        said = markdown(headline(blaming(method("m", 0.6), method("n", share))).lead[2])
        assert ("`n`" in said) is named and "`m`" in said


def test_new_vanished_and_renamed_methods_are_said_to_be_so() -> None:
    new, renamed, gone, _ = table(method_reports.of_native())
    assert (new["Method"], new["Own time"]) == ("`mf_skip_raw` (new)", "nothing to 190 ms")
    assert renamed["Method"] == "`lzma_mf_hc4_find` (was `lzma_mf_hc_find`)"
    assert (gone["Method"], gone["Own time"]) == ("`mf_fill` (gone)", "20 ms to nothing")


def test_a_method_that_stands_in_both_checkouts_is_called_now_or_no_longer_and_neither_new_nor_gone() -> None:
    called = {"stands": "called", "file": "a.py"}
    inlined = {"stands": "perhaps inlined", "file": "a.c"}
    found = blaming(
        method("now", 0.6, change="new", calls=(0, 5), callers=("main", "page"), **called),
        method("was", -0.1, change="vanished", calls=(5, 0), **called),
        method("small", 0.3, change="new", calls=(0, 5), **inlined),
        method("tiny", -0.1, change="vanished", calls=(5, 0), **inlined),
        method("unknown", -0.1, change="vanished", calls=(None, None), **called),
    )
    assert [row["Method"] for row in table(found)][:5] == [
        "`now` (called now)",
        "`was` (no longer called)",
        "`small` (called now, or inlined at base)",
        "`tiny` (no longer called, or inlined at head)",
        "`unknown` (not seen at head)",
    ]
    assert "changed in and around `page`, which calls `now` now." in markdown(headline(found).action)
    annotated = [one.title for one in line_annotations(found)]
    assert annotated == ["now is called now, and costs", "small is called now, or inlined at base, and costs"]


def test_a_method_is_linked_at_head_and_a_vanished_one_at_base() -> None:
    new, _, gone, _ = table(method_reports.of_native())
    path = "src/liblzma/lz/lz_encoder_mf.c"
    assert f"({REPOSITORY}/blob/9c6e7f10f5d06d6c3ba4f3c9f3eb0df7c7b0a7d2/{path}#L601)" in new["Where"]
    assert f"({REPOSITORY}/blob/4ac97a4b1d1a9a9b4ce1b2b1c2a4ed8d3b1b2a10/{path}#L77)" in gone["Where"]


@pytest.mark.parametrize(
    "file",
    ["../../../evil/x/y.py", "/etc/passwd", "a//evil.example/b", "a\\b", "a\nb", "./a", "d/" * 200 + "x"],
)
def test_a_path_that_could_lead_elsewhere_is_no_link(file: str) -> None:
    assert "](" not in table(blaming(method("m", 0.9, file=file)))[0]["Where"]


def test_a_path_of_odd_letters_is_a_link_to_itself_only() -> None:
    where = table(blaming(method("m", 0.9, file="a b)[x](y)/é#?.c")))[0]["Where"]
    assert where.endswith("/a%20b%29%5Bx%5D%28y%29/%C3%A9%23%3F.c#L412)")


def test_without_a_repository_or_a_commit_places_are_text() -> None:
    assert table(blaming(method("m", 0.9), repository=""))[0]["Where"] == "`lib/compress/index.js:412`"
    unknown = builders.BASE.model_copy(update={"revision": "7"})
    assert "](" not in table(blaming(method("m", 0.9), head=unknown))[0]["Where"]


def test_links_of_the_page_lead_to_the_repository() -> None:
    cell = next(b for b in told(blaming(method("m", 0.9))).blocks if isinstance(b, Table)).rows[0][1]
    assert str(html(cell)).startswith(f'<a href="{REPOSITORY}/blob/')


def test_columns_without_content_are_left_out() -> None:
    assert list(table(method_reports.of_improvement())[0]) == ["Method", "Own time", "Share of the change"]


def test_calls_are_told_when_they_changed_for_some_method() -> None:
    assert [row["Calls"] for row in table(method_reports.of_python())] == ["10,412", "1,204 to 2,408", ""]
    assert "Calls" not in table(blaming(method("m", 0.9)))[0]


def test_instructions_are_for_the_page() -> None:
    found = method_reports.of_native()
    assert "Instructions" not in table(found)[0]
    assert [row["Instructions"] for row in table(found, PAGE)[:2]] == [
        "nothing to 812 M",
        "3.105 G to 3.904 G",
    ]


def test_the_hot_path_is_short_in_a_comment() -> None:
    renamed = method_reports.of_native().suspects.methods[1]
    found = blaming(renamed)
    assert lines(found) == ["`lzma_mf_hc4_find` is reached by … → `lz_encode` → `lzma_lzma_optimum_fast`"]
    whole = "main → coder_run → lzma_code → lz_encode → lzma_lzma_optimum_fast"
    assert f"lzma_mf_hc4_find is reached by {whole}" in [
        str(i) for b in told(found, PAGE).blocks if isinstance(b, Bullets) for i in b.items
    ]


def test_a_comment_has_one_table_and_the_page_one_for_each_configuration() -> None:
    found = method_reports.of_native()
    assert [sum(isinstance(b, Table) for b in told(found, rows).blocks) for rows in (COMMENT, PAGE)] == [1, 7]


def test_configurations_that_blame_the_same_methods_share_a_line() -> None:
    shares = (0.51, 0.48, 0.55)
    options: list[dict[str, OptionValue]] = [DEFAULT | {"ecma": name} for name in "abc"]
    several = [method("m", s, options=o) for s, o in zip(shares, options, strict=True)]
    found = blaming(method("n", 0.9), *several)
    assert lines(found) == ["`ecma=a`; `ecma=b`; `ecma=c`: `m` 48 to 55 %"]
    assert lines(method_reports.of_native()) == [
        "`passes=3`: `mf_skip_raw` 51 %, `lzma_mf_hc4_find` 44 %, not explained 5 %",
        "`ecma=es2015`; `ecma=es2016`; `ecma=es2017`; 2 more: `mf_skip_raw` 51 %, not explained 49 %",
    ]


def test_many_methods_are_counted() -> None:
    found = blaming(*(method(f"m{i}", 0.01) for i in range(1000)))
    assert len(table(found)) == 5
    assert "and 995 more methods, in the report" in [str(b) for b in told(found).blocks]
    assert told(found).title == "Methods: 1,000 slower"


@pytest.mark.parametrize(("overhead", "said"), [(0.98, "about as long"), (2.294, "2.29 times as long")])
def test_a_profiled_trial_is_never_told_to_be_quicker_than_another(overhead: float, said: str) -> None:
    found = blaming(method("m", 0.9), profiles=(profile(overhead=overhead),))
    assert any(str(b).endswith(f"a profiled trial took {said}.") for b in told(found).blocks)


def test_the_cost_of_profiling_and_the_control_are_told() -> None:
    said = [str(b) for b in told(method_reports.of_python()).blocks]
    assert "Profiled with cProfile 3.12; a profiled trial took 1.42 times as long." in said
    assert "As a control, without an alarm: reduce_vars off. What moves there too is not blamed." in said
    control = ComparedProfile(options=OTHER, control=True, change_seconds=0.0)
    moved = blaming(method("m", 0.9), method("n", 0.3, options=OTHER), profiles=(profile(), control))
    assert told(moved).title == "Methods: 1 slower"


def test_what_the_profiler_cannot_see_is_for_the_page() -> None:
    found = method_reports.of_python()
    said = [str(b) for b in told(found, PAGE).blocks]
    place = said.index("What it cannot see, or sees wrongly:")
    assert said[place - 1].startswith("Profiled with cProfile 3.12")
    (bullet,) = (
        b
        for b in told(found, PAGE).blocks
        if isinstance(b, Bullets) and method_reports.BLIND in map(str, b.items)
    )
    assert len(bullet.items) == 1
    assert "What it cannot see, or sees wrongly:" not in [str(b) for b in told(found).blocks]


def test_what_reverting_a_method_restores_is_its_proof() -> None:
    found = blaming(method("m", 0.9, restored=0.93, restored_interval=(0.86, 1.01)))
    assert markdown(headline(found).lead[2]).endswith(
        "; without its change alone, **93 %** (86 to 101) is gone."
    )
    said = [str(b) for b in told(found).blocks]
    assert said[-1] == "A build of head without the change of m loses 93 % (86 to 101) of it."


def test_before_a_method_that_was_reverted_in_vain_comes_one_that_explains_enough() -> None:
    innocent = method("m", 0.6, restored=0.0, restored_interval=(-0.05, 0.05))
    assert "`other`" in markdown(headline(blaming(innocent, method("other", 0.3))).title)
    assert "`other`" not in markdown(headline(blaming(innocent, method("other", 0.2))).title)


def test_a_method_whose_own_change_was_reverted_in_vain_is_not_the_title_and_told_to_be_innocent() -> None:
    found = headline(blaming(method("m", 0.9, restored=-0.03, restored_interval=(-0.08, 0.02))))
    assert "`m`" not in markdown(found.title)
    assert markdown(found.lead[2]).endswith(
        "; its own change is not why: without that alone **-3 %** (-8 to 2) is gone."
    )
    assert found.action is not None
    assert "a build of head without the change of its own text takes about as long." in markdown(found.action)


@pytest.mark.parametrize(("own", "named"), [(1.0, False), (0.3, True)])
def test_a_program_without_names_is_not_told_to_be_where_its_own_time_is_and_a_library_is(
    own: float, named: bool
) -> None:
    stripped = method("[ruff]", 0.9, file=None, base_self_seconds=own - 0.2, head_self_seconds=own)
    flame = (("main", -1, 1.0, 1.2), ("[ruff]", 0, own - 0.2, own))
    found = headline(blaming(stripped, profiles=(profile(*flame),)))
    told_of = " ".join(map(markdown, (found.title, *found.lead)))
    assert ("in `[ruff]`" in told_of) is named


def test_a_share_that_includes_callees_says_so() -> None:
    found = blaming(method("m", 0.9, with_callees=True, file=None))
    assert markdown(headline(found).lead[2]) == "**90 %** of it (82 to 97) is in `m` and what it calls."
    assert table(found)[0]["Share of the change"] == "90 % (82 to 97), with what it calls"


def test_profiles_that_blame_nobody_say_so_and_a_control_alone_says_nothing() -> None:
    assert told(method_reports.of_nobody()).title == "Methods: none stands out"
    assert methods(blaming(profiles=(profile(control=True),)), COMMENT) is None
    assert methods(blaming(), COMMENT) is None


def test_configurations_whose_values_only_look_alike_are_kept_apart() -> None:
    found = blaming(method("m", 0.9, options={"a": True}), method("n", 0.9, options={"a": 1}))
    assert len([b for b in told(found, PAGE).blocks if isinstance(b, Table)]) == 2


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1e308, 1e308, 0.0])
def test_numbers_that_nobody_measured_break_nothing(number: float) -> None:
    odd = method(
        "m",
        number,
        interval=(number, number),
        base_self_seconds=number,
        head_self_seconds=number,
        calls=(10**400, -1),
        instructions=(10**400, -1),
        line=-(10**400),
        restored=number,
        restored_interval=(number, number),
    )
    node = ("m", -1, number, number)
    found = blaming(
        odd, profiles=(profile(node, change_seconds=number, unexplained=number, overhead=number),)
    )
    assert comment(found).startswith("### 🔴 Slower with ")
    assert "<h1>" in page(found)
