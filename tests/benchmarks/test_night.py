"""The simulated nights: the world does what its changes say, and what is told is scored rightly."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.night.play import ours, random_trials, score
from benchmarks.night.world import NIGHTS, World
from bot.model.change_points import ChangePoint, Probe


def world(seed: int = 4) -> World:
    return World(16, 0.01, np.random.default_rng(seed))


def holding(one: World, term: tuple[str, ...]) -> tuple[bool, ...]:
    """The configuration that holds a term and nothing else."""
    return tuple(name in term for name in one.names)


def test_a_change_moves_the_configurations_that_hold_its_term() -> None:
    one = world()
    assert one.changes
    for change in one.changes:
        held = holding(one, change.term)
        before, after = (
            np.mean([one.observe(Probe(held, r), 0).value for _ in range(200)])
            for r in (change.at - 1, change.at)
        )
        assert after - before == pytest.approx(change.seconds, abs=0.05)
        assert one.tips[change.night - 1] < change.at <= one.tips[change.night]


def test_the_other_machine_moves_everything_on_its_night() -> None:
    one = world()
    off = (False,) * 16
    old, new = (
        np.mean([one.observe(Probe(off, 0), night).value for _ in range(100)])
        for night in (one.moved - 1, one.moved)
    )
    assert abs(new / old - 1.0) > 0.03


def point(at: int, term: tuple[str, ...], interval: tuple[int, int] | None = None) -> ChangePoint:
    return ChangePoint(at, interval or (at, at), term, (), 1.1, (1.05, 1.15), 0.99)


def test_only_the_exact_term_in_an_interval_with_the_commit_counts() -> None:
    one = world()
    change = one.changes[0]
    told = [[], [point(change.at + 1, change.term, (change.at, change.at + 2)), point(3, ("o01",))], []]
    result = score(one, told)
    assert result["changes"][0]["told"] == 1 and result["changes"][0]["width"] == 3
    assert not result["changes"][0]["placed"] and len(result["false"]) == 1
    wrong = score(one, [[point(change.at + 1, change.term)], [point(change.at, (*change.term, "zz"))]])
    assert wrong["changes"][0]["told"] is None and len(wrong["false"]) == 2


@pytest.mark.parametrize("play", [ours, random_trials])
def test_ten_nights_are_played_within_their_trials(play: object) -> None:
    assert callable(play)
    result = play(world(), 60, np.random.default_rng(1))
    assert len(result["trials"]) == NIGHTS + 1 and max(result["trials"]) <= 60
    assert len(result["changes"]) == len(world().changes)
