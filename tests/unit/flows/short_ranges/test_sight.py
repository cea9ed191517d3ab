"""Once nothing is in doubt any more a search goes on until small changes would be found, too."""

from __future__ import annotations

import numpy as np
import pytest

from bot.flows.short_ranges.search import ShortRangeFinder
from bot.model.change_points import Observation, Probe
from bot.sampling.constraints import ConstraintSolver
from tests.seeds import seeds
from tests.unit.flows.change_points.test_search import Steps, System, flags, told

REVISIONS = 8
MOST = 600


def ended(system: System, sight: float | None, *, exact: bool = False) -> tuple[ShortRangeFinder, int]:
    """A search at its end, and its trials; exact: they have no noise."""
    finder = ShortRangeFinder(
        system.space,
        REVISIONS,
        ConstraintSolver(system.space),
        rng=np.random.default_rng(1),
        sight=sight,
    )
    asked: list[Probe] = []
    while (wishes := finder.wishes()) and len(asked) < MOST:
        finder.partial_fit([observed(system, p, exact=exact) for p in wishes])
        asked += wishes
    assert finder.settled_ and len(asked) < MOST
    if exact:
        assert len(asked) <= len(set(asked)) + 2  # by which it was seen that values repeat
    return finder, len(asked)


def observed(system: System, probe: Probe, *, exact: bool) -> Observation:
    return Observation(probe, 1.0 + sum(map(bool, probe.configuration))) if exact else system.observe(probe)


def worst(finder: ShortRangeFinder) -> float:
    return max(option.slow_down or 9.0 for option in finder.visible_.options)


def test_a_noisy_search_goes_on_while_more_trials_show_smaller_changes() -> None:
    (early, few), (late, many) = (ended(System(flags(3), {}, noise=0.05), sight) for sight in (None, 0.05))
    assert few < many and worst(late) < 0.08 < worst(early)
    assert not late.change_points_


def test_where_small_changes_would_be_found_no_more_trials_are_made() -> None:
    counts = [ended(System(flags(3), {}, noise=0.05), sight)[1] for sight in (None, 0.5)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("seed", seeds(3))
def test_a_change_that_shows_by_then_is_told(seed: int) -> None:
    steps: Steps = {(4, ("o1",)): 0.08}
    found, _ = ended(System(flags(3), steps, noise=0.03, seed=seed), 0.05)
    assert told(found.change_points_) == set(steps)


def test_counts_are_not_made_twice() -> None:
    finder, _ = ended(System(flags(3), {}), 0.01, exact=True)
    assert worst(finder) < 0.1
