"""Steps as change points: the words in which they are told."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.analysis.change_points.findings import opposite, told
from bot.model.space import Level, Option, Space
from tests.unit.analysis.change_points.test_simpler import AT, SPACE, Names, model

NUMBERS = Space(
    (
        Option("level", "number", (1, 2, 4), 1),
        Option("io", "choice", ("map", "read"), "map"),
        Option("mode", "choice", ("x", "y", "z"), "x"),
    )
)


def said(steps: Mapping[Names, float], space: Space = SPACE) -> dict[Names, float]:
    """Terms and ratios that are told of settled steps, which are the truth; a trial takes 2 s before them."""
    found = model(steps, steps, space=space, noise=1e-9)
    for step in found.steps:
        step.settled, step.confirmed = True, (step.term, AT)
    return {point.term: round(point.ratio, 3) for point in told(found, 10)}


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ({("a",): 0.4, ("a", "!b"): -0.1}, {("a",): 1.15, ("a", "b"): 1.05}),
        ({("a",): 0.4, ("a", "b"): -0.1}, {("a",): 1.15, ("!b", "a"): 1.05}),
        ({(): 0.4, ("!b",): -0.1}, {(): 1.15, ("b",): 1.05}),
        ({("a",): -0.4, ("a", "!b"): 0.1}, {("a",): 0.85, ("a", "b"): 0.95}),
    ],
)
def test_a_change_that_is_smaller_with_another_option_is_told_as_two_in_one_direction(
    steps: Mapping[Names, float], words: Mapping[Names, float]
) -> None:
    assert said(steps) == words


@pytest.mark.parametrize(
    "steps",
    [
        {("a",): 0.1, ("a", "b"): -0.4},  # what holds both became faster
        {("a",): 0.4, ("a", "mode=x"): -0.1},  # the rest is two values
        {("a",): 0.4, ("b",): -0.1},
    ],
)
def test_changes_that_cannot_be_told_in_one_direction_stay_as_they_are(steps: Mapping[Names, float]) -> None:
    assert said(steps).keys() == steps.keys()


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ({(): -0.4, ("level=1",): 0.1}, {(): 0.85, ("level>=2",): 0.95}),
        ({(): -0.4, ("level>=2",): 0.1}, {(): 0.85, ("level=1",): 0.95}),
        ({("mode=x",): 0.4, ("io=map", "mode=x"): -0.1}, {("mode=x",): 1.15, ("io=read", "mode=x"): 1.05}),
        ({(): 0.4, ("mode=x",): -0.1}, {(): 1.2, ("mode=x",): 0.95}),  # the rest is two values
    ],
)
def test_a_value_that_is_spared_is_told_by_the_level_that_holds_all_others(
    steps: Mapping[Names, float], words: Mapping[Names, float]
) -> None:
    assert said(steps, NUMBERS) == words


def test_a_text_and_a_threshold_of_another_option_are_no_opposites() -> None:
    assert not opposite(Level("io", "=", "map"), Level("level", ">=", 2), NUMBERS.levels)
    assert not opposite(Level("level", ">=", 2), Level("io", "=", "map"), NUMBERS.levels)
    assert opposite(Level("io", "=", "map"), Level("io", "=", "read"), NUMBERS.levels)
