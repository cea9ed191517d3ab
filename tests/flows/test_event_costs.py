"""What events cost is fitted once on a machine, kept in the history, and used on machines like it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from bot.analysis.resources.unit_costs import PRIOR
from bot.flows.machines.fingerprinting import valid_fingerprint
from bot.flows.machines.times import machine_times
from bot.flows.resources.event_costs import costs_known_or_taken, known_costs
from bot.model.machines import Machine
from bot.model.resources import Count
from tests.flows.fleets import TOOL, Fleet

Runs = Sequence[tuple[Mapping[Count, float], float]]
TRUTH: Mapping[Count, float] = {"instructions": 0.2e-9, "page_faults": 1500e-9}


def kernels(truth: Mapping[Count, float] = TRUTH) -> tuple[Runs, Sequence[str]]:
    """Kernels whose time is exactly what their events cost."""
    counts: list[dict[Count, float]] = [
        {"instructions": 1e8 * n, "page_faults": 2e4 * m} for n in (1, 2, 5) for m in (1, 3, 7)
    ]
    return [(c, sum(truth[name] * n for name, n in c.items())) for c in counts], ()


def test_costs_are_fitted_once_and_known_to_machines_like_it() -> None:
    fleet = Fleet()
    run = fleet.record(0)
    assert list(costs_known_or_taken(fleet.store, kernels, run)) == []
    found = known_costs(fleet.store, run.environment, run.started)
    assert found.seconds["page_faults"] == pytest.approx(1500e-9, rel=0.15)
    assert found.seconds["waits"] == pytest.approx(PRIOR["waits"])
    assert found.error is not None and found.error < 0.1 and found.fitted == run.started
    assert (
        costs_known_or_taken(fleet.store, lambda: pytest.fail("not again"), fleet.record(0, days=6.9)) == ()
    )
    other = fleet.record(1)
    assert known_costs(fleet.store, other.environment, other.started).error is None


def test_costs_of_last_week_are_fitted_again() -> None:
    fleet = Fleet()
    costs_known_or_taken(fleet.store, kernels, fleet.record(0))
    later = fleet.record(0, days=7.1)
    assert known_costs(fleet.store, later.environment, later.started).error is None
    costs_known_or_taken(fleet.store, lambda: kernels({**TRUTH, "page_faults": 900e-9}), later)
    newest = known_costs(fleet.store, later.environment, later.started)
    assert newest.seconds["page_faults"] == pytest.approx(900e-9, rel=0.15)


def test_kernels_that_do_not_predict_each_other_leave_the_typical_costs_and_say_so() -> None:
    fleet, run = Fleet(), Fleet().record(0)
    runs = [(counts, seconds * (9.0 if n % 2 else 1.0)) for n, (counts, seconds) in enumerate(kernels()[0])]
    (note,) = costs_known_or_taken(fleet.store, lambda: (runs, ()), run)
    assert "typical costs are used" in note
    assert known_costs(fleet.store, run.environment, run.started).seconds == PRIOR


def test_an_event_that_costs_nothing_is_kept_as_such() -> None:
    fleet, run = Fleet(), Fleet().record(0)
    costs_known_or_taken(fleet.store, lambda: kernels({**TRUTH, "instructions": 0.0}), run)
    found = known_costs(fleet.store, run.environment, run.started).seconds["instructions"]
    assert 0.0 <= found < PRIOR["instructions"] and math.isfinite(found)


def test_costs_are_no_fingerprint_of_a_machine() -> None:
    fleet = Fleet()
    run = fleet.record(0)
    fleet.fingerprint([0])
    costs_known_or_taken(fleet.store, kernels, run)
    assert machine_times(fleet.store, "any", "cpu").tool == TOOL
    known = valid_fingerprint(fleet.store, Machine.of(run.environment, TOOL), run.started)
    assert known is not None and "page_faults" not in known.rates
