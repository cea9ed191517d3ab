"""Sections: what is counted, what is listed, in which order."""

from bot.model.report import (
    ChangePoint,
    History,
    Influence,
    Report,
    Suspects,
    Visible,
    VisibleOption,
)
from bot.model.report_assertions import AssertionGroup, AssertionOutcome
from bot.model.report_methods import MethodSuspect
from bot.report.formats import Listing, Prose
from bot.report.media import markdown
from bot.report.parts import Section, Table
from bot.report.view import view
from tests.unit.report import builders
from tests.unit.report.assertion_reports import semaphore
from tests.unit.report.builders import changed, effect, report


def section(found: Report, key: str) -> Section:
    return next(s for s in view(found).sections if s.key == key)


def rows(found: Report, key: str) -> list[list[str]]:
    return [
        [markdown(cell) for cell in row]
        for block in section(found, key).blocks
        if isinstance(block, Table)
        for row in block.rows
    ]


def test_unchanged_configurations_are_only_counted_and_the_default_comes_first() -> None:
    found = builders.regression()
    assert section(found, "configurations").title == "Configurations: 5 slower, 1 unclear, 2 unchanged"
    shown = [row[0] for row in rows(found, "configurations")]
    assert shown == [
        "default configuration",
        "`passes=3`",
        "`mangle` off",
        "`toplevel` on",
        "`unsafe` on, `source_map` on",
    ]


def test_other_metrics_follow_the_primary_one() -> None:
    changes = (
        changed(1.9, "slower", metric="max_rss", mangle=False),
        changed(1.0, "same"),
        changed(1.1, "slower", passes=3),
    )
    shown = rows(report(configurations=changes), "configurations")
    assert [row[0] for row in shown] == ["default configuration", "`passes=3`", "`mangle` off"]
    assert "peak memory" in shown[2][1]


def test_a_failed_configuration_says_why() -> None:
    shown = rows(builders.failing(), "configurations")
    assert shown[1][1].startswith("failed: head ended with exit code 1")
    assert shown[1][2] == "0 (4 failed)"


def test_unproven_suspects_are_marked_and_hopeless_ones_left_out() -> None:
    named = (effect("a", ratio=1.2), effect("b", ratio=1.1, sure=0.3, significant=False),
             effect("c", ratio=1.1, sure=0.01, significant=False))  # fmt: skip
    shown = rows(report(verdict="regression", suspects=Suspects(options=named)), "suspects")
    assert [row[0] for row in shown] == ["**`a` on**", "`b` on"]
    assert shown[1][2].endswith("not proven")


def test_an_alias_that_only_adds_what_holds_wherever_the_suspect_was_measured_is_left_out() -> None:
    named = effect("unsafe", ratio=1.2, aliases=(("mangle", "unsafe"), ("toplevel",), ("ecma=es5", "unsafe")))
    measured = (
        changed(1.0, "same"),
        changed(1.2, "slower", unsafe=True),
        changed(1.2, "slower", unsafe=True, ecma="es2020"),
        changed(None, "failed", unsafe=True, mangle=False),
    )
    fields = {"verdict": "regression", "suspects": Suspects(options=(named,))}
    ((who, *_),) = rows(report(configurations=measured, **fields), "suspects")
    assert who == "**`unsafe` on** (cannot be told apart from `toplevel` on or `ecma=es5` and `unsafe` on)"
    ((who, *_),) = rows(report(configurations=(), **fields), "suspects")
    assert "`mangle` and `unsafe` on" in who


def test_suspects_stand_in_the_order_in_which_the_headline_names_them() -> None:
    named = (effect("a", "b", ratio=1.16), effect("a", ratio=1.13, sure=0.99))
    shown = rows(report(verdict="regression", suspects=Suspects(options=named)), "suspects")
    assert [row[0] for row in shown] == ["**`a` on**", "**`a` and `b` on**"]


def test_the_table_of_what_was_visible_says_of_a_suspect_that_it_was_found() -> None:
    options = (VisibleOption(option="a", slow_down=None), VisibleOption(option="b", slow_down=None))
    named = Suspects(options=(effect("a", ratio=1.2),))
    shown = rows(report(verdict="regression", suspects=named, visible=Visible(options=options)), "visible")
    assert shown == [["`a`", "a change was found"], ["`b`", "too few pairs"]]


def test_a_clean_run_names_no_suspects() -> None:
    named = (effect("b", ratio=1.1, sure=0.3, significant=False),)
    assert "suspects" not in [s.key for s in view(report(suspects=Suspects(options=named))).sections]


def test_the_blindest_options_come_first() -> None:
    shown = rows(builders.inconclusive(), "visible")
    assert shown[0] == ["`ecma`", "too few pairs"]
    assert shown[1] == ["`passes`", "+1.8 %"]


