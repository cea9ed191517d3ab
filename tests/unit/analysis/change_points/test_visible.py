"""What a finished search would have seen."""

import math

import numpy as np
import pytest

from bot.analysis.change_points.visible import LEAST, NEEDED, visible_steps
from bot.model.change_points import Observation, Probe
from bot.model.report import Visible
from bot.model.space import Configuration, Option, Space, Value

SPACE = Space(
    (
        Option("a", "flag", (False, True), default=False),
        Option("mode", "choice", ("x", "y", "z"), default="x"),
    )
)
REVISIONS = 100


def trials(*configuration: Value, every: int = 1, noise: float = 0.01, seed: int = 0) -> list[Observation]:
    """One trial at each revision (or each so many-th) of a configuration whose cost never moves."""
    rng = np.random.default_rng(seed)
    made: Configuration = tuple(configuration)
    return [Observation(Probe(made, r), math.exp(rng.normal(0.0, noise))) for r in range(0, REVISIONS, every)]


def seen(observations: list[Observation], revisions: int = REVISIONS) -> dict[str, float | None]:
    return {o.option: o.slow_down for o in visible_steps(SPACE, observations, revisions).options}


def test_the_least_visible_place_counts_and_more_trials_or_less_noise_show_more() -> None:
    few = seen(trials(True, "x", every=4))["a"]
    many = seen(trials(True, "x"))["a"]
    quiet = seen(trials(True, "x", noise=0.001))["a"]
    assert few is not None and many is not None and quiet is not None
    # Ten trials before and ninety after a step are worth 9.
    assert many == pytest.approx(math.expm1(NEEDED * 0.01 / 3.0), rel=0.3)
    assert few == pytest.approx(2.0 * many, rel=0.4)
    assert quiet == pytest.approx(many / 10, rel=0.3)


def test_an_option_is_as_visible_as_its_least_visible_value() -> None:
    often, seldom = trials(False, "x"), trials(False, "y", every=10) + trials(False, "z")
    assert seen(often + seldom)["mode"] == pytest.approx(seen(trials(False, "y", every=10))["mode"], rel=0.5)


def test_levels_that_no_configuration_had_are_named_and_promise_nothing() -> None:
    found = visible_steps(SPACE, trials(False, "x") + trials(False, "y")[:1], REVISIONS)
    assert found.levels_not_exercised == ("a", "mode=y", "mode=z")
    assert {o.option: o.slow_down is None for o in found.options} == {"a": True, "mode": False}
    assert found.everything is not None


def test_a_place_that_was_never_surrounded_hides_everything() -> None:
    late = [o for o in trials(True, "x") if o.probe.revision >= 50]
    assert seen(late)["a"] is None


def test_steps_are_not_taken_for_noise() -> None:
    moved = [
        Observation(o.probe, o.value * (2.0 if o.probe.revision >= 50 else 1.0)) for o in trials(True, "x")
    ]
    assert seen(moved) == pytest.approx(seen(trials(True, "x")), rel=0.05)


def test_without_noise_no_miracle_is_promised() -> None:
    assert seen(trials(True, "x", noise=0.0))["a"] == LEAST


@pytest.mark.parametrize("value", [math.nan, 0.0, -1.0, math.inf])
def test_failed_trials_say_nothing(value: float) -> None:
    failed = [Observation(Probe((True, "x"), r), value) for r in range(REVISIONS)]
    assert visible_steps(SPACE, failed, REVISIONS) == Visible()
    assert visible_steps(SPACE, trials(True, "x") + failed, REVISIONS) == visible_steps(
        SPACE, trials(True, "x"), REVISIONS
    )


@pytest.mark.parametrize("revisions", [0, 1, 2, 3, 5])
def test_the_shortest_ranges_are_no_accident(revisions: int) -> None:
    few = [o for o in trials(True, "x") if o.probe.revision < revisions]
    found = visible_steps(SPACE, few + few, revisions)
    assert bool(found.options) is (revisions >= 2)
