"""What events cost on the machines of a history: fitted on each, used to explain changes there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias, cast

from bot.analysis.resources.unit_costs import PRIOR, UnitCosts, calibrated
from bot.flows.machines.fingerprinting import valid_fingerprint
from bot.flows.ports import Store
from bot.model.errors import HistoryError
from bot.model.history import RunRecord
from bot.model.machines import EVENT_KERNELS, FingerprintTable, Machine, Stressed
from bot.model.report import Environment
from bot.model.resources import Count

ERROR = "error"
"""Stands beside the events' rates: the fit's mean relative error."""
Kernels: TypeAlias = Callable[[], tuple[Sequence[tuple[Mapping[Count, float], float]], Sequence[str]]]
"""Runs kernels on this machine: counts and CPU seconds of each, and what a reader must know."""


def known_costs(store: Store, environment: Environment, now: datetime) -> UnitCosts:
    """Those fitted on a machine like this one; typical ones where there are none."""
    try:
        found = valid_fingerprint(store, Machine.of(environment, EVENT_KERNELS), now)
    except HistoryError:
        return UnitCosts(PRIOR)  # that history cannot be read is said where it is read for more
    if found is None:
        return UnitCosts(PRIOR)
    rates = {name: float(rate[0]) for name, rate in found.rates.items()}
    error = rates.pop(ERROR)
    fitted = {cast("Count", name): 1.0 / rate for name, rate in rates.items() if name in PRIOR}
    return UnitCosts({**PRIOR, **fitted}, error, found.taken)


def costs_known_or_taken(store: Store, kernels: Kernels, run: RunRecord) -> Sequence[str]:
    """Sees to it that history has costs for the machine of `run`; what a reader must know of it."""
    if known_costs(store, run.environment, run.started).error is not None:
        return ()
    runs, notes = kernels()
    costs = calibrated(runs)
    if costs.error is None:
        return (*notes, "What events cost on this machine could not be fitted: typical costs are used.")
    rates: dict[str, list[float]] = {ERROR: [costs.error]}
    for count, cost in costs.seconds.items():
        rates[count] = [1.0 / cost if cost > 0.0 else math.inf]
    table = FingerprintTable.of(Stressed(EVENT_KERNELS, rates), run)
    try:
        store.append_fingerprints(table)
    except HistoryError as error:
        return (*notes, f"What events cost on this machine is not remembered: {error}.")
    return tuple(notes)
