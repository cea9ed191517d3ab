"""One nursery for all tests of a process: loading takes longer than a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.reliability.kills import Nursery


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Starts and kills our commands."""
    one = Nursery()
    yield one
    one.close()
