"""Seeds of tests that search: one in each run of the tests, all of them in a soak."""

from __future__ import annotations

import pytest


def seeds(count: int) -> list[object]:
    """Values of a parameter: so many seeds, of which a soak alone has all but the first."""
    return [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, count))]
