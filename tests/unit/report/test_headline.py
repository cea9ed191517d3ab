"""The headline's claims, sentence by sentence."""

from bot.model.report import Acceptance, Suspects, Visible, VisibleOption
from bot.model.trials import COSTLY, UNREAD
from bot.report.claims import acceptance, power
from bot.report.headline import headline
from bot.report.media import markdown
from bot.report.parts import Headline
from bot.report.render import comment
from tests.unit.report import builders
from tests.unit.report.builders import changed, effect, report


def title(**fields: object) -> str:
    return markdown(headline(report(**fields)).title)


def lead(**fields: object) -> list[str]:
    return [markdown(s) for s in headline(report(**fields)).lead]


def blamed(*effects: object) -> dict[str, object]:
    return {"verdict": "regression", "suspects": Suspects.model_validate({"options": effects})}


def test_the_primary_metric_is_told_before_the_others() -> None:
    memory = effect("a", ratio=1.5, metric="max_rss")
    assert (
        title(**blamed(memory, effect("b", ratio=1.1)))
        == "Slower with `b`: +10 % CPU time, and 1 more suspect"
    )
    assert title(**blamed(memory)) == "More memory with `a`: +50 % peak memory"


def test_an_option_leads_before_a_pair_that_holds_it_unless_the_pair_is_much_worse() -> None:
    one = effect("a", ratio=1.13)
    assert title(**blamed(effect("a", "b", ratio=1.16), one)).startswith("Slower with `a`: +13 %")
    assert title(**blamed(effect("a", "b", ratio=1.6), one)).startswith("Slower with `a` and `b`: +60 %")
    assert title(**blamed(effect("b", "c", ratio=1.16), one)).startswith("Slower with `b` and `c`: +16 %")


def test_what_comes_on_top_of_another_named_change_is_told_as_that() -> None:
    one, two, pair = effect("a", ratio=1.041), effect("b", ratio=1.2), effect("a", "b", ratio=1.034)
    (said,) = [s for s in lead(**blamed(one, pair)) if "`a` and `b`" in s]
    assert "**+3.4 %** CPU time (2.7 to 4.1) on top of the change with `a`, almost certain" in said
    (said,) = [s for s in lead(**blamed(one, two, pair)) if "`a` and `b`" in s]
    assert "on top of the change with `a` and with `b`, almost certain" in said
    doubtful = one.model_copy(update={"significant": False})
    memory = effect("a", ratio=1.5, metric="max_rss")
    assert not any("on top" in s for s in lead(**blamed(doubtful, memory, pair)))
    table = next(s for s in comment(report(**blamed(one, pair))).splitlines() if s.startswith("| **`a` and"))
    assert "(2.7 to 4.1) on top of the change with `a` |" in table


def test_a_change_of_every_configuration_is_said_so() -> None:
    found = headline(report(**blamed(effect(ratio=1.052))))
    assert markdown(found.title) == "Slower in every configuration: +5.2 % CPU time"
    assert found.accept is not None and found.accept.text == "/suspects accept everything"


def test_equal_files_say_which_base_they_are_of_where_it_is_not_the_one_that_was_asked_for() -> None:
    same = "Base and head have the same files, so their performance is the same."
    assert [markdown(s) for s in headline(builders.equal()).lead] == [same]
    replaced = "Base is b508eba, the merge base of release and main."
    found = builders.equal()
    found = found.model_copy(update={"notes": (replaced, *found.notes)})
    assert [markdown(s) for s in headline(found).lead] == [same, replaced]


def test_without_named_suspects_the_alarmed_effects_speak() -> None:
    assert title(verdict="regression", effects=(effect("a", ratio=1.1),)) == "Slower with `a`: +10 % CPU time"
    assert title(verdict="regression") == "Slower, but no option could be named"


