"""Trials at another pace are told apart from calls that fall into other clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.assertions.modelling import model
from bot.analysis.assertions.pace import evened, paces
from bot.model.assertions import CallObservation
from tests.unit.analysis.assertions.models import observations, path

LOGS = np.array([0.0, 0.3, -0.2, 0.1, -0.1])


def paced(trials: Sequence[CallObservation], logs: np.ndarray = LOGS) -> list[CallObservation]:
    return [
        replace(trial, durations={p: d * np.exp(log) for p, d in trial.durations.items()})
        for trial, log in zip(trials, logs, strict=True)
    ]


def test_the_pace_of_each_trial_is_found() -> None:
    seen = paced(observations({"m>a>f": (500, 0.1), "m>b>f": (500, 0.9)}, trials=5))
    assert paces(seen) == pytest.approx(LOGS, abs=0.02)
    assert paces(evened(seen)) == pytest.approx(np.zeros(5), abs=0.01)


def test_calls_that_fall_into_another_cluster_are_no_pace() -> None:
    mixes = (0.4, 0.45, 0.5, 0.6, 0.55)
    seen = [observations({"m>f": (2000, mix)}, trials=1, seed=i)[0] for i, mix in enumerate(mixes)]
    assert paces(seen) == pytest.approx(np.zeros(5), abs=0.05)


def test_clusters_that_are_nearer_than_trials_differ_are_told_apart() -> None:
    rng = np.random.default_rng(3)
    trials = [
        CallObservation(
            float(i),
            i + 0.5,
            {
                path(f"m>{name}>f"): at * rng.lognormal(0, 0.05, 500)
                for name, at in (("a", 1e-5), ("b", 1.35e-5))
            },
        )
        for i in range(5)
    ]
    for seen in (trials, paced(trials)):
        first, second = model("f", None, seen).groups
        assert first.vector == pytest.approx((1.0, 0.0), abs=0.02)
        assert second.vector == pytest.approx((0.0, 1.0), abs=0.02)


def test_values_of_a_coarse_clock_stay_as_they_are() -> None:
    rng = np.random.default_rng(4)
    trials = [
        CallObservation(
            float(i), i + 0.5, {path("m>f"): np.float64(1e-6) * rng.poisson(pace, 2000).astype(np.float64)}
        )
        for i, pace in enumerate((8, 10, 12))
    ]
    assert evened(trials) == trials
    assert model("f", None, trials).borders == ()


def test_few_calls_and_none_tell_nothing_of_a_pace() -> None:
    few = [CallObservation(0, 1, {path("m>f"): np.full(3, 1e-6)}), CallObservation(1, 2, {})]
    assert paces(few).tolist() == [0.0, 0.0]
    assert paces([]).tolist() == []
    broken = CallObservation(0, 1, {path("m>f"): np.array([np.nan, -1.0, np.inf] * 9)})
    assert paces([broken, broken]).tolist() == [0.0, 0.0]
