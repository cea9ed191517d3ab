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


def test_kinds_that_nearly_cancel_out_are_not_told_as_less_than_the_threshold() -> None:
    rng = np.random.default_rng(0)
    configurations = sample(flags(5), 24, rng)
    rows = [(c, kind) for kind in ("amd", "intel") for c in configurations]
    sizes = {"amd": 0.03, "intel": -0.0125}
    truth = np.array([sizes[kind] if c[0] else 0.0 for c, kind in rows])
    machines = []
    for kind, rounds in (("amd", 12), ("intel", 3)):
        own = np.array([i for i, (_, k) in enumerate(rows) if k == kind] * rounds)
        machines.append(Machine(kind, own, {"cpu": truth[own] + 0.012 * rng.standard_normal(len(own))}))
    found = MachinesEstimator(
        space=flags(5),
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
    judged = found.judge()
    (effect,) = judged.options
    assert effect.term == ("a",)
    assert effect.ratio == pytest.approx(1.03, abs=0.004), (
        "the mean of both would be +0.9 %, of a 1 % threshold"
    )
    assert any(note.endswith("; told is that of amd.") for note in judged.notes)
