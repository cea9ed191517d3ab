"""What moves in a configuration that did not change is not blamed for a change elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.methods.blame import Compared, blame
from bot.analysis.methods.control import beyond_control, moved_anyway
from bot.model.profiles import Method
from tests.unit.analysis.methods.profiled import KINDS, Kind, Program

CALM = Program({"main": 0.2, "hot": 0.5, "warm": 0.3}, {"main": 1, "hot": 1000, "warm": 500})


def profiles(base: Program, head: Program, kind: Kind, *, seconds: tuple[float, float]) -> Compared:
    rng = np.random.default_rng(4)
    return Compared(
        [base.profile(kind, rng, 20_000) for _ in range(3)],
        [head.profile(kind, rng, 20_000) for _ in range(3)],
        seconds,
        (seconds[1] / seconds[0] * 0.995, seconds[1] / seconds[0] * 1.005),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_control_without_any_move_has_none(kind: Kind) -> None:
    assert moved_anyway(profiles(CALM, CALM, kind, seconds=(1.0, 1.0))) == {}


def test_moves_that_cancel_out_are_seen_in_the_control_and_not_blamed() -> None:
    shifted = CALM.changed("hot", seconds=-0.1).changed("warm", seconds=0.1)
    anyway = moved_anyway(profiles(CALM, shifted, "native", seconds=(1.0, 1.0)))
    names = {method.name: seconds for method, seconds in anyway.items()}
    assert names["warm"] == pytest.approx(0.1, abs=0.03)
    slower = shifted.changed("main", seconds=0.2)
    found = blame(profiles(CALM, slower, "native", seconds=(1.0, 1.2)))
    assert "warm" in {change.method.name for change in found.changes}
    left = beyond_control(found, 0.2, anyway)
    assert [change.method.name for change in left.changes] == ["main"]
    assert sum(c.share for c in left.changes) + (left.unexplained or 0.0) == pytest.approx(1.0)
    assert any("moved as much in an unflagged configuration" in note for note in left.notes)


def test_a_small_move_in_the_control_changes_nothing() -> None:
    found = blame(profiles(CALM, CALM.changed("main", seconds=0.2), "native", seconds=(1.0, 1.2)))
    (change,) = found.changes
    assert beyond_control(found, 0.2, {change.method: 0.05, Method("other"): 1.0}) == found


def test_an_unfinished_control_tells_nothing() -> None:
    asked = profiles(CALM, CALM, "native", seconds=(1.0, 1.0))
    assert moved_anyway(replace(asked, head=[replace(p, outcome="cut") for p in asked.head])) == {}