def test_a_slow_down_nobody_can_be_named_for_says_what_is_known() -> None:
    note = "cpu got worse beyond chance, but this sample does not single out an option; closest: a, b."
    mean = effect(ratio=1.031, significant=False, sure=0.1)
    said = lead(verdict="regression", effects=(mean,), notes=(note, "Another."))
    assert said[1].startswith("On average over all configurations: **+3.1 %** CPU time")
    assert said[2] == note


def test_a_slow_down_nobody_can_be_named_for_says_whom_it_hits() -> None:
    default = {"a": False, "b": False, "level": 6}
    plain = changed(0.994, "same").model_copy(update={"options": default, "default": True})
    one, two = (
        changed(ratio, "slower").model_copy(
            update={"options": {"a": True, "b": True, "level": level}, "default": False}
        )
        for ratio, level in ((1.04, 6), (1.063, 9))
    )
    mean = effect(ratio=0.995, significant=False, sure=0.1)
    said = lead(verdict="regression", effects=(mean,), configurations=(plain, one, two))
    assert said[1].startswith("2 of 3 configurations are worse: by up to **+6.3 %** CPU time (")
    assert said[1].endswith("). Both have `a` on, `b` on.")
    assert said[2].startswith("On average over all configurations: **-0.5 %**")
    (alone,) = [s for s in lead(verdict="regression", configurations=(plain, two)) if "of 2" in s]
    assert alone.startswith("1 of 2 configurations is worse: by **+6.3 %**")
    assert alone.endswith("It has `a` on, `b` on, `level=9`.")


def test_a_run_whose_trials_never_opened_their_input_says_that_before_all_else() -> None:
    note = f"{UNREAD} `bench/a` (workload `a`), though its path was handed over."
    found = headline(report(verdict="inconclusive", notes=(note,)))
    assert found.icon == "🟡" and "no trial opened its input" in markdown(found.title)
    assert "suspects check" in markdown(found.action)
    assert note in comment(report(verdict="inconclusive", notes=(note,))).split("<details>")[0]


def test_configurations_that_left_no_time_for_the_others_are_told_beside_the_spent_budget() -> None:
    note = f"{COSTLY}: a trial takes 6.0 s with `a`, and 40 ms in the median of the others."
    text = comment(report(verdict="inconclusive", interrupted="budget", notes=(note,)))
    before = text.split("<details>")[0]
    assert before.index("was spent before every planned") < before.index(note)


def test_a_metric_that_is_better_when_higher_turns_the_words() -> None:
    found = effect("a", ratio=0.8, metric="throughput")
    fields = blamed(found) | {"higher_is_better": ("throughput",)}
    assert title(**fields) == "Worse with `a`: -20 % `throughput`"


def test_the_default_configuration_leads() -> None:
    assert lead(configurations=(changed(1.31, "slower"),))[0].startswith(
        "Default configuration: **+31 %** CPU time"
    )
    assert lead(configurations=(changed(1.001, "same"),))[0].startswith(
        "The default configuration did not change"
    )
    assert lead(configurations=(changed(1.02, "unclear"),))[0].startswith(
        "The default configuration is unclear"
    )
    far = changed(1.047, "unclear").model_copy(update={"interval": (1.027, 1.068)})
    assert lead(configurations=(far,))[0].startswith(
        "The default configuration seems worse, which is not proven: +4.7 %"
    )
    once = changed(0.64, "unclear").model_copy(update={"pairs": 1})
    assert lead(configurations=(once,))[0].startswith(
        "The default configuration is unclear, of a single pair of runs: -36 %"
    )
    assert lead(configurations=())[0] == "The default configuration was not measured."
    crash = changed(None, "failed").model_copy(update={"failure": "exit code 3"})
    assert lead(configurations=(crash,))[0] == "The default configuration **failed**: exit code 3."


def test_the_accept_line_joins_levels_and_is_left_out_when_it_cannot_be_pasted() -> None:
    assert acceptance(effect("!mangle", "compress", ratio=1.1)) == "/suspects accept !mangle+compress"
    assert acceptance(effect("a\u202eb", ratio=1.1)) == ""
    assert acceptance(effect("n" * 500, ratio=1.1)) == ""
    found = headline(report(**blamed(effect("a\nb", ratio=1.1))))
    assert found.accept is None
    assert "accept" not in markdown(found.action)


