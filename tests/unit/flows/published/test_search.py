from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from bot.flows.published.search import PublishedSearch
from bot.model.change_points import ChangePoint, ChangePointSearch, Observation, Probe
from bot.model.space import Configuration, Option, Space, Term
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(name, "flag", (False, True), False) for name in "abcdefgh"))
REVISIONS = 300
Steps = dict[tuple[int, Term], float]


class Program:
    """Seconds of a program whose terms get slower at known revisions; counts what is asked of it."""

    def __init__(self, steps: Steps, *, space: Space = SPACE, noise: float = 0.0) -> None:
        self.steps = steps
        self.space = space
        self.noise = noise
        self.rng = np.random.default_rng(99)
        self.asked: list[Probe] = []

    def __call__(self, probe: Probe) -> Observation:
        self.asked.append(probe)
        seconds = 1.0
        for (revision, term), factor in self.steps.items():
            levels = [self.space.level_of[text] for text in term]
            if probe.revision >= revision and all(self.space.holds(lv, probe.configuration) for lv in levels):
                seconds *= factor
        return Observation(probe, seconds * (1 + self.noise * self.rng.standard_normal()))


def _search(
    space: Space = SPACE,
    *,
    revisions: int = REVISIONS,
    seed: int = 1,
    candidates: Sequence[Configuration] | None = None,
    measurements: int = 1000,
    most_measurements: int | None = None,
) -> PublishedSearch:
    return PublishedSearch(
        space,
        revisions,
        ConstraintSolver(space),
        rng=np.random.default_rng(seed),
        candidates=candidates,
        measurements=measurements,
        most_measurements=most_measurements,
        most_iterations=12,
    )


def _run(search: PublishedSearch, program: Callable[[Probe], Observation]) -> PublishedSearch:
    while wishes := search.wishes():
        search.partial_fit([program(probe) for probe in wishes])
    return search


def _terms(points: Sequence[ChangePoint]) -> list[Term]:
    return [point.term for point in points]


def test_it_is_a_change_point_search() -> None:
    search: ChangePointSearch = _search()
    assert search.change_points_ == ()


def test_a_clean_step_is_found_with_its_option_commit_and_ratio() -> None:
    search = _run(_search(), Program({(120, ("c",)): 1.3}))
    (point,) = search.change_points_
    assert point.term == ("c",)
    assert abs(point.revision - 120) <= 5
    assert point.interval[0] <= 120 <= point.interval[1]
    assert abs(point.ratio - 1.3) < 1e-9
    assert 0.5 < point.probability <= 1
    assert search.ending_ == "stable"


def test_an_interaction_is_one_change_point_of_both_options() -> None:
    search = _run(_search(), Program({(200, ("b", "g")): 1.4}))
    assert _terms(search.change_points_) == [("b", "g")]
    assert abs(search.change_points_[0].revision - 200) <= 5


def test_a_change_of_every_configuration_is_the_empty_term() -> None:
    search = _run(_search(), Program({(90, ()): 0.8}))
    assert _terms(search.change_points_) == [()]
    assert abs(search.change_points_[0].revision - 90) <= 5
    assert search.change_points_[0].ratio < 1


def test_several_change_points_come_in_order_of_revision() -> None:
    search = _run(_search(), Program({(230, ("f",)): 1.5, (60, ("a",)): 1.3}))
    assert _terms(search.change_points_) == [("a",), ("f",)]


def test_changes_next_to_the_ends_of_the_range_are_found() -> None:
    for revision in (1, REVISIONS - 1):
        search = _run(_search(), Program({(revision, ("d",)): 1.3}))
        assert _terms(search.change_points_) == [("d",)]
        assert abs(search.change_points_[0].revision - revision) <= 5


def test_a_constant_program_has_no_change_points_and_is_soon_left_alone() -> None:
    search = _run(_search(), Program({}))
    assert search.change_points_ == ()
    assert search.iterations_ == 3


