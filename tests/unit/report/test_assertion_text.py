"""Assertions for a terminal."""

from __future__ import annotations

from bot.model.assertions import ALWAYS, AssertedGroup, Assertion, Condition
from bot.model.report_assertions import AssertionOutcome
from bot.report.assertion_text import entry_line, entry_table, explained, outcome_lines

EDGES = {"e1": ("acquire", "semop"), "e2": ("start", "run")}
SEMOP = Assertion(
    "semop",
    "sem.c",
    (0.7,),
    (
        AssertedGroup(Condition("e1 and not e2", EDGES), (0.419, 0.581), 1200),
        AssertedGroup(Condition("not e1 or e2", EDGES), (0.99, 0.01), 34),
    ),
    mined="abc1234",
    trials=7,
)


def test_a_table_has_behaviors_conditions_and_shares_below_the_times_of_this_machine() -> None:
    assert entry_table(SEMOP, (0.07,)) == (
        f"{SEMOP.id}  semop (sem.c), mined at abc1234 from 7 trials\n"
        "  e1: acquire > semop\n"
        "  e2: start > run\n"
        "  behavior  when           t < 70 ms  t >= 70 ms  calls\n"
        "  1         e1 and not e2     41.9 %      58.1 %  1,200\n"
        "  2         not e1 or e2      99.0 %       1.0 %     34\n"
    )


def test_without_times_clusters_are_numbered() -> None:
    assert "cluster 1  cluster 2" in entry_table(SEMOP)


def test_an_explanation_spells_the_calls_out() -> None:
    assert explained(SEMOP) == (
        f"{SEMOP.id}  semop (sem.c), mined at abc1234 from 7 trials\n"
        "  Reached over acquire > semop and not over start > run, its calls are 42 % fast, 58 % slow.\n"
        "  Reached not over acquire > semop or over start > run, its calls are fast (99 %).\n"
    )


def test_whatever_the_path_is_said_as_such() -> None:
    same = Assertion("f", None, (0.5,), (AssertedGroup(Condition(ALWAYS, {}), (0.5, 0.5), 2),))
    assert "However it is reached, its calls are 50 % fast, 50 % slow." in explained(same)
    assert entry_line(same) == f"{same.id}  f  1 group, 2 clusters, 2 calls"


def test_outcomes_are_told_the_violated_ones_first_with_their_reasons() -> None:
    outcomes = [
        AssertionOutcome(
            id=name, method=name, groups=(), borders_seconds=(), outcome=outcome, why=("because",)
        )
        for name, outcome in (("a", "held"), ("b", "undecided"), ("c", "violated"))
    ]
    assert outcome_lines(outcomes) == [
        "violated  c  c", "  because", "undecided  b  b", "  because", "held  a  a",
        "1 violated, 1 undecided, 1 held",
    ]  # fmt: skip
