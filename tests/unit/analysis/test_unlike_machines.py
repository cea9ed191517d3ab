"""Pairs of unlike machines: the program's own terms are told, and who is spared on all of them."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.unlike_machines import Machine, MachinesEstimator
from bot.model.report import Effect
from bot.model.space import Term
from tests.unit.analysis.worlds import CPU, flags, holds, never, sample

SPARED: Term = ("!a", "!b", "!c")
SPACE, ROUNDS, NOISE = flags(7), 6, 0.02


def test_what_machines_say_of_everything_leaves_out_who_is_spared() -> None:
    rng = np.random.default_rng(3)
    configurations = sample(SPACE, 48, rng)
    rows = [(c, kind) for kind in ("amd", "intel") for c in configurations]
    truth = np.where(holds(SPACE, SPARED, [c for c, _ in rows]), 0.06, -0.06)
    # The second kind gains half as much more.
    truth *= np.array([1.0 if kind == "amd" else 1.5 for _, kind in rows])
    machines = []
    for kind in ("amd", "intel"):
        own = np.array([i for i, (_, k) in enumerate(rows) if k == kind] * ROUNDS)
        noise = NOISE * rng.standard_normal(len(own))
        machines.append(Machine(kind, own, {"cpu": truth[own] + noise}))
    found = MachinesEstimator(
        space=SPACE,
        rows=rows,
        machines=machines,
        rules=CPU,
        false_alarms=0.01,
        equivalent=never,
        rng=rng,
        possible=lambda _: True,
    )
    for machine in machines:
        found.partial_fit_all(machine.rows, machine.log_ratios)
    told: dict[Term, Effect] = {effect.term: effect for effect in found.judge().options}
    assert told[()].spared == (SPARED,)
    changes = found.changes("cpu", (), list(told.values()))
    assert [change.change for change in changes] == pytest.approx([-0.06, -0.09], abs=0.006)
    seen = found.changes("cpu", SPARED, list(told.values()))
    assert [change.change for change in seen] == pytest.approx([0.06, 0.09], abs=0.012)
