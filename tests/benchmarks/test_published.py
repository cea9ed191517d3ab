from __future__ import annotations

import numpy as np

from benchmarks.change_points.published_scoring import association_score, exact_score
from benchmarks.change_points.published_systems import Cell, PublishedSystem
from bot.model.change_points import Probe


def test_two_findings_of_one_change_point_are_one_hit_and_one_false_alarm() -> None:
    found = exact_score([(100, ("a",))], [(97, ("a",)), (104, ("a",))])
    assert (found.precision, found.recall) == (0.5, 1.0)


def test_five_commits_away_is_found_and_six_is_not() -> None:
    assert exact_score([(100, ("a",))], [(105, ("a",))]).f1 == 1.0
    assert exact_score([(100, ("a",))], [(106, ("a",))]).f1 == 0.0


def test_as_many_as_possible_are_matched() -> None:
    assert exact_score([(100, ()), (104, ())], [(104, ()), (108, ())]).f1 == 1.0


def test_half_of_an_interaction_is_half_an_association_and_no_exact_hit() -> None:
    truth, found = [(100, ("a", "b"))], [(100, ("a",))]
    assert association_score(truth, found).recall == 0.5
    assert exact_score(truth, found).recall == 0.0
    assert association_score([(9, ())], [(9, ())]).f1 == 1.0


def test_every_true_step_happens_where_it_is_said_and_nothing_else_moves() -> None:
    system = PublishedSystem(Cell(200, 8, 5, 0.0, degree=0.5), np.random.default_rng(3))
    rng = np.random.default_rng(4)
    for row in rng.integers(0, 2, (60, 8)):
        configuration = tuple(bool(on) for on in row)
        seconds = [system.seconds(Probe(configuration, commit)) for commit in range(200)]
        on = {option.name for option, flag in zip(system.space.options, configuration, strict=True) if flag}
        moved = [commit for commit, term in system.truth if on.issuperset(term)]
        assert [c for c in range(1, 200) if abs(seconds[c] - seconds[c - 1]) > 1e-12] == moved
