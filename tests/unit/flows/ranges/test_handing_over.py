"""Ranges of middle length: halving while trials are nearly exact, explanations as soon as they are not."""

from __future__ import annotations

import pytest

from benchmarks.change_points.failing import World, searched
from benchmarks.change_points.middle import halving, ours
from bot.flows.ranges.chaining import Chained
from bot.flows.ranges.handing_over import HandingOver, fits
from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import ChangePointSearch, Seeing

REVISIONS, STEPS, TRIALS = 140, 4, 260
SHORTER = {"revisions": 124, "options": 4}
"""Explained as well, in half the time."""


def world(
    noise: float, seed: int, *, steps: int = STEPS, revisions: int = REVISIONS, options: int = 8
) -> World:
    return World(0, 0, 0, 0.0, noise, seed, revisions=revisions, options=options, steps=steps)


def test_noisy_trials_are_explained_and_show_steps_that_halving_misses() -> None:
    program = world(0.02, 0, **SHORTER)
    alone, together = (searched(program, find(program, 0, TRIALS), TRIALS) for find in (halving, ours))
    assert alone["found"] <= 2
    assert together["found"] == STEPS and together["wrong"] == 0


def test_exact_trials_are_halved_to_the_end() -> None:
    program = world(0.0, 3)
    search = ours(program, 3, TRIALS)
    assert searched(program, search, TRIALS)["found"] == STEPS
    assert isinstance(search, HandingOver) and not search.settled_
    assert not search.explaining.change_points_ and not search.doubts_
    assert all(option.slow_down is not None for option in search.visible_.options)


def test_a_noisy_range_without_steps_ends_early_and_says_what_it_would_have_seen() -> None:
    program = world(0.02, 4, steps=0, **SHORTER)
    search = ours(program, 4, TRIALS)
    assert searched(program, search, TRIALS) | {"trials": 0} == dict.fromkeys(
        ("trials", "failed", "found", "wrong"), 0
    )
    assert isinstance(search, Seeing) and search.settled_
    assert all(option.slow_down is not None for option in search.visible_.options)


@pytest.mark.parametrize(
    ("revisions", "kind"), [(120, ShortRangeFinder), (121, HandingOver), (400, HandingOver), (401, Chained)]
)
def test_the_length_of_a_range_chooses_its_search(revisions: int, kind: type[ChangePointSearch]) -> None:
    assert isinstance(ours(world(0.0, 5, revisions=revisions), 5, TRIALS), kind)


def test_many_options_make_the_longest_range_that_is_explained_shorter() -> None:
    assert fits(30, 400) and not fits(34, 400)
    assert fits(60, 110) and not fits(60, 120)