def test_a_noisy_constant_program_has_no_change_points() -> None:
    search = _run(_search(), Program({}, noise=0.03))
    assert search.change_points_ == ()
    assert 0.06 < search.threshold_ < 0.12


def test_a_step_is_found_under_noise_that_is_learned() -> None:
    search = _run(_search(), Program({(150, ("e",)): 1.3}, noise=0.03))
    assert ("e",) in _terms(search.change_points_)
    (point,) = [p for p in search.change_points_ if p.term == ("e",) and abs(p.revision - 150) <= 5]
    assert abs(point.ratio - 1.3) < 0.05


def test_failed_trials_and_revisions_that_do_not_build_are_tolerated() -> None:
    program = Program({(120, ("c",)): 1.3})
    rng = np.random.default_rng(5)
    asked: list[int] = []

    def fails(probe: Probe) -> Observation:
        asked.append(probe.revision)
        if 40 <= probe.revision < 80:
            return Observation(probe, math.nan, built=False)
        return program(probe) if rng.random() > 0.1 else Observation(probe, math.nan)

    search = _search()
    search.partial_fit([fails(probe) for probe in search.wishes()])
    unbuilt = {revision for revision in asked if 40 <= revision < 80}
    asked.clear()
    search.partial_fit([fails(probe) for probe in search.wishes()])
    assert not unbuilt & set(asked)
    assert _terms(_run(search, fails).change_points_) == [("c",)]


def test_configurations_that_always_fail_neither_hide_a_change_nor_are_asked_again_and_again() -> None:
    program = Program({(120, ("c",)): 1.3})
    failing: list[Probe] = []

    def fails_with_a(probe: Probe) -> Observation:
        if probe.configuration[0]:
            failing.append(probe)
            return Observation(probe, math.nan)
        return program(probe)

    search = _run(_search(), fails_with_a)
    assert _terms(search.change_points_) == [("c",)]
    assert len(set(failing)) < 40 * len({probe.configuration for probe in failing})


def test_a_program_that_always_fails_ends_without_change_points() -> None:
    search = _run(_search(), lambda probe: Observation(probe, math.nan))
    assert search.change_points_ == ()


def test_nothing_is_measured_twice_but_the_repetitions_that_show_the_noise() -> None:
    program = Program({(120, ("c",)): 1.3})
    search = _search()
    search.partial_fit([program(probe) for probe in search.wishes()])
    first = len(program.asked)
    assert first - len(set(program.asked)) == 2 * len({p.configuration for p in program.asked})
    _run(search, program)
    assert len(set(program.asked)) == len(program.asked) - (first - len(set(program.asked[:first])))


def test_asking_twice_gives_the_same_wishes() -> None:
    search = _search()
    assert search.wishes() == search.wishes()
    search.partial_fit([Program({})(probe) for probe in search.wishes()])
    assert search.wishes() == search.wishes()


def test_the_same_seed_repeats_a_search() -> None:
    one, two = Program({(120, ("c",)): 1.3}), Program({(120, ("c",)): 1.3})
    assert _run(_search(), one).change_points_ == _run(_search(), two).change_points_
    assert one.asked == two.asked


def test_answers_may_come_one_by_one_and_history_in_between() -> None:
    program = Program({(120, ("c",)): 1.3})
    search = _search()
    wishes = search.wishes()
    history = [program(Probe((True,) * 8, revision)) for revision in (7, 77, 177)]
    for probe in wishes[:-1]:
        search.partial_fit([program(probe)])
    search.partial_fit(history)
    assert search.iterations_ == 0
    assert search.wishes() == (wishes[-1],)
    search.partial_fit([program(wishes[-1])])
    assert search.iterations_ == 1