def test_an_improvement_needs_no_acceptance() -> None:
    assert headline(builders.improvement()).accept is None


def test_an_improvement_beside_which_the_default_may_be_worse_asks_for_more_time() -> None:
    found = builders.improvement()
    default = found.configurations[0].model_copy(update={"ratio": 1.026, "interval": (1.009, 1.043)})
    leaning = headline(found.model_copy(update={"configurations": (default, *found.configurations[1:])}))
    assert leaning.tone == "good"
    assert "default configuration moved by about the threshold of 1 %: +2.6 %" in markdown(leaning.lead[0])
    assert "the default configuration may have become worse" in markdown(leaning.action)
    assert "may have become" not in markdown(headline(found).action)


def _seen(*slow_downs: float | None) -> Visible:
    return Visible(
        options=tuple(VisibleOption(option=f"o{i}", slow_down=s) for i, s in enumerate(slow_downs))
    )


def test_a_green_title_with_most_options_unseen_says_so() -> None:
    few = headline(report(visible=_seen(0.02, None, None)))
    assert (few.tone, markdown(few.title)) == ("good", "No slow-down found; 2 of 3 options could not be seen")
    better = headline(builders.improvement().model_copy(update={"visible": _seen(0.02, None, None)}))
    assert better.tone == "good"
    assert markdown(better.title).endswith("; 2 of 3 options could not be seen")


def test_a_green_title_says_how_coarse_a_run_was_that_saw_no_option_well() -> None:
    coarse = headline(report(visible=_seen(0.15, 0.075, None)))
    told = "No slow-down found; nothing below +7.5 % could be seen on any option"
    assert (coarse.tone, markdown(coarse.title)) == ("good", told)
    assert markdown(headline(report(visible=_seen(0.15, 0.04, None))).title) == "No slow-down found"


def test_a_green_title_says_that_most_configurations_were_not_clear_and_what_would_make_them_clear() -> None:
    def among(wide: int, narrow: int) -> Headline:
        wider = {"interval": (0.9, 1.12)}
        shown = [changed(1.01, "unclear", n=n).model_copy(update=wider) for n in range(wide)]
        shown += [changed(1.0, "unclear", n=-n - 1) for n in range(narrow)]
        return headline(report(configurations=tuple(shown)))

    most = among(15, 1)
    assert most.tone == "good"
    assert markdown(most.title) == "No slow-down found; 15 of 16 configurations not clear by themselves"
    assert most.action is not None and markdown(most.action).startswith(
        "nothing; to see more, give it more time: comment `/suspects rerun"
    )
    assert markdown(among(12, 4).title) == markdown(among(3, 0).title) == "No slow-down found"


def test_a_green_title_with_half_of_the_options_seen_stays_short() -> None:
    assert markdown(headline(report(visible=_seen(0.02, None))).title) == "No slow-down found"


def test_power_names_the_least_visible_option_and_what_was_not_exercised() -> None:
    assert markdown(power(report())) == (
        "This run would have seen **+1.8 %** CPU time or more on any option; 3 pairs of levels not exercised."
    )
    blind = Visible(
        options=(VisibleOption(option="a", slow_down=0.02), VisibleOption(option="b", slow_down=None)),
        levels_not_exercised=("b",),
    )
    assert markdown(power(report(visible=blind))) == (
        "This run would have seen **+2.0 %** CPU time or more on 1 option; "
        "too few pairs to see any on 1 option; 1 level not exercised."
    )
    assert "not known" in markdown(power(report(visible=Visible())))


