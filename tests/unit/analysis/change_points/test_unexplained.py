"""What moved and no change point explains."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from bot.analysis.change_points.unexplained import creep, unexplained
from bot.model.change_points import ChangePoint, Observation, Probe
from bot.model.space import Configuration, Option, Space

SPACE = Space(tuple(Option(n, "flag", (False, True), False) for n in "abcd"))
CONFIGURATIONS: list[Configuration] = list(product((False, True), repeat=4))
TOLD = ChangePoint(20, (20, 20), ("a",), (), 1.1, (1.09, 1.11), 1.0)


def trials(moved: Callable[[Configuration, int], float], noise: float = 0.01) -> list[Observation]:
    """Every fourth revision of forty in all configurations; what moved, as a share."""
    rng = np.random.default_rng(1)
    return [
        Observation(
            Probe(c, r), (1.0 + 0.2 * c.count(True)) * (1.0 + moved(c, r)) * float(rng.lognormal(0.0, noise))
        )
        for c in CONFIGURATIONS
        for r in range(0, 40, 4)
    ]


def own(configuration: Configuration, revision: int) -> float:
    """Each configuration moves by itself at revision 18."""
    return (0.1 if CONFIGURATIONS.index(configuration) % 3 else -0.1) * (revision >= 18)


def test_configurations_that_move_by_themselves_are_counted_and_placed() -> None:
    left = unexplained(SPACE, trials(own), (), least=0.01)
    assert left is not None and (left.first, left.last) == (17, 20)
    assert left.moved == left.measured == 16 and left.size == pytest.approx(0.1, abs=0.01)
    assert left.slower == 10


def disturbed(configuration: Configuration, revision: int) -> float:
    return 0.5 if revision == 16 and configuration == CONFIGURATIONS[3] else 0.0


def test_noise_a_trial_that_was_disturbed_and_a_smaller_change_than_asked_for_are_nothing() -> None:
    assert unexplained(SPACE, trials(lambda c, r: 0.0), (), least=0.01) is None
    assert unexplained(SPACE, trials(disturbed), (), least=0.01) is None
    assert unexplained(SPACE, trials(own), (), least=0.2) is None
    assert unexplained(SPACE, [], (), least=0.01) is None


def test_what_a_told_change_moves_however_unevenly_is_explained_and_what_moves_beside_it_is_not() -> None:
    def uneven(configuration: Configuration, revision: int) -> float:
        return (0.15 if configuration[1] else 0.05) * bool(configuration[0] and revision >= 20)

    assert unexplained(SPACE, trials(uneven), (TOLD,), least=0.01) is None
    left = unexplained(SPACE, trials(own), (TOLD,), least=0.01)
    assert left is not None and left.moved == 8  # those without `a`
    again = unexplained(SPACE, trials(lambda c, r: uneven(c, r) + 0.1 * (r >= 32)), (TOLD,), least=0.01)
    assert again is not None and (again.first, again.last) == (29, 32) and again.moved >= 14


def test_trials_inside_the_interval_of_a_change_may_be_on_either_side_of_it() -> None:
    wide = ChangePoint(20, (13, 28), (), (), 1.1, (1.09, 1.11), 1.0)
    assert unexplained(SPACE, trials(lambda c, r: 0.1 * (r >= 16)), (wide,), least=0.01) is None


def test_without_noise_every_shift_of_that_size_counts() -> None:
    left = unexplained(SPACE, trials(own, noise=0.0), (), least=0.01)
    assert left is not None and left.moved == 16


def test_many_small_steps_are_seen_from_end_to_end_beside_what_is_told() -> None:
    crept = trials(lambda c, r: 0.0025 * r)
    left = creep(SPACE, crept, (), least=0.01)
    assert left is not None and (left.first, left.last, left.measured) == (0, 36, 16)
    assert left.size == pytest.approx(np.log(1.09), abs=0.01)
    told = ChangePoint(20, (20, 20), (), (), 1.09, (1.08, 1.1), 1.0)
    assert creep(SPACE, crept, (told,), least=0.01) is None


def test_ends_that_are_alike_or_hardly_measured_have_not_crept() -> None:
    assert creep(SPACE, trials(lambda c, r: 0.0), (), least=0.01) is None
    assert creep(SPACE, trials(lambda c, r: 0.0004 * r), (), least=0.01) is None
    one = [o for o in trials(lambda c, r: 0.0025 * r) if o.probe.configuration == CONFIGURATIONS[0]]
    assert creep(SPACE, one, (), least=0.01) is None
    assert creep(SPACE, (), (), least=0.01) is None


def test_what_crept_up_to_the_anchor_is_seen_by_configurations_that_begin_a_little_later() -> None:
    ratios = trials(lambda c, r: 0.0025 * r - 0.1)
    paired = [
        Observation(o.probe, o.value / (1.0 + 0.2 * o.probe.configuration.count(True)))
        for o in ratios
        if 4 * (o.probe.configuration not in CONFIGURATIONS[:2]) <= o.probe.revision < 36
    ]
    assert creep(SPACE, paired, (), least=0.01) is None  # two have trials at both ends
    left = creep(SPACE, paired, (), least=0.01, anchor=40)
    assert left is not None and (left.first, left.last, left.about) == (0, 40, True)
    assert left.measured == 16 and left.size == pytest.approx(0.1, abs=0.02)
