"""Parameters of tests that search: one of them in each run of the tests, all of them in a soak."""

from __future__ import annotations

import pytest


def seeds(count: int) -> list[object]:
    """So many seeds, of which a soak alone has all but the first."""
    return one_of(*range(count))


def one_of(first: object, *others: object) -> list[object]:
    """Values of which a soak alone has all but the first."""
    return [first, *(pytest.param(other, marks=pytest.mark.soak) for other in others)]
