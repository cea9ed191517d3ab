"""Nights of programs with few configurations, or of which few work."""

from __future__ import annotations

import math

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