def test_every_flagged_configuration_can_be_reproduced_by_pasting() -> None:
    found = builders.regression()
    listings = [b.text for b in section(found, "reproduce").blocks if isinstance(b, Listing)]
    assert listings[0] == "\n".join(found.reproduce[0].commands)
    for one, listing in zip(found.reproduce, listings, strict=True):
        assert "\n".join(one.commands).endswith(listing)


def test_a_script_too_long_to_show_is_not_shown_in_part() -> None:
    long = builders.reproduction().model_copy(update={"commands": ("x" * 10_000,)})
    blocks = section(builders.regression(reproduce=(long,)), "reproduce").blocks
    assert not any(isinstance(b, Listing) for b in blocks)
    assert "too long" in str(blocks[-1])


def test_the_run_states_its_noise_its_cost_and_its_history() -> None:
    told = dict(rows(report(), "run"))
    assert told["Measuring"] == "2 min 51 s of 3 min: 309 pairs, 642 trials"
    assert told["History"] == "4,812 measurements from `branch`, newest 1.4 days old"
    noise = [row[1] for row in rows(report(), "run") if row[0] == "Noise of this run"]
    assert noise[0] == "CPU time: base against base spreads by 0.83 %, shift +0.04 %, 12 pairs"


def test_a_history_in_which_nothing_compares_is_told_so() -> None:
    told = dict(rows(report(history=History(source="branch")), "run"))
    assert told["History"] == "nothing in `branch` that this run can be compared with"


def test_what_later_analyses_find_has_its_place() -> None:
    method = MethodSuspect(
        method="lib.scope:figure_out",
        file="lib/scope.js",
        line=12,
        base_self_seconds=0.2,
        head_self_seconds=0.31,
        calls=(10, 10),
        share_of_change=0.72,
        terms=(("reduce_vars",),),
    )
    group = AssertionGroup(
        expression="a > m",
        expected=(0.5, 0.5),
        observed=(0.1, 0.9),
        calls=(90, 91),
        ratio=1.8,
        interval=(1.7, 1.9),
        outcome="violated",
        said="half of them slow, now most",
    )
    violated = AssertionOutcome(
        id="a1", method="m", groups=(group,), borders_seconds=(0.1,), outcome="violated", slower=True
    )
    held = violated.model_copy(update={"id": "a2", "outcome": "held"})
    point = ChangePoint(revision="7", interval=("5", "8"), term=(), metric="cpu", ratio=1.1, probability=0.9)
    influence = Influence(
        method=None, term=("a",), influence=0.1, interval=(0.05, 0.2), share=0.3, error=0.05, noise_floor=0.01
    )
    everybody = influence.model_copy(update={"term": (), "share": 1.0})
    found = builders.regression(
        suspects=Suspects(options=(effect("a", ratio=1.2),), methods=(method,)),
        assertions=(violated, held),
        change_points=(point,),
        influences=(everybody, influence),
    )
    assert rows(found, "methods") == [
        ["`lib.scope:figure_out`", "`lib/scope.js:12`", "200 ms to 310 ms", "72 %", "`reduce_vars` on"]
    ]
    assert section(found, "assertions").title == "Performance assertions: 1 violated, 1 held, 0 undecided"
    assert rows(found, "assertions") == [
        ["`m`", "`a > m`", "half of them slow, now most", "+80 % (70 to 90)", "90 / 91"]
    ]
    assert rows(found, "change_points")[0][:3] == [
        "1",
        "revision `7` (or another of `5` to `8`)",
        "every configuration",
    ]
    assert rows(found, "influences") == [
        ["whole program", "`a` on", "+100 ms (+50 ms to +200 ms)", "30 %", "5 %"]
    ]
    assert "of what the term adds to the whole program" in str(section(found, "influences").blocks[-1])


def test_paths_that_moved_by_themselves_are_told_by_their_nearest_callers() -> None:
    paths = (("main", "session", "save", "refresh", "read"), ("load", "read"))
    one = semaphore()
    group = one.groups[1].model_copy(update={"paths": paths})
    found = builders.report(assertions=(one.model_copy(update={"groups": (group,)}),))
    assert rows(found, "assertions")[0][1] == "`… > save > refresh > read` and `load > read`"


def test_section_titles_need_no_escaping_because_a_summary_is_html() -> None:
    for found, fork in builders.states().values():
        for part in view(found, fork=fork).sections:
            assert markdown(part.title) == part.title
            assert all(isinstance(b, Prose | Table | Listing) or b.kind == "bullets" for b in part.blocks)


def test_what_the_first_configuration_sets_up_is_not_made_again_for_the_second() -> None:
    blocks = section(builders.mixed(), "reproduce").blocks
    first, second = (block for block in blocks if isinstance(block, Listing))
    assert first.text.count("worktree add") == 2
    assert second.text and "worktree" not in second.text
