"""Options that old revisions do not know, or that fail together, cost a search of a long range few trials."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from bot.model.change_points import Observation, Probe
from tests.unit.flows.change_points.test_search import Steps, System, flags, search, told

TRIALS = 400
SINCE = {3: 90, 4: 210, 6: 150}
"""Options that are known from a revision on."""
STEPS: Steps = {
    (60, ("o0",)): 0.4,
    (120, ("o1",)): 0.3,
    (180, ("o2", "o5")): 0.5,
    (240, ("o3",)): 0.4,
    (260, ("o6",)): 0.3,
}


def young(probe: Probe) -> bool:
    return any(probe.configuration[option] and probe.revision < since for option, since in SINCE.items())


def together(probe: Probe) -> bool:
    return bool(probe.configuration[1] and probe.configuration[7])


@pytest.mark.parametrize(("noise", "least"), [(0.01, 4), (0.0, 5)])
@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("fails", [young, together, lambda probe: young(probe) or together(probe)])
def test_few_trials_fail_and_the_steps_are_found(
    fails: Callable[[Probe], bool], anchored: bool, noise: float, least: int
) -> None:
    system = System(flags(8), STEPS, noise=noise)
    lost: list[Probe] = []

    def answer(probe: Probe) -> Observation:
        if not fails(probe):
            return system.observe(probe)
        lost.append(probe)
        at_anchor = anchored and fails(Probe(probe.configuration, 299))
        return Observation(probe, math.nan, anchor=0.0 if at_anchor else 1.0)

    found = told(search(system, answer=answer, trials=TRIALS))
    assert len(lost) <= 0.12 * TRIALS
    assert len(found & STEPS.keys()) >= least and found <= STEPS.keys()
