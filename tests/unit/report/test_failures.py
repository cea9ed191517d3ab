"""What is said of failures: with which values head fails, and how sure that is."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from bot.model.report import ConfigurationChange, Report
from bot.model.space import Value
from bot.report.headline import headline
from bot.report.media import markdown
from tests.unit.report import builders
from tests.unit.report.builders import changed, report

ALL = [dict(zip("abcde", values, strict=True)) for values in product((False, True), repeat=5)]


def two(options: Mapping[str, bool]) -> bool:
    return options["a"] and options["b"]


def four(options: Mapping[str, bool]) -> bool:
    return two(options) and options["c"] and options["d"]


def row(options: Mapping[str, Value], *failed: str) -> ConfigurationChange:
    """A configuration that works, or in which these sides failed."""
    if not failed:
        return changed(1.0, "same", metric="cpu", **options)
    sides = {"failed_pairs": 2, "failed_sides": failed, "failure": "no input"}
    return changed(None, "failed", metric="cpu", **options).model_copy(update=sides)


def failing(
    fails: Callable[[Mapping[str, bool]], bool], both: Sequence[dict[str, bool]] = (), *, twin: str = ""
) -> Report:
    """Head fails in some of 32 configurations, which have `new` then; base fails in further ones."""
    options = [one | ({"twin": one[twin]} if twin else {}) for one in ALL]
    rows = [row(one | {"new": fails(one) and fails is four}, *["head"] * fails(one)) for one in options]
    rows += [row(one | {"new": True}, "base", "head") for one in both]
    rows[0] = rows[0].model_copy(update={"default": True})
    spent = builders.SPENT.model_copy(update={"failed_trials": 8})
    return report(spent=spent, configurations=tuple(rows))


def title(found: Report) -> str:
    return markdown(headline(found).title).partition(", where base works")[0]


def test_that_all_configurations_with_a_pair_fail_and_no_other_is_said() -> None:
    found = headline(failing(two))
    assert title(failing(two)) == "Head fails with `a` and `b` on"
    told = "All 8 configurations that have both fail, and none of the 24 others where base works."
    assert markdown(found.lead[1]) == told
    assert "(head never works with `a` and `b` on)" in markdown(found.caveats[0])


def test_pairs_that_fit_the_failures_equally_are_told_with_or() -> None:
    found = failing(two, twin="b")
    assert title(found) == "Head fails with `a` and `b` on, or with `a` and `twin` on"
    assert markdown(headline(found).lead[1]) == (
        "All 8 configurations that have both fail, and none of the 24 others where base works; "
        "this run cannot tell which of these it is."
    )


def test_a_flag_that_fails_with_all_but_one_value_of_another_option_is_told_with_each() -> None:
    kinds = ("json", "text", "xml")
    rows = [
        row(one | {"kind": kind}, *["head"] * (one["a"] and kind != "json")) for one in ALL for kind in kinds
    ]
    rows[0] = rows[0].model_copy(update={"default": True})
    found = report(spent=builders.SPENT.model_copy(update={"failed_trials": 8}), configurations=tuple(rows))
    assert title(found) == "Head fails with `a` on and `kind=text`; or with `a` on and `kind=xml`"


def test_the_example_is_the_failed_configuration_that_is_most_like_the_default() -> None:
    found = failing(two)
    backwards = found.model_copy(update={"configurations": tuple(reversed(found.configurations))})
    assert ", for example `a` on, `b` on: no input." in markdown(headline(backwards).caveats[0])


def test_several_metrics_do_not_multiply_failures() -> None:
    found = failing(four)
    memory = [c.model_copy(update={"metric": "max_rss"}) for c in found.configurations]
    found = found.model_copy(update={"configurations": (*found.configurations, *memory)})
    assert title(found) == "Head fails in 2 configurations"
    assert "(" not in markdown(headline(found).caveats[0])


def test_where_base_fails_too_says_nothing_of_what_head_broke() -> None:
    assert title(failing(two, both=[one for one in ALL if not one["a"]])) == "Head fails with `a` and `b` on"


def test_values_with_which_base_fails_too_are_not_said_to_break_head_alone() -> None:
    found = failing(four, both=ALL[:4])
    assert title(found) == "Head fails in 2 configurations"
    assert "(nothing works with `new` on)" in markdown(headline(found).caveats[0])


def test_what_fails_for_a_closed_folder_comes_with_the_key_that_opens_it_though_others_work() -> None:
    closed = "base and head: exit code 1: Caused by: java.nio.file.AccessDeniedException: /tmp/x.db"
    failed = changed(None, "failed", compress=True).model_copy(update={"failure": closed, "failed_pairs": 2})
    spent = builders.SPENT.model_copy(update={"failed_trials": 4})
    found = report(configurations=(changed(1.0, "same"), failed), spent=spent)
    assert any("list `/tmp` under `program.writable`" in markdown(c) for c in headline(found).caveats)


def test_an_exit_code_without_a_word_on_both_sides_comes_with_the_key_that_allows_it() -> None:
    failed = changed(None, "failed", compress=True).model_copy(
        update={"failure": "base and head: exit code 1", "failed_pairs": 2}
    )
    spent = builders.SPENT.model_copy(update={"failed_trials": 4})
    found = report(configurations=(changed(1.0, "same"), failed), spent=spent)
    assert "(if all is well then, list 1 under `ok_exit`)" in markdown(headline(found).caveats[0])


def test_what_only_base_fails_with_is_not_said_to_work_nowhere() -> None:
    rows = [row(one, *["base"] * two(one)) for one in ALL]
    found = report(spent=builders.SPENT.model_copy(update={"failed_trials": 8}), configurations=tuple(rows))
    told = markdown(headline(found).caveats[0])
    assert "(base never works with `a` and `b` on, where head does)" in told


def test_what_works_at_neither_revision_comes_with_the_constraint_that_leaves_it_out() -> None:
    rows = [row(one, *["base", "head"] * (not one["a"] and not one["b"])) for one in ALL]
    spent = builders.SPENT.model_copy(update={"failed_trials": 32})
    caveats = [markdown(c) for c in headline(report(spent=spent, configurations=tuple(rows))).caveats]
    assert "(nothing works with `a` and `b` off)" in caveats[0]
    assert caveats[1] == ("If that is how the program is meant to be, leave it out: `constraints: [a or b]`.")
    assert not any("leave it out" in markdown(c) for c in headline(failing(two)).caveats)
