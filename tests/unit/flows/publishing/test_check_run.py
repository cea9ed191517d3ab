"""What a check run says: its conclusion, its title, its annotations."""

from __future__ import annotations

from typing import Any

import pytest

from bot.flows.publishing.check_run import LONGEST_TITLE, check_run, conclusion
from bot.model.report import Report, Spent, Visible, VisibleOption
from bot.model.report_methods import CodePlace
from bot.report.annotated import MOST_ANNOTATED, line_annotations
from tests.github.reports import report
from tests.unit.report.assertion_reports import held, semaphore

NOTHING: dict[str, Any] = {"verdict": "inconclusive", "spent": Spent()}
UNSEEN = Visible(options=(VisibleOption(option="compress", slow_down=None),), everything=0.03)
VIOLATED: dict[str, Any] = {"verdict": "none", "assertions": (semaphore(),)}


@pytest.mark.parametrize(
    ("changes", "fail_on", "expected"),
    [
        ({"verdict": "regression"}, (), "failure"),
        ({"verdict": "mixed"}, (), "failure"),
        ({"verdict": "improvement"}, (), "success"),
        ({"verdict": "none"}, (), "success"),
        ({"verdict": "none", "spent": Spent()}, (), "success"),  # equal trees
        ({"verdict": "none", "assertions": (held(),)}, (), "success"),
        ({"verdict": "inconclusive"}, (), "neutral"),
        ({"verdict": "none", "visible": UNSEEN}, (), "neutral"),
        (NOTHING, (), "action_required"),
        (VIOLATED, (), "failure"),
        ({"verdict": "regression"}, ("violation",), "neutral"),
        (VIOLATED, ("regression",), "neutral"),
        (VIOLATED, ("violation", "regression"), "failure"),
    ],
)
def test_the_conclusion_is_failure_neutral_or_success(
    changes: dict[str, Any], fail_on: tuple[str, ...], expected: str
) -> None:
    assert conclusion(report(**changes), fail_on=fail_on) == expected


@pytest.mark.parametrize("verdict", ["regression", "mixed", "improvement", "none", "inconclusive"])
def test_a_forks_check_is_neutral_and_has_a_name_that_no_rule_requires(verdict: str) -> None:
    check = check_run(report(verdict=verdict), markdown="", fork=True)
    assert (check.name, check.conclusion) == ("Suspects (fork)", "neutral")


def test_a_fork_that_measured_nothing_is_no_neutral_matter() -> None:
    assert conclusion(report(**NOTHING), fork=True) == "action_required"


def test_the_title_is_the_headline_and_not_endless() -> None:
    assert check_run(report(), markdown="").title.startswith("Slower with compress on")
    effect = report().effects[0].model_copy(update={"term": tuple(f"{n}-{'x' * 40}" for n in range(9))})
    suspects = report().suspects.model_copy(update={"options": (effect,)})
    title = check_run(report(suspects=suspects), markdown="").title
    assert (len(title), title[-1]) == (LONGEST_TITLE, "…")


def with_methods(**changes: Any) -> Report:
    method = report().suspects.methods[0].model_copy(update=changes)
    return report(suspects=report().suspects.model_copy(update={"methods": (method,)}))


def test_a_blamed_method_is_annotated_on_its_line() -> None:
    (one,) = line_annotations(with_methods(terms=(("compress", "level>=3"),)))
    assert (one.path, one.line, one.level) == ("pkg/module.py", 3, "warning")
    assert one.title == "pkg.Class.method is slower"
    assert one.message == (
        "Own time 1.0 s to 1.1 s per trial; share of the change: 90 % (80 to 100), with what it calls; "
        "driven by compress on and level at least 3."
    )


def test_a_method_outside_is_annotated_where_the_repository_leads_to_it() -> None:
    owner = CodePlace(method="pkg.load", file="pkg/load.py", line=7)
    (one,) = line_annotations(with_methods(file=None, line=None, owner=owner))
    assert (one.path, one.line, one.title) == ("pkg/load.py", 7, "pkg.Class.method is slower")


def test_a_method_that_only_calls_more_is_not_annotated_as_slower() -> None:
    (one,) = line_annotations(with_methods(change="calls"))
    assert (one.level, one.title) == ("warning", "pkg.Class.method makes more calls")


def test_a_faster_method_is_a_notice() -> None:
    (one,) = line_annotations(with_methods(change="faster"))
    assert (one.level, one.title) == ("notice", "pkg.Class.method is faster")


@pytest.mark.parametrize(
    "changes",
    [
        {"change": "vanished"},
        {"file": None},
        {"line": None},
        {"line": 0},
        {"line": -3},
        {"file": "/usr/lib/x.py"},
        {"file": "../x.py"},
        {"file": "a//b.py"},
        {"file": "a\\b.py"},
        {"file": "a\nb.py"},
        {"file": "a" * 400},
    ],
)
def test_what_has_no_line_at_head_is_not_annotated(changes: dict[str, Any]) -> None:
    assert line_annotations(with_methods(**changes)) == ()


def test_what_moved_in_the_control_too_is_not_annotated() -> None:
    one = with_methods()
    control = one.profiles[0].model_copy(update={"control": True})
    assert line_annotations(one.model_copy(update={"profiles": (control,)})) == ()


def test_a_method_is_annotated_once_and_not_without_end() -> None:
    method = report().suspects.methods[0]
    lines = [method.model_copy(update={"line": 1 + n % 300}) for n in range(900)]
    found = line_annotations(report(suspects=report().suspects.model_copy(update={"methods": tuple(lines)})))
    assert [one.line for one in found] == list(range(1, MOST_ANNOTATED + 1))
