from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.change_points.matching import count, pairings, tally
from benchmarks.change_points.truth import ExactTerms, TrueFailure, TrueStep
from bot.flows.ranges.failing_runs import FailingRun
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.space import Option, Space, Term
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(name, "flag", (False, True), False) for name in "abc"), ("a xor b",))
SOLVER = ConstraintSolver(SPACE)
TERMS = ExactTerms(SPACE, SOLVER)


@dataclass
class Known:
    steps: tuple[TrueStep, ...] = ()
    failures: tuple[TrueFailure, ...] = ()
    space: Space = SPACE
    solver: ConstraintSolver = SOLVER
    commits: int = 100

    def observe(self, probe: Probe) -> Observation:
        raise NotImplementedError


def point(revision: int, term: Term, *, ratio: float = 1.1) -> ChangePoint:
    return ChangePoint(revision, (revision, revision), term, (), ratio, (1.0, 1.2), 0.9, "step")


def told(system: Known, *found: ChangePoint) -> dict[str, Any]:
    return tally(system, found, TERMS)


def test_anywhere_between_the_last_and_the_next_measured_commit_is_exact() -> None:
    steps = [TrueStep(40, 44, ("c",), 0.2)]
    for revision, off in ((40, 0), (44, 0), (49, 5), (35, 5)):
        (found,) = pairings(steps, [point(revision, ("c",))], TERMS)
        assert found.off == off
    assert not pairings(steps, [point(50, ("c",))], TERMS)


def test_the_nearest_of_two_is_the_hit_and_the_other_is_false() -> None:
    run = told(Known((TrueStep(40, 40, ("c",), 0.2),)), point(43, ("c",)), point(41, ("c",)))
    assert [p["true"] for p in run["found"]] == [None, 0]
    assert run["steps"][0]["off"] == 1
    assert (count(run).hits, count(run).false, count(run).missed) == (1, 1, 0)


def test_an_equal_term_is_right_but_counted_as_not_in_its_shortest_form() -> None:
    run = told(Known((TrueStep(40, 40, ("!a",), 0.2),)), point(40, ("b",)))
    assert count(run).f1 == 1.0 and run["uncanonical"] == 1


def test_another_term_at_the_right_commit_is_false() -> None:
    run = told(Known((TrueStep(40, 40, ("c",), 0.2),)), point(40, ("!c",)))
    assert (count(run).hits, count(run).false, count(run).missed) == (0, 1, 1)


def test_a_small_true_step_is_neither_right_nor_wrong_among_large_ones() -> None:
    steps = (TrueStep(40, 40, ("c",), 0.05), TrueStep(60, 60, ("!c",), -0.3))
    run = told(Known(steps), point(40, ("c",)), point(80, ("c",)))
    large = count(run, least=0.1)
    assert (large.hits, large.false, large.missed) == (0, 1, 1)
    whole = count(run)
    assert (whole.hits, whole.false, whole.missed) == (1, 1, 1)


def test_episodes_that_passed_can_be_left_out() -> None:
    steps = (TrueStep(40, 40, ("c",), 0.5, passing=True), TrueStep(60, 60, ("!c",), 0.5))
    run = told(Known(steps), point(60, ("!c",)))
    assert count(run).recall == 0.5 and count(run, passing=False).recall == 1.0


def test_a_run_of_failures_is_named_by_its_term_where_it_is_and_a_made_up_one_is_false() -> None:
    system = Known(failures=(TrueFailure(20, 30, ("c",)), TrueFailure(60, 70, ("a",))))
    runs = [
        FailingRun(22, 27, ("c",), trials=3),
        FailingRun(80, 85, ("c",), trials=2),
        FailingRun(63, 64, ("a",), trials=1),  # a single one is not told
    ]
    run = tally(system, (), TERMS, runs)
    assert (run["failures"], run["failures_named"], run["failures_false"]) == (2, 1, 1)


def test_nothing_found_where_nothing_is_is_perfect_and_an_alarm_there_is_not() -> None:
    assert count(told(Known())).f1 == 1.0
    assert count(told(Known(), point(3, ()))).f1 == 0.0


def absent(size: float) -> Known:
    return Known((TrueStep(40, 40, ("!a",), -0.2, change=-1.0), TrueStep(40, 41, ("!c",), 0.2, change=size)))


def test_two_steps_told_in_words_that_mean_the_same_are_both_found() -> None:
    run = told(absent(1.0), point(40, ("a",)), point(42, ("c",), ratio=0.9))
    assert [s["off"] for s in run["steps"]] == [0, 1]
    assert run["reworded"] == 2
    assert count(run).f1 == 1.0


def test_words_that_mean_something_else_are_wrong() -> None:
    both = point(40, ("a",)), point(40, ("c",), ratio=0.9)
    upside_down = told(absent(1.0), point(40, ("a",), ratio=0.9), point(40, ("c",)))
    unequal = told(absent(0.7), *both)  # everything moves by the rest
    one_only = told(absent(1.0), both[0])
    far_away = told(absent(1.0), both[0], point(60, ("c",), ratio=0.9))
    for run in (upside_down, unequal, one_only, far_away):
        assert count(run).hits == 0


def test_more_terms_than_the_truth_has_are_not_the_same() -> None:
    system = Known((TrueStep(40, 40, ("a", "c"), 0.2, change=1.0),))
    run = told(system, point(40, ("a",)), point(40, ("!c", "a"), ratio=0.9))
    assert (count(run).hits, count(run).false) == (0, 2)


def test_a_step_that_is_found_by_itself_helps_to_read_the_others() -> None:
    steps = (*absent(0.7).steps, TrueStep(40, 40, (), 0.1, change=0.5))
    run = told(Known(steps), point(40, ("a",)), point(40, ("c",), ratio=0.9), point(40, ()))
    assert count(run).hits == 3
