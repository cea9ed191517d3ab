"""What people accepted is marked and alarms no longer; whatever else is worse still does."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from bot.flows.history.accepting import Accepted, stale, with_accepted
from bot.flows.publishing.check_run import conditions
from bot.flows.publishing.disarm import disarm
from bot.model.accepted import AcceptedChange
from bot.model.report import Acceptance, Report, Suspects
from bot.model.space import Option, Space
from tests.unit.report.builders import changed, effect, improvement, regression, report

TODAY = date(2026, 11, 21)
SLOWER = effect("compress", ratio=1.1)
BIGGER = effect("compress", ratio=1.2, metric="max_rss")
FASTER = effect("mangle", ratio=0.9)


def entry(**changes: Any) -> AcceptedChange:
    """The acceptance of SLOWER."""
    usual = {"term": "compress", "metric": "cpu", "until": "2026-11-21", "reason": "worth it"}
    return AcceptedChange.model_validate(usual | changes)


def blamed(*effects: Any, verdict: str = "regression", **fields: Any) -> Report:
    return report(verdict=verdict, effects=effects, suspects=Suspects(options=effects), **fields)


def verdict(found: Report, *entries: AcceptedChange, labelled: bool = False) -> str:
    return with_accepted(found, Accepted(TODAY, entries, labelled)).verdict


def test_an_accepted_change_is_shown_as_such_and_alarms_no_longer() -> None:
    found = with_accepted(blamed(SLOWER), Accepted(TODAY, (entry(),)))
    by = Acceptance(source="file", until="2026-11-21", reason="worth it")
    assert [e.accepted for e in (*found.effects, *found.suspects.options)] == [by, by]
    assert found.verdict == "none" and not conditions(found)


@pytest.mark.parametrize(
    "other",
    [
        {"until": "2026-11-20"},
        {"term": "compress+mangle"},
        {"term": "everything"},
        {"metric": "wall"},
        {"at_most": "9%"},
    ],
)
def test_what_is_expired_or_about_something_else_accepts_nothing(other: dict[str, Any]) -> None:
    whole = blamed(SLOWER)
    assert with_accepted(whole, Accepted(TODAY, (entry(**other),))) == whole


def test_what_is_left_decides() -> None:
    assert verdict(blamed(SLOWER, BIGGER), entry()) == "regression"
    assert verdict(blamed(SLOWER, BIGGER), entry(), entry(metric="max_rss")) == "none"
    assert verdict(blamed(SLOWER, FASTER, verdict="mixed"), entry()) == "improvement"
    assert verdict(blamed(FASTER, verdict="improvement"), entry(term="mangle")) == "improvement"
    unproven = effect("mangle", ratio=1.1, significant=False)
    assert verdict(blamed(unproven, verdict="inconclusive"), entry(term="mangle")) == "inconclusive"


def test_more_is_worse_only_where_less_is_better() -> None:
    less = blamed(effect("compress", ratio=0.9, metric="rate"), higher_is_better=("rate",))
    more = blamed(effect("compress", ratio=1.1, metric="rate"), higher_is_better=("rate",))
    assert verdict(less, entry(metric="rate")) == "none"
    assert with_accepted(more, Accepted(TODAY, (entry(metric="rate"),))) == more


def test_what_no_named_change_explains_cannot_be_accepted_by_an_entry() -> None:
    notes = ("max_rss got worse beyond chance, but this sample does not single out an option.",)
    assert verdict(blamed(SLOWER, notes=notes), entry()) == "regression"
    moved = (changed(1.1, "slower", metric="wall"),)
    assert verdict(blamed(SLOWER, configurations=moved), entry()) == "regression"
    counted = (changed(1.1, "slower"), changed(1.1, "slower", metric="instructions"))
    assert verdict(blamed(SLOWER, configurations=counted), entry()) == "none"


@pytest.mark.parametrize(
    ("base", "limits", "accepted"),
    [
        (None, ["12%"], True),  # nothing is known of base: it may be this one
        (1.11, ["12%"], False),
        (1.11, ["12%", "11%"], True),  # the tighter one covers base, the other one this
        (1.11, ["12%", "9%"], False),
        (1.2, ["12%", "11%"], False),  # both together made base what it is
        (1.3, ["12%"], True),  # nobody accepted that
        (1.11, [None], True),
    ],
)
def test_what_was_accepted_and_is_in_base_by_now_accepts_no_further_change(
    base: float | None, limits: list[str | None], *, accepted: bool
) -> None:
    entries = [entry(at_most=limit) if limit else entry() for limit in limits]
    further = SLOWER.model_copy(update={"base_ratio": base})
    assert (verdict(blamed(further), *entries) == "none") == accepted


def test_the_label_accepts_all_that_is_worse() -> None:
    found = with_accepted(regression(), Accepted(TODAY, labelled=True))
    assert found.verdict == "none"
    named = [e.accepted for e in found.suspects.options]
    assert named == [
        Acceptance(source="label"),
        None,
        Acceptance(source="label"),
    ]  # the middle one is unproven
    assert verdict(report(verdict="regression"), labelled=True) == "none"
    assert verdict(improvement(), labelled=True) == "improvement"


def test_what_somebody_elses_run_calls_accepted_is_judged_anew() -> None:
    for whole in (blamed(SLOWER), blamed(SLOWER, FASTER, verdict="mixed")):
        claimed = with_accepted(whole, Accepted(TODAY, labelled=True))
        assert with_accepted(claimed, Accepted(TODAY)) == whole
        assert with_accepted(claimed, Accepted(TODAY, labelled=True)) == claimed
        shown = disarm(claimed, head_sha="a" * 40)
        assert shown.verdict == claimed.verdict
        assert with_accepted(shown, Accepted(TODAY)).verdict == whole.verdict


def test_an_entry_that_no_longer_counts_is_told_with_its_key_and_a_remedy() -> None:
    space = Space((Option("compress", "flag", (False, True), False),))
    entries = (entry(), entry(until="2026-11-20"), entry(term="compres"))
    assert stale(entries, space, TODAY) == [
        ".github/suspects.accepted.yml: accepted.1.until: `compress` was accepted until 2026-11-20: "
        "remove the entry, or name a later day.",
        ".github/suspects.accepted.yml: accepted.2.term: `compres` is no level of this program: "
        "correct or remove the entry.",
    ]
