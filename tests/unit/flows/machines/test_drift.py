"""Whether a machine moved: beyond its own noise, and in what it is."""

from __future__ import annotations

import numpy as np
import pytest

from bot.flows.machines.drift import anchored, differences, moved
from bot.model.change_points import Observation, Probe
from bot.model.report import Environment

A, B = (False,), (True,)


def trials(factor: float, rng: np.random.Generator, noise: float = 0.02) -> list[Observation]:
    values = [
        (c, s * factor * (1 + noise * rng.standard_normal()))
        for c, s in ((A, 1.0), (B, 3.0))
        for _ in range(4)
    ]
    return [Observation(Probe(c, 0), v) for c, v in values] + [Observation(Probe(A, 9), 50.0)]


@pytest.mark.parametrize("factor", [0.8, 1.15, 1.3])
def test_a_machine_that_moved_is_seen(factor: float) -> None:
    rng = np.random.default_rng(1)
    found = moved(anchored(trials(factor, rng)), anchored(trials(1.0, rng)))
    assert found is not None and found == pytest.approx(factor, rel=0.05)


def test_noise_is_no_move() -> None:
    rng = np.random.default_rng(2)
    said = [moved(anchored(trials(1.0, rng)), anchored(trials(1.0, rng))) is not None for _ in range(300)]
    assert sum(said) <= 3


def test_without_a_common_configuration_nothing_is_said() -> None:
    rng = np.random.default_rng(3)
    only = anchored([Observation(Probe((True, True), 0), 1.0)])
    assert moved(only, anchored(trials(2.0, rng))) is None
    assert moved({}, {}) is None


def test_machines_differ_by_what_is_known_of_both() -> None:
    then = Environment(cpu="A", cores=4, kernel="6.1", tools={"gcc": "12", "old": "1"})
    now = Environment(cpu="B", cores=4, image="ubuntu", tools={"gcc": "13", "new": "2"})
    assert differences(now, then) == ["processor B instead of A", "gcc 13 instead of 12"]
    assert differences(now, now) == []
