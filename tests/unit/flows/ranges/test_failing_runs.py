"""Runs of failures over revisions."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest

from bot.flows.ranges.failing_runs import FailingRun, failing_runs, in_words, without_broken, without_value
from bot.model.change_points import Observation, Probe
from bot.model.space import Option, Space

SPACE = Space(tuple(Option(name, "flag", (False, True), False) for name in ("a", "b", "c")), ())


def trial(text: str, revision: int, value: float = 1.0, *, built: bool = True) -> Observation:
    return Observation(Probe(tuple(c == "1" for c in text), revision), value, built)


def test_a_run_of_failures_is_named_by_what_fails_and_does_not_work_meanwhile() -> None:
    trials = [
        *(trial("100", r, math.nan if 5 <= r <= 7 else 1.0) for r in range(10)),
        *(trial("110", r, math.nan if r == 6 else 1.0) for r in (4, 6, 8)),
        *(trial("010", r) for r in range(10)),
    ]
    assert failing_runs(SPACE, trials) == (FailingRun(5, 7, ("a",), 4),)


def test_trials_that_fail_one_after_the_other_are_one_run_unless_one_works_between_them() -> None:
    around = [trial(text, r) for text in ("100", "110") for r in (0, 9)]
    failing = [trial("100", 4, math.nan), trial("110", 6, math.nan)]
    assert failing_runs(SPACE, [*around, *failing, trial("000", 5)]) == (FailingRun(4, 6, ("a",), 2),)
    apart = failing_runs(SPACE, [*around, *failing, trial("100", 5), trial("000", 4), trial("000", 6)])
    assert [(run.first, run.last) for run in apart] == [(4, 4), (6, 6)]


def test_options_that_fail_at_once_are_named_by_what_failed_alone() -> None:
    late = {"100": 3, "010": 5}
    trials = [
        trial(text, r, math.nan if r < late.get(text, 0) else 1.0)
        for text in ("000", "001", *late)
        for r in range(8)
    ]
    beside = [trial("110", r, math.nan if r < 5 else 1.0) for r in (2, 4, 6)]
    assert failing_runs(SPACE, [*trials, *beside]) == (
        FailingRun(0, 2, ("a",), 4),
        FailingRun(0, 4, ("b",), 7),
    )


def test_where_nothing_works_everything_fails() -> None:
    trials = [trial(text, r, math.nan if r == 3 else 1.0) for text in ("000", "111") for r in range(6)]
    assert failing_runs(SPACE, trials) == (FailingRun(3, 3, (), 2),)


def test_an_interaction_can_fail() -> None:
    failing = [trial("110", r, math.nan if r == 2 else 1.0) for r in range(4)]
    working = [trial(text, r) for text in ("100", "010", "101", "011") for r in range(4)]
    assert failing_runs(SPACE, [*failing, *working]) == (FailingRun(2, 2, ("a", "b"), 1),)


def test_what_neither_builds_nor_ever_works_is_no_run_of_failures() -> None:
    trials = [trial("100", r, math.nan) for r in range(4)]
    trials += [trial("010", r, math.nan, built=False) for r in range(2)]
    assert failing_runs(SPACE, [*trials, trial("010", 3)]) == ()


def test_failures_without_a_common_cause_are_not_explained() -> None:
    mixed = [trial("100", 2, math.nan), trial("100", 1), trial("100", 2), trial("100", 3)]
    assert [run.term for run in failing_runs(SPACE, mixed)] == [None]


def test_what_never_works_is_told_by_the_value_that_all_failures_have() -> None:
    failing = [trial(text, r, math.nan) for text in ("100", "110", "101") for r in (2, 7)]
    working = [trial(text, r) for text in ("000", "010", "001", "011") for r in (2, 7)]
    kept, (note,) = without_broken(SPACE, [*failing, *working], paired=False)
    assert kept == working
    assert note.startswith("Nothing works with `a`: all 6 trials failed, at every revision tried.")


def test_a_value_that_never_was_alone_in_its_failures_is_not_said_to_be_broken() -> None:
    space = Space(tuple(Option(name, "flag", (False, True), False) for name in "abcd"), ())
    failing = [trial(text, 2, math.nan) for text in ("1110", "1101", "1011")]
    working = [trial(text, 2) for text in ("0000", "0100", "0010", "0001")]
    _, (note,) = without_broken(space, [*failing, *working], paired=False)
    assert note.startswith("Nothing worked with `a` so far: all 3 trials failed, each beside other options")
    assert "Nothing works" not in note and "try it alone" in note
    _, (note,) = without_broken(space, [*failing, *working, trial("0110", 2)], paired=False)
    assert note.startswith("Nothing works with `a`: all 3 trials failed, at every revision tried.")


def test_nothing_is_said_of_an_option_that_began_to_work_or_where_nothing_works_at_all() -> None:
    texts = ("100", "110", "101")
    early, late = [trial(t, 2, math.nan) for t in texts], [trial(t, 7) for t in texts]
    assert without_broken(SPACE, [*early, *late, trial("000", 2)], paired=False)[1] == []
    assert without_broken(SPACE, early, paired=False) == (early, [])


def test_a_revision_that_is_not_built_says_nothing_of_options() -> None:
    unbuilt = [trial(t, 2, math.nan, built=False) for t in ("100", "110", "101")]
    assert without_broken(SPACE, [*unbuilt, trial("000", 3)], paired=False)[1] == []


def test_an_option_that_is_new_at_the_anchor_is_not_said_to_be_broken() -> None:
    failing = [trial(text, 2, math.nan) for text in ("100", "110", "101")]
    beside = [replace(o, anchor=0.3) for o in failing], [replace(o, anchor=0.0) for o in failing]
    assert without_broken(SPACE, [*beside[0], trial("000", 2)], paired=True)[1] == []
    assert len(without_broken(SPACE, [*beside[1], trial("000", 2)], paired=True)[1]) == 1


def test_what_fails_at_the_anchor_is_named() -> None:
    well = [replace(trial(text, r), anchor=0.3) for text in ("000", "010", "011", "100") for r in (2, 7)]
    bad = [replace(trial(text, 2, math.nan), anchor=0.0) for text in ("001", "111")]
    kept, (note,) = without_value(SPACE, [*well, *bad], "v9")
    assert kept == well
    assert note.startswith("2 configurations fail at v9, beside which all trials run: they have no value")
    assert "One is with `c` alone." in note  # it works beside `b`: something else must come along
    del well[4:6]
    (note,) = without_value(SPACE, [*well, *bad], "v9")[1]
    assert note.endswith(
        "Nothing works there with `c`: mend how it is run, or forbid it by a constraint, `not c`."
    )
    plain = replace(trial("000", 3, math.nan), anchor=0.0)
    (note,) = without_value(SPACE, [*well[2:], plain, *bad], "v9")[1]
    assert "One is the default." in note


def test_where_everything_fails_at_the_anchor_no_option_is_blamed_for_it() -> None:
    bad = [replace(trial(text, 2, math.nan), anchor=0.0) for text in ("100", "110")]
    (note,) = without_value(SPACE, bad, "v9")[1]
    assert note.endswith("they have no value at any revision. Nothing works there: mend how it is run.")


@pytest.mark.parametrize(
    ("value", "told", "constraint"),
    [("1", "`a` and `c`", "not (a and c)"), ("0", "`a` and `c` off", "not (a and !c)")],
)
def test_options_that_fail_together_at_the_anchor_are_named_with_the_constraint_that_forbids_it(
    value: str, told: str, constraint: str
) -> None:
    space = Space(tuple(Option(name, "flag", (False, True), False) for name in "abcde"))
    trials = [
        replace(trial(text, 2, math.nan if fails else 1.0), anchor=0.0 if fails else 0.3)
        for text in ("".join(bits) for bits in product("01", repeat=5))
        for fails in (text[0] == "1" and text[2] == value,)
    ]
    (note,) = without_value(space, trials, "v9")[1]
    assert note.endswith(
        f"Nothing works there with {told}: mend how it is run, or forbid it by a constraint, `{constraint}`."
    )


def test_revisions_that_nobody_tried_beside_a_run_of_failures_are_told() -> None:
    labels = [f"v{r}" for r in range(9)]
    run = FailingRun(3, 4, (), 5)
    assert in_words(run, labels, {2, 3, 4, 5}) == "from v3 to v4 in every configuration (all 5)"
    said = "in every configuration (all 5; nothing was tried between v0 and v3 or between v4 and v7)"
    assert in_words(run, labels, {0, 3, 4, 7, 8}).endswith(said)
    for term, told in ((("a",), "`a`"), (("!a", "b"), "`a` off and `b`")):
        assert in_words(replace(run, term=term), labels, {0, 3, 4, 7}) == f"from v3 to v4 with {told} (all 5)"
