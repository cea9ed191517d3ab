"""Nights of programs with few configurations, or of which few work."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from bot.flows.nights.search import NightSearch
from bot.flows.nights.window import Window
from bot.model.change_points import Observation, Probe
from bot.model.space import Configuration, Option, Space
from bot.sampling.constraints import ConstraintSolver

WINDOW = Window(31, reference=10, previous=20)


def search(*names: str, constraints: tuple[str, ...] = ()) -> NightSearch:
    space = Space(tuple(Option(name, "flag", (False, True), False) for name in names), constraints)
    return NightSearch(space, WINDOW, ConstraintSolver(space), rng=np.random.default_rng(1))


def trial(probe: Probe, rng: np.random.Generator, works: Configuration | None = None) -> Observation:
    """Of a program that is half as slow again since revision 25; works: its only such configuration."""
    seconds = float(rng.normal(1.5 if probe.revision >= 25 else 1.0, 0.01))
    return Observation(probe, seconds if works in (None, probe.configuration) else math.nan)


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("works", [(True, True), (False, False)])
def test_where_one_configuration_works_what_it_shows_is_found_and_little_else_is_tried(
    works: tuple[bool, ...], noise: float
) -> None:
    night, rng = search("a", "b", constraints=("a implies b",)), np.random.default_rng(2)
    failed = trials = 0
    while wishes := night.wishes():
        seen = [trial(probe, rng, works) for probe in wishes]
        night.partial_fit([o if noise else _exact(o) for o in seen])
        failed, trials = failed + sum(math.isnan(o.value) for o in seen), trials + len(seen)
    (point,) = night.change_points_
    assert (point.revision, point.term, round(point.ratio, 1)) == (25, (), 1.5)
    assert not night.unclear_ and not night.enough_ and failed < 20 and trials < 120


def _exact(observation: Observation) -> Observation:
    value = observation.value
    return Observation(observation.probe, value if math.isnan(value) else round(value, 1))


def nights(
    space: Space,
    end: int,
    rng: np.random.Generator,
    seconds: Callable[[Probe], float],
    *,
    most: int | None = None,
) -> Iterator[tuple[int, NightSearch]]:
    """Each tenth revision from 30 on is the tip of a night that remembers all before it.

    most: trials of a night; None: as many as it wishes.
    """
    past = list[list[Observation]]()
    tips = list(range(30, end, 10))
    for i, tip in enumerate(tips):
        window = Window(tip + 1, reference=tips[i - 2] if i > 1 else 0, previous=tips[i - 1] if i else 0)
        night = NightSearch(space, window, ConstraintSolver(space), rng=rng).remember(past)
        past.append([])
        while wishes := night.wishes()[: most and most - len(past[-1])]:
            seen = [Observation(p, seconds(p)) for p in wishes]
            night.partial_fit(seen)
            past[-1] += seen
        yield tip, night


FACTORS = {42: ("", 1.5), 64: ("a", 0.9), 78: ("a", 1.3)}


def test_what_became_slower_later_adds_no_option_to_what_moved_before() -> None:
    space = Space((Option("a", "flag", (False, True), False),))
    rng = np.random.default_rng(2)
    for tip, night in nights(space, 91, rng, lambda p: _level(p) * float(rng.normal(1.0, 0.01))):
        known = {(at, (name,) if name else ()) for at, (name, _) in FACTORS.items() if at <= tip}
        assert {(p.revision, p.term) for p in night.change_points_} == known
    for point in night.change_points_:
        assert point.ratio == pytest.approx(FACTORS[point.revision][1], abs=0.03)


def _level(probe: Probe) -> float:
    """Seconds of a program with one option, of which each change is a factor."""
    on = probe.configuration[0]
    moved = [f for at, (name, f) in FACTORS.items() if probe.revision >= at and (on or not name)]
    return (0.8 if on else 1.0) * math.prod(moved)


@pytest.mark.parametrize("seed", range(3))
def test_a_noisy_table_counts_once_however_many_nights_read_it(seed: int) -> None:
    """Few rows: what each night reads again is no further evidence, and steps show at further revisions."""
    space = Space(tuple(Option(name, "flag", (False, True), False) for name in "ab"))
    rng, record = np.random.default_rng(seed), dict[Probe, float]()

    def value(probe: Probe) -> float:
        slower = 1.3 if probe.revision >= 47 and probe.configuration[0] else 1.0
        return record.setdefault(probe, slower * float(rng.lognormal(0.0, 0.01)))

    for tip, night in nights(space, 81, rng, value):
        told = {(p.revision, p.term) for p in night.change_points_}
        if tip < 47:
            assert not told
        else:
            assert told == {(47, ("a",))} or (tip == 50 and not told and night.unclear_)
