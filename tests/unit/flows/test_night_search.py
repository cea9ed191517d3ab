"""What a night asks for, without measuring much."""

from __future__ import annotations

import numpy as np
import pytest

from bot.flows.night_log import NightLog
from bot.flows.night_search import NightSearch
from bot.flows.night_window import Window
from bot.model.change_points import Observation, Probe
from bot.model.space import Option, Space
from bot.sampling.constraints import ConstraintSolver

SPACE = Space(tuple(Option(n, "flag", (False, True), False) for n in "abcdef"))
SOLVER = ConstraintSolver(SPACE)
OFF, ON = (False,) * 6, (True,) * 6


def search(window: Window, **more: object) -> NightSearch:
    return NightSearch(SPACE, window, SOLVER, rng=np.random.default_rng(1), **more)  # type: ignore[arg-type]


def answered(night: NightSearch, rounds: int, seed: int = 2, noise: float = 0.01) -> list[list[Probe]]:
    """The next rounds of wishes, answered by a program that does not change."""
    rng = np.random.default_rng(seed)
    asked = []
    for _ in range(rounds):
        wishes = list(night.wishes())
        asked.append(wishes)
        night.partial_fit([Observation(p, float(rng.normal(1.0, noise))) for p in wishes])
    return asked


def test_a_night_begins_with_the_anchor_then_the_tip_then_the_reference() -> None:
    asked = answered(search(Window(30, reference=10, previous=20)), 4)
    assert [{p.revision for p in wishes} for wishes in asked] == [{0}, {29}, {10}, {10, 29}]
    assert {p.configuration for p in asked[0]} == {OFF, ON}


def test_asking_twice_gives_the_same_wishes() -> None:
    night = search(Window(30, reference=10, previous=20))
    assert night.wishes() == night.wishes()


def test_without_an_older_revision_only_the_anchor_is_measured() -> None:
    night = search(Window(1))
    asked = answered(night, 3)
    assert {p.revision for p in asked[0]} == {0} and asked[2] == []


def test_configurations_are_compared_at_both_ends_and_are_fresh() -> None:
    asked = answered(search(Window(30, reference=10, previous=20)), 5, noise=0.05)
    blocks = asked[3:]
    for block in blocks:
        tip = [p.configuration for p in block if p.revision == 29]
        assert tip == [p.configuration for p in block if p.revision == 10] and len(set(tip)) == 8
    first, second = ({p.configuration for p in block} for block in blocks)
    assert not first & second and not first & {OFF, ON}


def test_a_table_is_only_asked_for_what_it_has() -> None:
    known = [OFF, ON, (True, False) * 3, (False, True) * 3]
    asked = answered(search(Window(30, reference=10), candidates=known), 6)
    assert {p.configuration for wishes in asked for p in wishes} <= set(known)


def test_what_earlier_nights_measured_is_no_level_of_tonight() -> None:
    log = NightLog(SPACE, SPACE.levels)
    log.add_night([Observation(Probe(OFF, 0), 1.0), Observation(Probe(OFF, 9), 1.0)])
    log.add([Observation(Probe(OFF, 0), 1.5), Observation(Probe(OFF, 9), 1.5)])
    assert len(log.configurations) == 2 and list(log.means()) == [1.0, 1.5]


def test_earlier_nights_are_brought_to_tonights_seconds() -> None:
    night = search(Window(30, reference=10, previous=20))
    night.remember(
        [
            [Observation(Probe(OFF, 0), 1.0), Observation(Probe(ON, 9), 3.0)],
            [Observation(Probe(ON, 9), 3.0)],  # nothing at the anchor: left as it is
        ]
    )
    night.partial_fit([Observation(p, 1.5) for p in night.wishes()])
    levels = dict(zip(night.log_.configurations, night.log_.means(), strict=True))
    assert night.log_.configurations[2:] == [OFF, ON, ON] and levels[OFF] == pytest.approx(1.5)
    np.testing.assert_allclose(night.log_.means()[2:], [1.5, 4.5, 3.0])


def test_the_smallest_visible_change_shrinks_with_trials_and_is_infinite_before() -> None:
    night = search(Window(30, reference=10, previous=20))
    answered(night, 1)
    assert set(night.slow_downs().values()) == {float("inf")}
    answered(night, 2, seed=3)
    early = night.slow_downs()[("a",)]
    answered(night, 3, seed=4)
    assert 0.0 < night.slow_downs()[("a",)] < early < 1.0


def exactly(night: NightSearch, levels: dict[str, float], since: int = 6) -> list[Observation]:
    """All of a night's trials, answered without noise by a program of which a level costs more since then."""
    every: list[Observation] = []
    while wishes := night.wishes():
        chosen = [dict(zip("abcdef", p.configuration, strict=True)) | {"": True} for p in wishes]
        ratios = [
            np.prod([ratio for level, ratio in levels.items() if c[level]]) if p.revision >= since else 1.0
            for p, c in zip(wishes, chosen, strict=True)
        ]
        every += (new := [Observation(p, 0.3 * float(r)) for p, r in zip(wishes, ratios, strict=True)])
        night.partial_fit(new)
    return every


@pytest.mark.parametrize("levels", [{"": 1.1}, {"b": 2.0}, {"": 1.03, "c": 1.2}])
def test_without_noise_a_step_that_most_configurations_share_is_no_noise(levels: dict[str, float]) -> None:
    night = search(Window(11))
    exactly(night, levels)
    found = {"".join(point.term): point.ratio for point in night.change_points_ if point.revision == 6}
    assert found == pytest.approx(levels, rel=0.01)


def test_without_noise_a_night_without_a_step_ends_and_says_what_it_would_have_seen() -> None:
    night = search(Window(4))
    assert len(exactly(night, {})) < 50 and night.enough_
    assert max(night.slow_downs().values()) < 0.01


@pytest.mark.parametrize("seed", range(10))
def test_without_noise_an_amount_that_is_added_is_one_change_however_much_the_rest_costs(seed: int) -> None:
    space = Space(tuple(Option(n, "flag", (False, True), False) for n in "abcdefgh"))
    rng = np.random.default_rng(seed)
    costs, trials = rng.lognormal(-2.0, 1.0, 8), 0
    night = NightSearch(space, Window(11), ConstraintSolver(space), rng=rng)
    while wishes := night.wishes():
        trials += len(wishes)
        more = [0.3 * (p.revision >= 6 and bool(p.configuration[2])) for p in wishes]
        levels = [3.0 + float(costs @ np.array(p.configuration)) for p in wishes]
        night.partial_fit([Observation(p, a + b) for p, a, b in zip(wishes, levels, more, strict=True)])
    assert [(p.term, p.revision) for p in night.change_points_] == [(("c",), 6)] and trials < 100


def test_without_noise_steps_are_named_alike_whatever_earlier_nights_measured() -> None:
    earlier = exactly(search(Window(4)), {})
    night = search(Window(11, previous=3)).remember([earlier])
    exactly(night, {"b": 2.0})
    assert [(p.term, p.revision, round(p.ratio, 6)) for p in night.change_points_] == [(("b",), 6, 2.0)]