def test_what_is_known_is_said_in_the_middle_of_an_iteration() -> None:
    program = Program({(120, ("c",)): 1.3})
    search = _search()
    search.partial_fit([program(probe) for probe in search.wishes()])
    search.partial_fit([program(probe) for probe in search.wishes()[:500]])
    assert search.iterations_ == 1
    assert ("c",) in _terms(search.change_points_)


def test_measurements_made_elsewhere_can_be_fitted() -> None:
    program = Program({(120, ("c",)): 1.3})
    rng = np.random.default_rng(3)
    every = list(itertools.product((False, True), repeat=8))
    probes = [
        Probe(every[i], int(revision))
        for i in rng.choice(len(every), 60, replace=False)
        for revision in rng.choice(REVISIONS, 30, replace=False)
    ]
    search = _search().fit([program(probe) for probe in probes])
    assert _terms(search.change_points_) == [("c",)]
    assert search.fit([]).change_points_ == ()


def test_the_limit_of_measurements_holds() -> None:
    program = Program({(120, ("c",)): 1.3})
    search = _run(_search(most_measurements=900), program)
    assert len(program.asked) == 900
    assert search.ending_ == "measurements"


def test_fewer_trials_than_configurations_still_teach() -> None:
    program = Program({(120, ("c",)): 1.3})
    search = _search(measurements=40)
    for _ in range(3):
        before = len(program.asked)
        search.partial_fit([program(probe) for probe in search.wishes()])
    assert 10 <= len(program.asked) - before <= 40


def test_constraints_hold_and_equivalent_terms_are_aliases() -> None:
    space = Space(SPACE.options, ("c iff d", "not (a and b)"))
    program = Program({(120, ("c",)): 1.3}, space=space)
    search = _run(_search(space), program)
    solver = ConstraintSolver(space)
    assert all(solver.valid(c) for c in {probe.configuration for probe in program.asked})
    (point,) = search.change_points_
    assert point.term == ("c",)
    assert ("d",) in point.aliases


def test_choices_are_blamed_by_value() -> None:
    space = Space((*SPACE.options[:5], Option("mode", "choice", ("x", "y", "z"), "x")))
    search = _run(_search(space), Program({(120, ("mode=y",)): 1.3}, space=space))
    assert _terms(search.change_points_) == [("mode=y",)]


def test_only_configurations_of_a_table_are_wished() -> None:
    rng = np.random.default_rng(8)
    table = [tuple(bool(b) for b in row) for row in rng.integers(0, 2, (50, 8))]
    program = Program({(120, ("c",)): 1.3})
    search = _run(_search(candidates=table, measurements=400), program)
    assert {probe.configuration for probe in program.asked} <= set(table)
    assert _terms(search.change_points_) == [("c",)]


def test_an_answer_by_a_neighbour_is_an_answer() -> None:
    rng = np.random.default_rng(8)
    table = [tuple(bool(b) for b in row) for row in rng.integers(0, 2, (50, 8))]
    program = Program({(120, ("c",)): 1.3})

    def nearest(probe: Probe) -> Observation:
        near = min(table, key=lambda c: sum(a != b for a, b in zip(c, probe.configuration, strict=True)))
        return program(Probe(near, probe.revision))

    search = _run(_search(measurements=400), nearest)
    assert search.iterations_ > 0
    assert ("c",) in _terms(search.change_points_)


def test_a_range_of_one_or_two_revisions_is_no_problem() -> None:
    assert _search(revisions=1).wishes() == ()
    search = _run(_search(revisions=2), Program({(1, ("c",)): 1.3}))
    assert _terms(search.change_points_) == [("c",)]
    assert search.change_points_[0].revision == 1


def test_a_small_range_is_measured_completely_and_ends() -> None:
    space = Space(SPACE.options[:2])
    program = Program({(5, ("a",)): 1.3}, space=space)
    search = _run(_search(space, revisions=10, measurements=30), program)
    assert search.ending_ in ("stable", "exhausted")
    assert _terms(search.change_points_) == [("a",)]
    assert len(set(program.asked)) <= 40
