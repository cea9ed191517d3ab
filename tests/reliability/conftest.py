"""Commands that also draw, from a process that has loaded what they draw with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.nursery import Nursery


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Starts and kills our commands."""
    one = Nursery()
    yield one
    one.close()
