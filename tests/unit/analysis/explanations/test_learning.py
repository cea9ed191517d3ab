"""How probable trials are under scales that are learned from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.analysis.explanations.learning import likelihood
from bot.analysis.explanations.scales import Scales
from tests.unit.analysis.explanations.test_evidence import ON, measured


@pytest.mark.parametrize("slab", [1.0, 1e3, 1e6, 1e8])
def test_steps_however_large_beside_the_noise_leave_trials_a_probability(slab: float) -> None:
    table = measured()
    steps = np.random.default_rng(1).normal(size=(len(table.value), 5)) + 1.0
    assert np.isfinite(likelihood(replace(Scales(), slab=slab), table, ON, steps, None))
