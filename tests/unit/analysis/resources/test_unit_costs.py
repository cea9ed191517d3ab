"""Unit costs are fitted to timed kernels, and are the prior's where that fails."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from bot.analysis.resources.unit_costs import PRIOR, WORST_ERROR, calibrated
from bot.model.resources import SOURCE_OF, Count

Run = tuple[Mapping[Count, float], float]
MACHINE: Mapping[Count, float] = {
    "instructions": 0.06e-9,
    "branch_misses": 8e-9,
    "first_misses": 6e-9,
    "page_faults": 1500e-9,
    "filesystem_calls": 900e-9,
}


def kernels(machine: Mapping[Count, float], *, noise: float = 0.02) -> list[Run]:
    """Runs of which each has mostly events of one kind, timed with a relative error."""
    chance = np.random.default_rng(3)
    runs: list[Run] = []
    for main in machine:
        for more in (0.4, 1.0, 2.0):
            counts: dict[Count, float] = {"instructions": more * 1e8}
            counts[main] = counts.get(main, 0.0) + 0.03 / machine[main]
            seconds = sum(machine[count] * number for count, number in counts.items())
            runs.append((counts, seconds * float(chance.normal(1.0, noise))))
    return runs


def test_every_count_has_a_prior_cost() -> None:
    assert set(PRIOR) == set(SOURCE_OF)
    assert min(PRIOR.values()) > 0.0


def test_the_costs_of_a_machine_are_found() -> None:
    costs = calibrated(kernels(MACHINE))
    assert costs.error is not None
    assert costs.error < 0.1
    assert {count: costs.seconds[count] for count in MACHINE} == pytest.approx(dict(MACHINE), rel=0.15)


def test_what_no_kernel_causes_keeps_its_prior() -> None:
    costs = calibrated(kernels(MACHINE))
    assert {count for count in PRIOR if costs.seconds[count] == PRIOR[count]} >= set(PRIOR) - set(MACHINE)


def test_times_that_counts_do_not_explain_leave_the_prior() -> None:
    costs = calibrated(kernels(MACHINE, noise=2 * WORST_ERROR))
    assert costs.seconds == PRIOR
    assert costs.error is None


@pytest.mark.parametrize("runs", [[], [({"instructions": 1e9}, 0.1)], [({"instructions": 1e9}, 0.0)] * 20])
def test_too_few_runs_leave_the_prior(runs: list[Run]) -> None:
    assert calibrated(runs).seconds == PRIOR


def test_no_cost_is_negative() -> None:
    runs: list[Run] = [*kernels(MACHINE), ({"instructions": 1e8, "ipc_calls": 1e6}, 0.006)]
    assert min(calibrated(runs).seconds.values()) >= 0.0
