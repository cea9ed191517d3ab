"""How probable trials are under scales that are learned from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.explanations.cells import Cells
from bot.analysis.explanations.learning import CALMER_FROM, learn, likelihood
from bot.analysis.explanations.scales import Scales
from tests.unit.analysis.explanations.test_evidence import ON, measured


@pytest.mark.parametrize("slab", [1.0, 1e3, 1e6, 1e8])
def test_steps_however_large_beside_the_noise_leave_trials_a_probability(slab: float) -> None:
    table = measured()
    steps = np.random.default_rng(1).normal(size=(len(table.value), 5)) + 1.0
    assert np.isfinite(likelihood(replace(Scales(), slab=slab), table, ON, steps, None))


def liveliness(revisions: int, *, of: float) -> float:
    """As it is learned of a program that wanders so much more than is usual, of which no step is known."""
    rng, cells = np.random.default_rng(7), Cells()
    moves = of * rng.normal(size=(CALMER_FROM, 1 + ON.shape[1])) * [0.006, 0.002, 0.002, 0.002]
    for c, row in enumerate(ON):
        for r, moved in enumerate(np.cumsum(moves[:revisions], axis=0) @ [1.0, *row]):
            cells.add((c, r), (1.0 + moved) * (1.0 + 0.001 * float(rng.standard_normal())))
    table = cells.table()
    nothing = np.zeros((len(table.value), 0))
    return learn(Scales(noise=0.001), table, ON, steps=nothing, sizes=np.zeros(0)).lively


def test_of_many_cells_a_little_more_liveliness_than_is_usual_is_taken_for_steps_to_be_found() -> None:
    few = CALMER_FROM // len(ON) - 1
    assert liveliness(few, of=3.2) > 1.0
    assert liveliness(few + 1, of=3.2) == 1.0


def test_a_program_that_is_far_livelier_than_is_usual_is_believed_to_be() -> None:
    assert liveliness(CALMER_FROM // len(ON), of=8.0) > 1.0


@pytest.mark.parametrize("noise", [0.3, 0.6, 1.2])
def test_trials_of_an_unsteady_program_are_believed_to_be_as_noisy_as_they_are(noise: float) -> None:
    rng, cells = np.random.default_rng(11), Cells(relative=True)
    for c in range(len(ON)):
        for r in range(12):
            for value in np.exp(noise * rng.standard_normal(3)):
                cells.add((c, r), float(value))
    table = cells.table()
    nothing = np.zeros((len(table.value), 0))
    found = learn(Scales(), table, ON, steps=nothing, sizes=np.zeros(0)).noise
    assert noise / 1.5 < found < 1.5 * noise
