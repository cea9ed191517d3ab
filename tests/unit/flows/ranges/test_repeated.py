"""What trials that a search repeated say of the noise of a range."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from bot.flows.ranges.repeated import repeated_noise, with_noise
from bot.model.change_points import Observation, Probe
from bot.model.noise import Noise
from bot.model.report import Environment


def trials(noise: float, *, times: int = 3, step: float = 1.0, odd: float = 1.0) -> list[Observation]:
    """Of three configurations at ten revisions, each as often; the first of each cell is odd by a factor."""
    rng, found = np.random.default_rng(5), []
    for configuration in range(3):
        for revision in range(10):
            level = (1.0 + configuration) * step**revision
            values = level * np.exp(rng.normal(0.0, noise, times)) * ([odd] + (times - 1) * [1.0])
            found += [Observation(Probe((configuration,), revision), float(v)) for v in values]
    return found


def spread_of(observations: Sequence[Observation]) -> float | None:
    return repeated_noise(observations, "cpu").sd_percent


def test_it_is_how_far_trials_of_one_configuration_at_one_revision_differ() -> None:
    assert spread_of(trials(0.3)) == pytest.approx(30.0, rel=0.3)
    assert repeated_noise(trials(0.3), "cpu").pairs == 60


def test_steps_between_revisions_are_no_noise() -> None:
    assert spread_of(trials(0.01, step=1.5)) == pytest.approx(1.0, rel=0.4)


def test_that_odd_trials_are_repeated_makes_no_program_look_unsteady() -> None:
    again = [o for o in trials(0.01, odd=1.3) if o.probe.revision == 4]
    others = [o for o in trials(0.01, times=1) if o.probe.revision != 4]
    assert spread_of([*again, *others]) == pytest.approx(1.0, rel=0.6)


def test_where_nothing_was_repeated_or_trials_failed_nothing_is_known() -> None:
    failed = [Observation(o.probe, math.nan) for o in trials(0.3)]
    for none in (trials(0.3, times=1), failed, []):
        assert repeated_noise(none, "wall") == Noise(
            metric="wall", pairs=0, sd_percent=None, bias_percent=None
        )


def test_what_a_bench_knows_of_its_noise_stays() -> None:
    known = Noise(metric="cpu", pairs=9, sd_percent=1.5, bias_percent=0.1)
    environment = Environment(cpu="fast", noise=(known,))
    assert with_noise(environment, trials(0.3), "cpu") == environment
    unknown = known.model_copy(update={"sd_percent": None, "bias_percent": None})
    found = with_noise(Environment(cpu="fast", noise=(unknown,)), trials(0.3), "cpu")
    assert found.cpu == "fast" and found.noise == (repeated_noise(trials(0.3), "cpu"),)
