"""What an ended run tells of itself."""

from __future__ import annotations

import os

import pytest

from bot.adapters.trials.child import idle_seconds, queued


@pytest.mark.parametrize(
    ("main", "idle", "expected"),
    [
        ((0.9, 0.3), 0.5, 0.3),  # one thread: it knows
        ((0.0, 0.0), 0.0, 1.0),  # others had the core all the time that the run had not
        ((0.0, 0.0), 1.0, 0.0),  # nobody had: it waited for something else
        ((0.0, 0.0), 0.4, 0.6),
        ((0.0, 0.2), 1.5, 0.2),
        ((0.0, 0.1), None, 0.1),  # the core's account is not known
    ],
)
def test_a_run_of_many_threads_queued_while_others_had_its_core(
    main: tuple[float, float], idle: float | None, expected: float
) -> None:
    assert queued(main, cpu=1.0, wall=2.0, idle=idle) == pytest.approx(expected)


def test_a_run_that_hardly_used_its_busy_core_did_not_want_it() -> None:
    assert queued((0.0, 0.0), cpu=0.01, wall=2.0, idle=0.0) == pytest.approx(0.04)


def test_one_core_tells_how_long_it_was_idle_and_several_do_not() -> None:
    core = min(os.sched_getaffinity(0))
    idle = idle_seconds([core])
    assert idle is not None and idle <= (idle_seconds([core]) or 0.0)
    assert idle_seconds([core, core + 1]) is None
