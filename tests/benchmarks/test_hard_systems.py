from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.change_points.cases import CASES, NULLS, ROWS
from benchmarks.change_points.hard_spaces import hard_space
from benchmarks.change_points.hard_systems import HardSystem
from benchmarks.change_points.kinds import PublishedKind, SecondKind
from benchmarks.change_points.published_systems import Cell
from benchmarks.change_points.systems import HardCell
from benchmarks.change_points.truth import ExactTerms
from bot.model.change_points import Probe
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver

SEEDS = range(6)


def made(seed: int, **kind: bool) -> HardSystem:
    return HardSystem(16, 300, np.random.default_rng(seed), **kind)


def some(system: HardSystem, count: int = 40) -> list[Configuration]:
    """Valid configurations: the smallest of each step, and random ones."""
    rng = np.random.default_rng(1)
    near = [tuple(o.values[rng.integers(len(o.values))] for o in system.space.options) for _ in range(count)]
    found = [system.solver.complete(near=wanted) for wanted in near]
    return [*(system.terms.smallest(s.term) for s in system.steps), *(c for c in found if c is not None)]


def moves(system: HardSystem, configuration: Configuration) -> set[tuple[int, int]]:
    """First and last revision of every gap between measured revisions over which the clean time moves."""
    seen = [r for r in range(300) if system.built[r] and system.source[r] == r]
    clean = [(r, value) for r in seen if not math.isnan(value := system.clean(configuration, r))]
    return {(a + 1, b) for (a, x), (b, y) in pairwise(clean) if abs(y / x - 1) > 1e-9}


@pytest.mark.parametrize("count", [16, 32, 64])
def test_everything_on_and_one_option_alone_are_often_impossible(count: int) -> None:
    impossible = 0
    for seed in SEEDS:
        space = hard_space(count, np.random.default_rng(seed))
        solver = ConstraintSolver(space)
        assert len(space.options) == count
        assert {o.kind for o in space.options} == {"flag", "choice", "number"}
        assert not solver.dead_levels()
        full = tuple(o.values[-1] for o in space.options)
        alone = [
            tuple(o.values[-1] if o is on else o.values[0] for o in space.options) for on in space.options
        ]
        assert not solver.valid(full)
        impossible += sum(not solver.valid(c) for c in alone) >= count - 3
    assert impossible == len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_moves_but_the_steps_whose_term_holds(seed: int) -> None:
    system = made(seed)
    for configuration in some(system):
        assert system.solver.valid(configuration)
        said = [s for s in system.steps if system.holds(s.term, configuration)]
        for first, last in moves(system, configuration):
            assert any(first <= s.high and s.low <= last for s in said)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_step_moves_its_smallest_configuration_by_its_size(seed: int) -> None:
    system = made(seed)
    lone = [s for s in system.steps if all(o is s or o.low > s.high or s.low > o.high for o in system.steps)]
    assert lone
    for step in lone:
        smallest = system.terms.smallest(step.term)
        before, after = system.clean(smallest, step.low - 1), system.clean(smallest, step.high)
        if not math.isnan(before + after):
            assert after / before - 1 == pytest.approx(step.size)


@pytest.mark.parametrize("seed", SEEDS)
def test_terms_are_possible_in_their_shortest_form_and_their_steps_of_three_percent_or_more(
    seed: int,
) -> None:
    system = made(seed)
    assert len(system.steps) >= 3
    for step in system.steps:
        assert system.solver.possible(step.term)
        assert ExactTerms(system.space, ConstraintSolver(system.space)).canonical(step.term) == step.term
        assert system.built[step.high]
    alone = [s for s in system.steps if not s.passing and not s.cancelled]
    assert all(0.029 < abs(s.size) < 0.7 for s in alone)


def test_without_changes_only_drift_and_noise_are_left() -> None:
    system = made(3, changing=False)
    assert system.steps == ()
    for configuration in some(system, 5):
        seconds = [system.clean(configuration, r) for r in range(300)]
        known = [x for x in seconds if not math.isnan(x)]
        assert max(known) == min(known)
        noisy = [system.observe(Probe(configuration, r)).value for r in range(300)]
        assert np.nanstd(np.log(noisy)) > 0.005