def test_an_option_that_was_found_does_not_stand_among_those_with_too_few_pairs() -> None:
    options = tuple(VisibleOption(option=n, slow_down=s) for n, s in (("a", 0.02), ("b", None), ("c", None)))
    pair = effect("b=9", "!c", ratio=1.2)
    told = report(visible=Visible(options=options), **blamed(pair))
    seen = markdown(power(told))
    assert seen == "This run would have seen **+2.0 %** CPU time or more on any other option."
    one = report(visible=Visible(options=options), **blamed(effect("b", ratio=1.2)))
    assert "on 1 option; too few pairs to see any on 1 option." in markdown(power(one))
    unproven = effect("b", ratio=1.2, significant=False)
    memory = effect("b", ratio=1.2, metric="max_rss")
    for other in (unproven, memory):
        told = report(visible=Visible(options=options), **blamed(other))
        assert "too few pairs to see any on 2 options." in markdown(power(told))


def test_a_run_that_could_have_seen_a_slow_down_of_no_option_is_not_green() -> None:
    two = tuple(VisibleOption(option=name, slow_down=None) for name in "ab")
    told = headline(report(visible=Visible(options=two, everything=0.021)))
    assert told.icon == "🟡"
    assert markdown(told.title) == "No slow-down found, but there were too few pairs to see one on any option"
    one = (two[0], VisibleOption(option="b", slow_down=0.02))
    assert headline(report(visible=Visible(options=one))).icon == "🟢"


def test_what_would_settle_an_open_question_is_not_folded_away() -> None:
    notes = ("Another note.", "To settle it: 4 more minutes.")
    assert lead(verdict="inconclusive", notes=notes)[-1] == "To settle it: 4 more minutes."
    assert "rerun" in markdown(headline(report(verdict="inconclusive")).action)


def test_failed_trials_are_told_under_every_verdict() -> None:
    found = headline(builders.failing())
    assert markdown(found.title) == "No slow-down found where trials ended well"
    assert markdown(found.caveats[0]).startswith(
        "4 of 642 trials failed, for example `unsafe` on: head ended with"
    )


def test_values_with_which_nothing_works_are_named() -> None:
    crashes = [
        changed(None, "failed", unsafe=True, level=n).model_copy(update={"failed_pairs": 2, "failure": "No."})
        for n in (1, 2, 3)
    ]
    spent = builders.SPENT.model_copy(update={"failed_trials": 6})
    found = headline(report(spent=spent, configurations=(*builders.unchanged()[:2], *crashes)))
    told = markdown(found.caveats[0])
    assert told.startswith("6 of 642 trials failed (nothing works with `unsafe` on), ")
    assert told.endswith(": No.")


def test_a_head_that_fails_where_base_works_is_no_green_report() -> None:
    found = headline(builders.head_broken())
    assert (found.tone, found.icon) == ("bad", "🟠")
    told = "Head fails with `unsafe` on and `passes=3`, where base works; no slow-down found elsewhere"
    assert markdown(found.title) == told
    assert "head never works with `unsafe` on and `passes=3`" in markdown(found.caveats[0])


def test_a_head_that_fails_where_base_works_leads_a_report_that_is_not_clear_either() -> None:
    notes = ("cpu: 1 of 20 levels could still be 3 % worse; 5 more pairs would settle it.",)
    found = headline(builders.head_broken().model_copy(update={"verdict": "inconclusive", "notes": notes}))
    assert (found.tone, found.icon) == ("bad", "🟠")
    assert markdown(found.title) == (
        "Head fails with `unsafe` on and `passes=3`, where base works; "
        "elsewhere a slow-down could not be ruled out"
    )
    assert markdown(found.lead[-1]) == notes[0]
    assert "constraints" in markdown(found.action)


def test_the_example_of_a_failure_is_one_that_head_brought() -> None:
    broken = builders.head_broken()
    own = next(c for c in broken.configurations if c.state == "failed")
    both = own.model_copy(update={"failed_sides": ("base", "head"), "failure": "base and head: no input"})
    found = headline(broken.model_copy(update={"configurations": (both, *broken.configurations)}))
    assert not any("no input" in markdown(caveat) for caveat in found.caveats)