def test_a_sixth_of_the_commits_does_not_build_and_carried_values_repeat() -> None:
    system = made(0)
    configuration = some(system)[0]
    observed = [system.observe(Probe(configuration, r)) for r in range(300)]
    assert 0.15 <= sum(not o.built for o in observed) / 300 < 0.25
    assert all(math.isnan(o.value) for o in observed if not o.built)
    stretch = [r for r in range(300) if system.built[r] and system.source[r] != r]
    assert stretch
    for r in stretch:
        source = observed[int(system.source[r])].value
        assert observed[r].value == source or math.isnan(source)
    alone = next(r for r in range(300) if system.built[r] and not system.carried[r])
    assert len({system.observe(Probe(configuration, alone)).value for _ in range(3)}) == 3


def test_a_run_of_failures_fails_what_holds_its_term_and_nothing_else() -> None:
    system = next(s for s in map(made, range(20)) if s.failures)
    (failure,) = system.failures
    for configuration in some(system):
        fails = [math.isnan(system.clean(configuration, r)) for r in range(300)]
        held = system.holds(failure.term, configuration)
        assert fails == [held and failure.first <= r < failure.end for r in range(300)]


def test_a_cancelled_step_shows_only_where_one_of_both_terms_holds() -> None:
    system = next(s for s in map(made, range(40)) if sum(x.cancelled for x in s.steps) == 2)
    one, other = (s for s in system.steps if s.cancelled)
    both = system.solver.complete(
        [system.space.level_of[t] for t in {*one.term, *other.term}], near=system.space.default
    )
    assert both is not None and one.low == other.low
    rest = {s.high for s in system.steps if s not in (one, other)}
    if one.high not in rest:
        assert system.clean(both, one.high) == pytest.approx(system.clean(both, one.low - 1), rel=0.05)
    assert system.terms.apart(one.term, other.term) and system.terms.apart(other.term, one.term)


def test_the_same_seed_gives_the_same_system_however_it_is_asked() -> None:
    one, other = made(5), made(5)
    assert one.space == other.space and one.steps == other.steps and one.failures == other.failures
    for configuration in reversed(some(one)):
        assert [one.clean(configuration, r) for r in (0, 150, 299)] == pytest.approx(
            [other.clean(configuration, r) for r in (0, 150, 299)], nan_ok=True
        )


def test_of_equal_terms_the_shortest_then_the_first_is_exact() -> None:
    flags = tuple(Option(name, "flag", (False, True), False) for name in "abcd")
    mode = Option("mode", "choice", ("x", "y", "z"), "x")
    size = Option("size", "number", (0, 1, 2, 3), 0)
    space = Space((*flags, mode, size), ("a xor b", "c implies d", "mode=y implies a"))
    terms = ExactTerms(space, ConstraintSolver(space))
    assert terms.canonical(("b",)) == ("!a",)
    assert terms.canonical(("c", "d")) == ("c",)
    assert terms.canonical(("a", "mode=y")) == ("mode=y",)
    assert terms.canonical(("!b", "c", "d")) == ("!b", "c")
    assert terms.canonical(("size<3", "size>=2")) == ("size=2",)
    assert terms.canonical(()) == ()
    assert not terms.apart(("mode=y",), ("a",)) and terms.apart(("a",), ("mode=y",))
    assert not terms.apart((), ("a",), ("b",))


def test_a_published_system_knows_the_steps_that_its_runs_show() -> None:
    system = PublishedKind(Cell(200, 8, 5, 0.0), np.random.default_rng(2))
    for step in system.steps:
        smallest = ExactTerms(system.space, system.solver).smallest(step.term)
        before, after = (system.observe(Probe(smallest, r)).value for r in (step.high - 1, step.high))
        assert after - before == pytest.approx(step.size * abs(before))
    assert PublishedKind(Cell(200, 8, 0, 0.0), np.random.default_rng(2)).steps == ()


def test_a_system_of_the_second_generator_has_steps_in_exact_terms_at_commits_that_build() -> None:
    system = SecondKind(HardCell(300, 16, 5), np.random.default_rng(4))
    assert len(system.steps) >= 5
    for step in system.steps:
        assert ExactTerms(system.space, ConstraintSolver(system.space)).canonical(step.term) == step.term
        assert system.observe(Probe(system.solver.default(), step.high)).built
        between = range(step.low, step.high)
        assert not any(system.observe(Probe(system.solver.default(), r)).built for r in between)


def test_every_row_of_the_table_has_cases_and_no_two_cases_share_a_name() -> None:
    assert {case.row for case in CASES} == {row.name for row in (*ROWS, *NULLS)}
    assert len({case.name for case in CASES}) == len(CASES)