def test_a_head_that_never_works_is_said_to_fail_and_no_option_is_blamed() -> None:
    failed = [c for c in builders.head_broken().configurations if c.state == "failed"]
    spent = builders.SPENT.model_copy(update={"failed_trials": 6, "pairs": 0})
    found = headline(report(spent=spent, configurations=tuple(failed), verdict="inconclusive"))
    assert "head fails in every configuration that was tried, and base works" in markdown(found.title)
    assert "never works" not in markdown(found.caveats[0])


def test_a_default_configuration_that_moved_a_little_is_not_said_to_be_the_same() -> None:
    moved = changed(1.008, "same").model_copy(update={"interval": (1.002, 1.014)})
    assert lead(configurations=(moved,))[0].startswith("The default configuration hardly changed: +0.8 %")
    still = moved.model_copy(update={"interval": (0.998, 1.018)})
    assert lead(configurations=(still,))[0].startswith("The default configuration did not change: +0.8 %")


def test_one_failure_of_head_may_be_chance() -> None:
    broken = builders.head_broken()
    few = [c.model_copy(update={"failed_pairs": 1}) for c in broken.configurations if c.state == "failed"]
    kept = [c for c in broken.configurations if c.state != "failed"]
    found = headline(broken.model_copy(update={"configurations": (*kept, *few)}))
    assert markdown(found.title) == "No slow-down found where trials ended well"


def test_a_stopped_run_claims_no_clean_result() -> None:
    found = headline(report(interrupted="signal"))
    assert (found.tone, found.icon) == ("unclear", "🟡")
    assert "partial" in markdown(found.caveats[0])


def test_a_default_configuration_that_seems_slower_is_no_green_report() -> None:
    seems = changed(1.073, "unclear").model_copy(update={"interval": (1.029, 1.119)})
    found = headline(report(verdict="none", configurations=(seems,)))
    assert found.icon == "🟡"
    assert (
        markdown(found.title) == "Not clear: only the default configuration seems worse, which is not proven"
    )
    assert found.action is not None and "/suspects rerun 10m" in markdown(found.action)
    for interval in ((1.004, 1.14), (0.95, 1.2), (0.88, 0.97)):
        unsure = seems.model_copy(update={"interval": interval, "ratio": sum(interval) / 2})
        assert headline(report(verdict="none", configurations=(unsure,))).icon == "🟢"


def test_what_history_knows_of_the_named_change_stands_beside_it() -> None:
    again = (
        "History: the program was 8.0 % worse in cpu (a) since `v2`, until `v3` took that back;"
        " this pull request makes it worse there again."
    )
    assert lead(**blamed(effect("a", ratio=1.08)), notes=(again, "Something else."))[-1] == again


def test_a_further_slow_down_that_an_entry_covers_too_is_no_plain_green() -> None:
    top = "History: base is 9.1 % worse in cpu (a) already; what this pull request adds comes on top."
    one = effect("a", ratio=1.07, accepted=Acceptance(source="file", until="2027-03-31"))
    assert lead(verdict="none", suspects=Suspects(options=(one,)), notes=(top,))[-1] == top
    assert top not in lead(verdict="none", notes=(top,))


def test_whom_an_unclear_run_points_at_as_much_stands_beside_the_most_suspicious() -> None:
    doubtful = effect("a", ratio=1.9, sure=0.15, significant=False, aliases=(("b",), ("c",)))
    (said,) = [s for s in lead(**{**blamed(doubtful), "verdict": "inconclusive"}) if "Most suspicious" in s]
    assert "with `a`: **+90 %**" in said
    assert said.endswith("(cannot be told apart from `b` on or `c` on)")


def test_trials_that_miss_a_module_are_told_to_install_it() -> None:
    failure = "base and head: exit code 1: Error: Cannot find module 'chokidar'"
    found = builders.unmeasured()
    failing = tuple(c.model_copy(update={"failure": failure}) for c in found.configurations)
    told = headline(found.model_copy(update={"configurations": failing})).action
    assert told is not None and "have `build` install `chokidar`" in markdown(told)
